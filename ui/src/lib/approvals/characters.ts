/**
 * Marks what a command could hide from the eye: invisible and direction-changing characters, control codes,
 * look-alike letters and long runs of blanks. Pure text in, pieces out; the view draws boxes around them.
 */

/** A part of a text as it is to be drawn. */
export type TextPart =
  | { kind: 'plain'; text: string }
  | { kind: 'hidden'; text: string; code: string; why: 'invisible' | 'direction' | 'control' }
  | { kind: 'lookalike'; text: string; code: string; letter: string }
  | { kind: 'blanks'; text: string; count: number }

/** So many blanks or empty lines in a row are shown as a number. */
const MANY_BLANKS = /([ \t]{12,}|\n{4,})/u

const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u
const CONTROL = /\p{Cc}/u
/** What takes room, or none, without a visible shape, besides the format characters: first and last of each range. */
const INVISIBLE: readonly (readonly [number, number])[] = [
  [0xa0, 0xa0],
  [0x34f, 0x34f],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x2000, 0x200b],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x2800, 0x2800],
  [0x3000, 0x3000],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0e],
  [0xffa0, 0xffa0],
  [0xe0100, 0xe01ef],
]

function isInvisible(character: string): boolean {
  const code = character.codePointAt(0) ?? 0
  return /\p{Cf}/u.test(character) || INVISIBLE.some(([first, last]) => code >= first && code <= last)
}

/** Letters of other scripts that look like a Latin one. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  а: 'a',
  е: 'e',
  о: 'o',
  р: 'p',
  с: 'c',
  у: 'y',
  х: 'x',
  і: 'i',
  ј: 'j',
  ѕ: 's',
  ӏ: 'l',
  Ӏ: 'I',
  һ: 'h',
  ԁ: 'd',
  ԛ: 'q',
  ԝ: 'w',
  ɡ: 'g',
  ı: 'i',
  А: 'A',
  В: 'B',
  Е: 'E',
  К: 'K',
  М: 'M',
  Н: 'H',
  О: 'O',
  Р: 'P',
  С: 'C',
  Т: 'T',
  Х: 'X',
  І: 'I',
  Ј: 'J',
  Ѕ: 'S',
  Ү: 'Y',
  ο: 'o',
  ν: 'v',
  α: 'a',
  ρ: 'p',
  ι: 'i',
  κ: 'k',
  υ: 'u',
  Α: 'A',
  Β: 'B',
  Ε: 'E',
  Ζ: 'Z',
  Η: 'H',
  Ι: 'I',
  Κ: 'K',
  Μ: 'M',
  Ν: 'N',
  Ο: 'O',
  Ρ: 'P',
  Τ: 'T',
  Υ: 'Y',
  Χ: 'X',
  '∕': '/',
  '⁄': '/',
  '‐': '-',
  '‑': '-',
  '‒': '-',
  '–': '-',
  '—': '-',
  '−': '-',
  '․': '.',
  '։': ':',
  '\u037e': ';',
  '；': ';',
  '｜': '|',
  '＆': '&',
  '＄': '$',
  '＞': '>',
  '＜': '<',
}

const codeOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

function special(character: string): TextPart | undefined {
  if (character === '\n' || character === '\t') return undefined
  const code = codeOf(character)
  if (DIRECTION.test(character)) return { kind: 'hidden', text: character, code, why: 'direction' }
  if (CONTROL.test(character)) return { kind: 'hidden', text: character, code, why: 'control' }
  if (isInvisible(character)) return { kind: 'hidden', text: character, code, why: 'invisible' }
  const fullWidth = /[\uff21-\uff3a\uff41-\uff5a]/u.test(character)
  const letter = fullWidth ? character.normalize('NFKC') : LOOKALIKES[character]
  return letter === undefined ? undefined : { kind: 'lookalike', text: character, code, letter }
}

/** Cuts a text into parts; joined again their `text` is exactly the input. */
export function markedParts(text: string): TextPart[] {
  const parts: TextPart[] = []
  let plain = ''
  const flush = (): void => {
    if (plain !== '') parts.push(...blanksApart(plain))
    plain = ''
  }
  for (const character of text) {
    const part = special(character)
    if (part === undefined) {
      plain += character
    } else {
      flush()
      parts.push(part)
    }
  }
  flush()
  return parts
}

function blanksApart(text: string): TextPart[] {
  // Splitting with a group alternates: what lies between, then the run of blanks.
  return text
    .split(MANY_BLANKS)
    .map((piece, index): TextPart =>
      index % 2 === 1 ? { kind: 'blanks', text: piece, count: piece.length } : { kind: 'plain', text: piece },
    )
    .filter((part) => part.text !== '')
}

/** How many characters of a text are marked. */
export function markedCounts(text: string): { hidden: number; lookalike: number } {
  const parts = markedParts(text)
  return {
    hidden: parts.filter((part) => part.kind === 'hidden').length,
    lookalike: parts.filter((part) => part.kind === 'lookalike').length,
  }
}
