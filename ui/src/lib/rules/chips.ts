/**
 * Chips for the words of a command, and the rule that they make. One chip stands for one place in the line; the parts
 * of a line are laid on top of each other, so that a place may have several values.
 *
 * Pure: the dialog shows it, the core judges what comes out.
 */
import type { WordShape } from '$lib/protocol'
import { wordsOf } from './shell'

/** What may stand at one place. */
export type ChipKind = 'exact' | 'one_of' | 'any'

export interface Chip {
  /** The values seen at this place, first seen first; never empty. */
  readonly values: readonly string[]
  readonly kind: ChipKind
}

export interface Chips {
  readonly chips: readonly Chip[]
  /** The place from which any number of words may follow; absent when nothing may follow. */
  readonly rest: number | undefined
  /** Some parts are longer than what the chips show, so that further words must be allowed. */
  readonly mustRest: boolean
}

const kindOf = (values: readonly string[]): ChipKind => (values.length === 1 ? 'exact' : 'one_of')

/** The chips of a line, each as exact as the line is; nothing when a part has no plain words. */
export function chipsOf(parts: readonly string[]): Chips | undefined {
  const lines: string[][] = []
  for (const part of parts) {
    const words = wordsOf(part)
    if (words === undefined) return undefined
    lines.push(words)
  }
  if (lines.length === 0) return undefined
  const shortest = Math.min(...lines.map((words) => words.length))
  const mustRest = lines.some((words) => words.length > shortest)
  const chips = Array.from({ length: shortest }, (_, at): Chip => {
    const values = [...new Set(lines.map((words) => words[at] ?? ''))]
    return { values, kind: kindOf(values) }
  })
  return { chips, rest: mustRest ? shortest : undefined, mustRest }
}

/** The chips of a rule alone, where the line it was made of is not known. */
export function chipsOfShape(words: readonly WordShape[]): Chips {
  const rest = words.findIndex((word) => word.word === 'rest')
  const shown = rest === -1 ? words : words.slice(0, rest)
  return {
    chips: shown.map((word): Chip => {
      if (word.word === 'exact') return { values: [word.text], kind: 'exact' }
      if (word.word === 'one_of') return { values: word.texts, kind: 'one_of' }
      return { values: [], kind: 'any' }
    }),
    rest: rest === -1 ? undefined : rest,
    mustRest: rest !== -1,
  }
}

/** The chips set to what a rule says; nothing when the rule does not fit the line. */
export function chipsAs(chips: Chips, words: readonly WordShape[]): Chips | undefined {
  const found = words.findIndex((word) => word.word === 'rest')
  const rest = found === -1 ? undefined : found
  const fixed = rest ?? words.length
  const fits = words.slice(0, fixed).every((word, at) => {
    const values = chips.chips[at]?.values
    if (values === undefined) return false
    if (word.word === 'exact') return values.length === 1 && values[0] === word.text
    if (word.word === 'one_of') return values.every((value) => word.texts.includes(value))
    return word.word === 'any'
  })
  const complete = rest !== undefined || (fixed === chips.chips.length && !chips.mustRest)
  if (!fits || !complete) return undefined
  return {
    ...chips,
    rest,
    chips: chips.chips.map((chip, at) => {
      const word = words[at]
      if (word === undefined || word.word === 'rest' || at >= fixed)
        return { ...chip, kind: kindOf(chip.values) }
      return { ...chip, kind: word.word === 'any' ? 'any' : kindOf(chip.values) }
    }),
  }
}

export function withKind(chips: Chips, at: number, kind: ChipKind): Chips {
  return { ...chips, chips: chips.chips.map((chip, place) => (place === at ? { ...chip, kind } : chip)) }
}

/** Any number of words from a place on, or no further words. The first word always stands for itself. */
export function withRest(chips: Chips, rest: number | undefined): Chips {
  if (rest === undefined) return chips.mustRest ? chips : { ...chips, rest: undefined }
  return { ...chips, rest: Math.max(1, Math.min(rest, chips.chips.length)) }
}

/** The words of the rule that the chips make. */
export function shapeOf({ chips, rest }: Chips): WordShape[] {
  const words = chips.slice(0, rest ?? chips.length).map((chip): WordShape => {
    const first = chip.values[0]
    if (chip.kind === 'any' || first === undefined) return { word: 'any' }
    return chip.values.length === 1
      ? { word: 'exact', text: first }
      : { word: 'one_of', texts: [...chip.values] }
  })
  return rest === undefined ? words : [...words, { word: 'rest' }]
}
