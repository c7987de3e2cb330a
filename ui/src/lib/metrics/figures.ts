/**
 * From the figures of the core to what is drawn and written: bars, findings in a sentence, tables. Pure; nothing
 * here asks or draws.
 */
import type { DayUsage, Metrics, SourceUsage, ToolMetrics, Usage } from '$lib/protocol'
import { money } from '$lib/format/money'
import {
  cost as words,
  decided,
  iterations,
  longDay,
  percent,
  shortDay,
  sources,
  spent,
  tools,
} from '$lib/texts/metrics'
import { tokens } from '$lib/texts/words'
import { addUsage, inputOf as inputTokens, noUsage, tokensOf } from '$lib/turn/usage'
import { number, shown, text, time, type Cell, type Table } from './table'

/** Below so many turns figures say nothing. */
export const ENOUGH_TURNS = 5

/** One column of a chart: its parts from the bottom up. */
export interface Bar {
  label: string
  parts: readonly number[]
}

export const sumOf = tokensOf

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

export const callsOf = ({ tools: list }: Metrics): number => total(list.map(({ calls }) => calls))
export const failedCallsOf = ({ tools: list }: Metrics): number => total(list.map(({ failed }) => failed))
export const inputOf = ({ usage }: Metrics): number => total(usage.map((one) => inputTokens(one.usage)))

/** More columns than this are joined into groups of the same width. */
const MOST_COLUMNS = 60

/** The histogram from one iteration up to the most, or to the limit if that is more. */
export function iterationBars(
  metrics: Metrics,
  limit: number,
): { bars: Bar[]; width: number; limitAt: number } {
  const most = Math.max(limit, ...metrics.iterations.map((one) => one.iterations))
  const width = Math.ceil(most / MOST_COLUMNS)
  const bars: Bar[] = []
  for (let first = 1; first <= most; first += width) {
    const within = metrics.iterations.filter(
      (one) => one.iterations >= first && one.iterations < first + width,
    )
    const last = first + width - 1
    bars.push({
      label: width === 1 ? String(first) : `${first}–${last}`,
      parts: [total(within.map(({ turns }) => turns))],
    })
  }
  return { bars, width, limitAt: limit / width }
}

/** The number of iterations that half of the turns did not exceed. */
export function medianIterations({ iterations: list }: Metrics): number {
  const half = total(list.map(({ turns }) => turns)) / 2
  let seen = 0
  for (const one of list) {
    seen += one.turns
    if (seen >= half) return one.iterations
  }
  return 0
}

export const iterationFinding = (metrics: Metrics): string =>
  iterations.finding(metrics.turns, medianIterations(metrics), metrics.limit_hits)

export const iterationTable = (metrics: Metrics): Table => ({
  columns: [
    { label: iterations.column.iterations, numeric: true },
    { label: iterations.column.turns, numeric: true },
  ],
  rows: metrics.iterations.map((one) => [number(one.iterations), number(one.turns)]),
})

/** The tool whose calls failed most often, by share; rarely used ones only when no other failed. */
export function worstTool({ tools: list }: Metrics): ToolMetrics | undefined {
  const failing = list.filter(({ failed }) => failed > 0)
  const used = failing.filter(({ calls }) => calls >= 5)
  return [...(used.length > 0 ? used : failing)].sort(
    (one, other) => other.failed / other.calls - one.failed / one.calls,
  )[0]
}

export function toolFinding(metrics: Metrics): string {
  const worst = worstTool(metrics)
  if (worst !== undefined) return tools.finding(worst.tool, worst.failed, worst.calls)
  return metrics.tools.length === 0 ? tools.none : tools.clean(callsOf(metrics))
}

const sharePart = (part: number, whole: number): Cell =>
  shown(whole === 0 ? 0 : Math.round((part / whole) * 1_000) / 10, percent(part, whole))

export function toolTable({ tools: list }: Metrics): Table {
  const { column } = tools
  const figures = [
    column.calls,
    column.failed,
    column.share,
    column.timedOut,
    column.median,
    column.p90,
    column.max,
  ]
  return {
    columns: [{ label: column.tool }, ...figures.map((label) => ({ label, numeric: true }))],
    rows: [...list]
      .sort((one, other) => other.calls - one.calls)
      .map(({ tool, calls, failed, timed_out, duration }) => [
        text(tool),
        number(calls),
        number(failed),
        sharePart(failed, calls),
        number(timed_out),
        time(duration.median),
        time(duration.p90),
        time(duration.max),
      ]),
  }
}

export const approvalFinding = ({ approvals }: Metrics): string =>
  approvals.asked === 0
    ? decided.none
    : decided.finding(approvals.approved, approvals.asked, approvals.time_to_decide.median)

export function approvalTable({ approvals }: Metrics): Table {
  const row = (label: string, value: number): Cell[] => [
    text(label),
    number(value),
    sharePart(value, approvals.asked),
  ]
  return {
    columns: [
      { label: decided.column.outcome },
      { label: decided.column.count, numeric: true },
      { label: decided.column.share, numeric: true },
    ],
    rows: [
      row(decided.outcome.approved, approvals.approved),
      row(decided.outcome.rejected, approvals.rejected),
      row(decided.outcome.withdrawn, approvals.withdrawn),
      row(decided.outcome.edited, approvals.edited),
      [text(decided.outcome.by_rule), number(approvals.by_rule), text('')],
    ],
  }
}

export const reasonTable = ({ approvals }: Metrics): Table => ({
  columns: [
    { label: decided.reasonColumn.reason, words: true },
    { label: decided.reasonColumn.count, numeric: true },
  ],
  rows: approvals.reasons.map(({ reason, count }) => [text(reason), number(count)]),
})

const DAY = 86_400_000
const dayAfter = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY).toISOString().slice(0, 10)

/** Days without a gap, ascending; joined to weeks when they are too many to draw. */
export function spans(days: readonly DayUsage[]): { spans: DayUsage[]; weeks: boolean } {
  const sorted = [...days].sort((one, other) => one.day.localeCompare(other.day))
  const [first] = sorted
  const last = sorted.at(-1)
  if (first === undefined || last === undefined) return { spans: [], weeks: false }
  const long = Math.round((Date.parse(last.day) - Date.parse(first.day)) / DAY) + 1
  const weeks = long > 95
  const step = weeks ? 7 : 1
  const list: DayUsage[] = []
  for (let day = first.day; day <= last.day; day = dayAfter(day, step)) {
    const end = dayAfter(day, step)
    const within = sorted.filter((one) => one.day >= day && one.day < end)
    list.push({
      day,
      turns: total(within.map(({ turns }) => turns)),
      usage: within.reduce((sum, { usage }) => addUsage(sum, usage), noUsage),
    })
  }
  return { spans: list, weeks }
}

export const dayBars = (days: readonly DayUsage[]): Bar[] =>
  spans(days).spans.map(({ day, usage }) => ({
    label: shortDay(day),
    parts: [usage.cached, usage.input, usage.output + usage.reasoning],
  }))

export function dayFinding(days: readonly DayUsage[]): string {
  const { spans: list, weeks } = spans(days)
  const [busiest] = [...list].sort((one, other) => sumOf(other.usage) - sumOf(one.usage))
  if (busiest === undefined || sumOf(busiest.usage) === 0) return spent.none
  return (weeks ? spent.findingWeek : spent.finding)(sumOf(busiest.usage), longDay(busiest.day))
}

const usageColumns = [
  spent.column.input,
  spent.column.cached,
  spent.column.output,
  spent.column.reasoning,
  spent.column.sum,
  spent.column.cost,
].map((label) => ({ label, numeric: true }))

const usageCells = (usage: Usage): Cell[] => [
  ...[usage.input, usage.cached, usage.output, usage.reasoning, sumOf(usage)].map((value) =>
    shown(value, tokens(value)),
  ),
  costCell(usage),
]

const DOLLAR = 1_000_000

/** Exported in dollars; a sum that lacks a part says so there, too. */
function costCell(usage: Usage): Cell {
  const { cost, unpriced } = usage
  if (sumOf(usage) === 0) return shown('', words.none)
  if (unpriced) {
    if (cost === 0) return text(words.unknown)
    return shown(words.atLeast(String(cost / DOLLAR)), words.atLeast(money(cost)))
  }
  return shown(cost / DOLLAR, cost === 0 ? words.free : money(cost))
}

/** What all turns together have cost, in words. */
export const costWords = ({ usage }: Metrics): string => costCell(usageOf(usage)).shown

export const usageOf = (list: readonly SourceUsage[]): Usage =>
  list.reduce((sum, { usage }) => addUsage(sum, usage), noUsage)

export function dayTable(days: readonly DayUsage[]): Table {
  const { spans: list, weeks } = spans(days)
  return {
    columns: [
      { label: weeks ? spent.column.week : spent.column.day },
      { label: spent.column.turns, numeric: true },
      ...usageColumns,
    ],
    rows: list.map(({ day, turns, usage }) => [
      shown(day, shortDay(day)),
      number(turns),
      ...usageCells(usage),
    ]),
  }
}

export function sourceFinding(list: readonly SourceUsage[]): string {
  const whole = total(list.map(({ usage }) => sumOf(usage)))
  if (whole === 0) return spent.none
  const agents = total(list.filter(({ source }) => source === 'sub_agent').map(({ usage }) => sumOf(usage)))
  if (agents > 0) return sources.findingAgents(agents, whole)
  const [first] = [...list].sort((one, other) => sumOf(other.usage) - sumOf(one.usage))
  return first === undefined ? spent.none : sources.finding(first.model, sumOf(first.usage), whole)
}

export function sourceTable(list: readonly SourceUsage[]): Table {
  const whole = total(list.map(({ usage }) => sumOf(usage)))
  return {
    columns: [
      { label: sources.column.source },
      { label: sources.column.model },
      { label: sources.column.requests, numeric: true },
      ...usageColumns,
      { label: sources.column.share, numeric: true },
    ],
    rows: [...list]
      .sort((one, other) => sumOf(other.usage) - sumOf(one.usage))
      .map(({ source, model, requests, usage }) => [
        text(sources.source[source]),
        text(model),
        number(requests),
        ...usageCells(usage),
        sharePart(sumOf(usage), whole),
      ]),
  }
}
