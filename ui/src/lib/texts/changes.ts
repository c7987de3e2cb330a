/** Words about a change besides its diff: what can be left out of it, and what a diff does not show. */
import type { ChangeNote, Hunk, LineEnds } from '$lib/protocol'
import { counted } from './words'

const lineEnds: Record<LineEnds, string> = {
  lf: 'LF (Unix)',
  cr_lf: 'CRLF (Windows)',
  mixed: 'mixed',
}

/** One sentence for a note; a possible key is worth a warning. */
export function noteWords(note: ChangeNote): { text: string; warns: boolean } {
  switch (note.note) {
    case 'possible_key':
      return { text: keyLines(note.lines), warns: true }
    case 'line_ends':
      return { text: `Line ends change from ${lineEnds[note.from]} to ${lineEnds[note.to]}.`, warns: false }
    case 'encoding':
      return { text: `The encoding changes from ${note.from} to ${note.to}.`, warns: false }
    case 'last_line_end':
      return {
        text: note.ends ? 'The last line gets a line end.' : 'The last line loses its line end.',
        warns: false,
      }
  }
}

/** So many lines are named. */
const NAMED = 5

function keyLines(lines: readonly number[]): string {
  const named = lines.slice(0, NAMED).join(', ')
  const more = lines.length > NAMED ? ` and ${lines.length - NAMED} more` : ''
  return `Looks like a key: ${lines.length === 1 ? 'line' : 'lines'} ${named}${more}.`
}

export const hunks = {
  title: (place: number, of: number): string => `change ${place} of ${of}`,
  /** For those who do not see the lines below it. */
  spoken: (place: number, of: number, hunk: Hunk): string => {
    const count = (mark: 'added' | 'removed'): number =>
      hunk.lines.filter((line) => line.mark === mark).length
    return `Write change ${place} of ${of}, near line ${hunk.new_start}: ${counted(count('added'), 'line', 'lines')} added, ${count('removed')} removed`
  },
  off: 'left out',
  noneLeft: 'Nothing would be written. Reject the call instead.',
  told: 'The agent is told what you leave out.',
  moreLines: (lines: number): string => `${counted(lines, 'more line', 'more lines')}`,
  openLarge: 'Open large',
} as const
