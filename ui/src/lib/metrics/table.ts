/** Tables of figures: one description for the eye, for screen readers and for the exported file. */
import { count, duration } from '$lib/texts/words'

/** A value as it is exported, and as it is shown. */
export interface Cell {
  raw: string | number
  shown: string
}

export interface Column {
  label: string
  /** Figures stand at the end of their column. */
  numeric?: boolean
  /** Sentences may break into several lines. */
  words?: boolean
}

export interface Table {
  columns: readonly Column[]
  rows: readonly (readonly Cell[])[]
}

export const text = (value: string): Cell => ({ raw: value, shown: value })
export const number = (value: number): Cell => ({ raw: value, shown: count(value) })
export const shown = (raw: string | number, words: string): Cell => ({ raw, shown: words })

/** Milliseconds; exported in seconds. */
export const time = (millis: number): Cell => ({ raw: millis / 1_000, shown: duration(millis) })

/** A cell that a spreadsheet would take for a formula is text: the words come from models and files. */
function csvCell({ raw }: Cell): string {
  if (typeof raw === 'number') return String(raw)
  const safe = /^[=+\-@\t\r]/u.test(raw) ? `'${raw}` : raw
  return /[",\r\n]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** The table as comma-separated values with a line of titles. */
export const csvOf = ({ columns, rows }: Table): string =>
  [columns.map(({ label }) => csvCell(text(label))), ...rows.map((row) => row.map(csvCell))]
    .map((line) => `${line.join(',')}\r\n`)
    .join('')
