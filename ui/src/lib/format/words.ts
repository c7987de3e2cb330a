/** Word-level differences inside of a changed line. */
import { diffWordsWithSpace } from 'diff'
import type { DiffLine } from '$lib/protocol'

export interface DiffWord {
  text: string
  changed: boolean
}

/** A line of a diff as it is drawn. */
export interface DiffRow {
  mark: DiffLine['mark']
  oldLine: number | undefined
  newLine: number | undefined
  words: DiffWord[]
}

/** Longer lines are not compared word by word: it would cost more than it shows. */
const LONGEST = 2000

/** Rows of one hunk: removed and added lines that follow one another are paired, and their words compared. */
export function diffRows(lines: readonly DiffLine[], oldStart: number, newStart: number): DiffRow[] {
  const rows: DiffRow[] = []
  let oldLine = oldStart
  let newLine = newStart
  for (let at = 0; at < lines.length;) {
    const line = lines[at]
    if (line === undefined) break
    if (line.mark === 'same') {
      rows.push({ mark: 'same', oldLine: oldLine++, newLine: newLine++, words: plain(line.text) })
      at++
      continue
    }
    const removed = takeWhile(lines, at, 'removed')
    const added = takeWhile(lines, at + removed.length, 'added')
    const pairs = removed.map((text, place) => wordPair(text, added[place]))
    for (const pair of pairs)
      rows.push({ mark: 'removed', oldLine: oldLine++, newLine: undefined, words: pair.before })
    added.forEach((text, place) => {
      rows.push({
        mark: 'added',
        oldLine: undefined,
        newLine: newLine++,
        words: pairs[place]?.after ?? plain(text),
      })
    })
    at += removed.length + added.length
  }
  return rows
}

function takeWhile(lines: readonly DiffLine[], from: number, mark: DiffLine['mark']): string[] {
  const texts: string[] = []
  for (let at = from; lines[at]?.mark === mark; at++) texts.push(lines[at]?.text ?? '')
  return texts
}

function plain(text: string): DiffWord[] {
  return [{ text, changed: false }]
}

/** Both lines in words; plain when they have too little in common to be one changed line. */
function wordPair(
  before: string,
  after: string | undefined,
): { before: DiffWord[]; after: DiffWord[] | undefined } {
  if (after === undefined) return { before: plain(before), after: undefined }
  const unlike = { before: plain(before), after: plain(after) }
  if (before.length > LONGEST || after.length > LONGEST) return unlike
  const parts = diffWordsWithSpace(before, after)
  const common = parts
    .filter((part) => !part.added && !part.removed)
    .reduce((sum, part) => sum + part.value.trim().length, 0)
  if (common * 3 < Math.max(before.trim().length, after.trim().length)) return unlike
  return {
    before: parts.filter((part) => !part.added).map((part) => ({ text: part.value, changed: part.removed })),
    after: parts.filter((part) => !part.removed).map((part) => ({ text: part.value, changed: part.added })),
  }
}
