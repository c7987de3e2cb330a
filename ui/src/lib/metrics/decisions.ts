/** The log of decisions: which lines fit a filter, and the log as a table. */
import type { DecisionLine, SessionId } from '$lib/protocol'
import { className } from '$lib/texts/approvals'
import { byWords, decidedAt, decisions as words } from '$lib/texts/metrics'
import { shown, text, type Table } from './table'

const SENTENCES: ReadonlySet<string> = new Set([
  words.column.session,
  words.column.target,
  words.column.rule,
  words.column.reason,
])

export type AnswerFilter = keyof typeof words.answers

/** The lines whose call, rule or reason contains a text. */
export function fitting(lines: readonly DecisionLine[], answer: AnswerFilter, query: string): DecisionLine[] {
  const wanted = query.trim().toLowerCase()
  return lines.filter(
    (line) =>
      (answer === 'all' || line.allowed === (answer === 'allowed')) &&
      [line.tool, line.target, line.rule, line.reason ?? '', byWords(line.by)].some((part) =>
        part.toLowerCase().includes(wanted),
      ),
  )
}

export function decisionTable(
  lines: readonly DecisionLine[],
  titleOf: (session: SessionId) => string,
): Table {
  return {
    columns: Object.values(words.column).map((label) => ({ label, words: SENTENCES.has(label) })),
    rows: lines.map((line) => [
      shown(new Date(line.at).toISOString(), decidedAt(line.at)),
      text(titleOf(line.session)),
      text(line.tool),
      text(line.target),
      text(line.classes.map((risk) => className[risk]).join(', ')),
      text(line.allowed ? words.allowed : words.refused),
      text(byWords(line.by)),
      text(line.rule),
      text(line.edited ? words.edited : ''),
      text(line.reason ?? ''),
    ]),
  }
}
