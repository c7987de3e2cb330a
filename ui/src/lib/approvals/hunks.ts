/**
 * Parts of a change that the person may leave out. A choice belongs to one approval: a diff that is made again is another
 * approval and begins with all of it.
 */
import type { ApprovalRequest, FileChange, Hunk } from '$lib/protocol'

/** New files with more lines show only their beginning in a card. */
const LONG_FILE = 400
const BEGINNING = 80

/** The parts that can be switched off one by one; none where there is one alone, which is rejected as a whole. */
export function hunksOf({ body }: ApprovalRequest): readonly Hunk[] {
  if (body.body !== 'change' || body.change.kind.change !== 'edited') return []
  const hunks = body.change.diff?.hunks ?? []
  return hunks.length > 1 ? hunks : []
}

/** The places with one switched over, in order. */
export function toggled(leftOut: readonly number[], place: number): number[] {
  const rest = leftOut.filter((other) => other !== place)
  return rest.length < leftOut.length ? rest : [...rest, place].sort((one, other) => one - other)
}

/** Lines of a new file that a card shows; all when absent. */
export const shownLines = (change: FileChange): number | undefined =>
  change.kind.change === 'created' && change.added > LONG_FILE ? BEGINNING : undefined

/** A new text file that is too large for a diff is shown from the text that would be written. */
export function withText(change: FileChange, text: string | undefined): FileChange {
  if (change.diff !== undefined || change.kind.change !== 'created' || text === undefined) return change
  const lines = text.replace(/\n$/u, '').split('\n')
  const hunk: Hunk = {
    old_start: 0,
    new_start: 1,
    lines: lines.map((line) => ({ mark: 'added', text: line.replace(/\r$/u, '') })),
  }
  return { ...change, diff: { only_whitespace: false, hunks: [hunk] } }
}
