/** Long outputs, cut to what a row shows. */

export interface CutOutput {
  head: string
  tail: string
  /** Lines between the two that are not shown. */
  hidden: number
}

const HEAD = 40
const TAIL = 80

/** The first 40 and the last 80 lines; all of it when that would hide less than 10 lines. */
export function cutOutput(text: string): CutOutput {
  const lines = text.replace(/\n+$/, '').split('\n')
  const hidden = lines.length - HEAD - TAIL
  if (hidden < 10) return { head: lines.join('\n'), tail: '', hidden: 0 }
  return { head: lines.slice(0, HEAD).join('\n'), tail: lines.slice(-TAIL).join('\n'), hidden }
}

/** The last lines of a text, without an empty one at the end. */
export function lastLines(text: string, count: number): string {
  return text.replace(/\n+$/, '').split('\n').slice(-count).join('\n')
}

/** The first lines of a text and how many follow. */
export function firstLines(text: string, count: number): { text: string; more: number } {
  const lines = text.replace(/\n+$/, '').split('\n')
  return { text: lines.slice(0, count).join('\n'), more: Math.max(0, lines.length - count) }
}
