/**
 * Raw data as lines that can be read. Formatting moves white space only: numbers, double keys and broken ends stay
 * exactly as they came. Pure.
 */

/** Characters that cannot be seen or that turn the direction of the text: written out instead. */
const UNSEEN =
  // eslint-disable-next-line no-control-regex -- exactly these are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

export const visible = (text: string): string =>
  text.replace(UNSEEN, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** A longer line is shown in pieces: one element of a megabyte would hold up the page. */
const LONGEST = 2_000

/** The lines of a text as they are shown. */
export function shownLines(text: string): string[] {
  const lines: string[] = []
  for (const line of text.replace(/\r\n/g, '\n').split('\n')) {
    const seen = visible(line)
    for (let at = 0; at === 0 || at < seen.length; at += LONGEST) lines.push(seen.slice(at, at + LONGEST))
  }
  return lines
}

/** JSON with line breaks; of a stream of events each one by itself; anything else as it is. */
export function pretty(text: string): string {
  const start = text.trimStart()
  if (start.startsWith('{') || start.startsWith('[')) return indented(start)
  if (!/^(?:data|event|id|:)/m.test(start)) return text
  return text
    .split('\n')
    .map((line) => {
      const [, name = '', body = ''] = /^(data: ?)([[{].*)$/s.exec(line) ?? []
      return name === '' ? line : `${name}${indented(body)}`
    })
    .join('\n')
}

/** The same letters in the same order; only white space between them is made anew. */
function indented(json: string): string {
  const parts: string[] = []
  let depth = 0
  const breakLine = (): void => void parts.push('\n', '  '.repeat(Math.max(0, Math.min(depth, 40))))
  const tokens = json.matchAll(/"(?:[^"\\]|\\.)*(?:"|\\?$)|[{}[\],:]|[^\s{}[\],:"]+/gs)
  let before = ''
  for (const [token] of tokens) {
    const opens = before === '{' || before === '['
    if (token === '}' || token === ']') {
      depth--
      if (!opens) breakLine()
    } else if (opens || before === ',') breakLine()
    parts.push(token)
    if (token === ':') parts.push(' ')
    if (token === '{' || token === '[') depth++
    // Several values one after another, each on its own line.
    if (depth === 0 && (token === '}' || token === ']')) parts.push('\n')
    before = depth === 0 && (token === '}' || token === ']') ? '' : token
  }
  // A token is never blank, so a blank end is made here; blanks inside a string that was cut off stay.
  if (parts.at(-1)?.trim() === '') parts.pop()
  return parts.join('')
}

/** A place in the lines at which something was found. */
export interface Found {
  line: number
  from: number
  to: number
}

/** At most so many places are found; more would not be gone through by hand. */
export const MOST_FOUND = 2_000

/** Every place of a text in the lines, small and capital letters alike. */
export function findIn(lines: readonly string[], wanted: string): Found[] {
  const found: Found[] = []
  const needle = wanted.toLowerCase()
  if (needle === '') return found
  for (let line = 0; line < lines.length && found.length < MOST_FOUND; line++) {
    const text = (lines[line] ?? '').toLowerCase()
    for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) {
      found.push({ line, from: at, to: at + needle.length })
    }
  }
  return found
}
