/** Figures over turns, and the log of decisions. Everything here is about this computer only. */
import type { DecidedBy, UsageSource } from '$lib/protocol'
import { count, counted, duration, tokens } from './words'

/** How far back is looked. */
export type MetricsRange = '7' | '30' | '90' | 'all'

/** Whose turns are counted. */
export type MetricsScope = 'project' | 'session'

/** A part of a whole in percent: `14 %`, `< 1 %`. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return '–'
  const share = (part / whole) * 100
  if (share > 0 && share < 1) return '< 1 %'
  return `${count(share > 99 && share < 100 ? 99 : Math.round(share))} %`
}

const momentFormat = new Intl.DateTimeFormat('en', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})
const dayFormat = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'long', timeZone: 'UTC' })
const shortDayFormat = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** The moment of a decision, to the second. */
export const decidedAt = (at: number): string => momentFormat.format(at)

/** A day of the calendar, in words and short. */
export const longDay = (day: string): string => dayFormat.format(new Date(`${day}T00:00:00Z`))
export const shortDay = (day: string): string => shortDayFormat.format(new Date(`${day}T00:00:00Z`))

export const metrics = {
  title: 'Metrics',
  intro: 'Counted on this computer, and they stay here.',
  close: 'Close metrics',
  pages: 'Pages of the metrics',
  page: { figures: 'Figures', decisions: 'Decision log' },
  range: 'Range',
  ranges: { '7': '7 days', '30': '30 days', '90': '90 days', all: 'All' } satisfies Record<
    MetricsRange,
    string
  >,
  scope: 'Turns of',
  scopes: { project: 'This project', session: 'This session' } satisfies Record<MetricsScope, string>,
  loading: 'Counting…',
  again: 'Try again',
  empty: 'Figures appear after five turns. They stay on this computer.',
  soFar: (turns: number): string =>
    turns === 0 ? 'No turn in this range yet.' : `${counted(turns, 'turn', 'turns')} in this range so far.`,
  showTable: 'Table',
  showChart: 'Chart',
  asTable: (title: string): string => `As a table: ${title}`,
  export: 'Export',
  exportOf: (name: string): string => `Export ${name}`,
  saveCsv: 'Save as CSV',
  copyCsv: 'Copy as CSV',
  saveJson: 'Save as JSON',
  notCopied: 'The system did not allow copying.',
} as const

export const cards = {
  turns: 'Turns',
  ends: (completed: number, stopped: number, failed: number): string =>
    `${count(completed)} completed · ${count(stopped)} stopped · ${count(failed)} failed`,
  active: 'Working time per turn',
  waiting: 'Waiting for you per turn',
  spread: (p90: number, max: number): string => `90 % within ${duration(p90)} · longest ${duration(max)}`,
  calls: 'Calls per turn',
  callsFailed: (failed: number, all: number): string =>
    `${percent(failed, all)} of ${count(all)} calls failed`,
  approved: 'Approved',
  asked: (asked: number, byRule: number): string =>
    `of ${count(asked)} asked · ${count(byRule)} more passed by a rule`,
  cache: 'Input from the cache',
  cacheOf: (input: number): string => `of ${tokens(input)} tokens of input`,
  unknown: '–',
  tokens: 'Tokens',
  tokensOf: (input: number, output: number): string => `${tokens(input)} in · ${tokens(output)} out`,
  cost: 'Cost',
  perTurn: (amount: string): string => `about ${amount} per turn`,
  noPrice: 'the price of the models is not known',
  estimate: 'an estimate from a price list',
} as const

export const smooth = {
  title: (total: number): string =>
    total === 0 ? 'Nothing got in the way' : `${counted(total, 'thing', 'things')} got in the way`,
  retries: 'Further tries of a request',
  malformed: 'Calls that could not be read',
  guard: 'Loop guard',
  breaker: 'Error breaker',
  limits: 'Paused at the iteration limit',
  undone: 'Calls you took back',
  name: 'hindrances',
  column: { what: 'What', times: 'Times' },
} as const

export const iterations = {
  name: 'iterations',
  finding: (turns: number, half: number, hits: number): string => {
    const first = `Half of the ${count(turns)} turns needed ${counted(half, 'iteration', 'iterations')} or fewer`
    return hits === 0 ? first : `${first}; ${count(hits)} paused at the limit`
  },
  limit: (limit: number): string => `limit ${count(limit)}`,
  axis: 'iterations',
  column: { iterations: 'Iterations', turns: 'Turns' },
} as const

export const tools = {
  name: 'tools',
  finding: (tool: string, failed: number, calls: number): string =>
    `${tool} failed most often: ${count(failed)} of ${counted(calls, 'call', 'calls')} (${percent(failed, calls)})`,
  clean: (calls: number): string => `None of ${counted(calls, 'call', 'calls')} failed`,
  none: 'No tool was used',
  column: {
    tool: 'Tool',
    calls: 'Calls',
    failed: 'Failed',
    share: 'Failed, %',
    timedOut: 'Timed out',
    median: 'Median',
    p90: '90 %',
    max: 'Longest',
  },
} as const

export const decided = {
  name: 'approvals',
  finding: (approved: number, asked: number, median: number): string =>
    `You approved ${percent(approved, asked)} of what was asked; half of the decisions took ${duration(median)} or less`,
  none: 'Nothing was asked',
  outcome: {
    approved: 'Approved',
    rejected: 'Rejected',
    withdrawn: 'Withdrawn',
    edited: 'Edited before approval',
    by_rule: 'Passed by a rule, not asked',
  },
  column: { outcome: 'Outcome', count: 'Number', share: 'Of what was asked' },
  time: 'Time to decide',
  reasons: 'Reasons you gave',
  noReasons: 'No reasons were given.',
  reasonColumn: { reason: 'Reason', count: 'Times' },
} as const

export const spent = {
  name: 'tokens by day',
  finding: (busiest: number, day: string): string => `Most tokens were used on ${day}: ${tokens(busiest)}`,
  findingWeek: (busiest: number, day: string): string =>
    `Most tokens were used in the week from ${day}: ${tokens(busiest)}`,
  none: 'No tokens were used',
  part: { input: 'Input', cached: 'Input from the cache', output: 'Output and reasoning' },
  column: {
    day: 'Day',
    week: 'Week from',
    turns: 'Turns',
    input: 'Input',
    cached: 'From the cache',
    output: 'Output',
    reasoning: 'Reasoning',
    sum: 'Sum',
    cost: 'Cost',
  },
  estimated: 'Partly estimated: a server did not report its tokens.',
} as const

/** What some usage has cost. A price that is not known is never nothing. */
export const cost = {
  none: '–',
  free: 'no cost',
  unknown: 'unknown',
  atLeast: (amount: string): string => `at least ${amount}`,
  estimate: 'Costs are estimates from a price list, not the invoice.',
  part: '“At least”: a part was used with models whose price is not known.',
} as const

export const sources = {
  name: 'tokens by source',
  source: { main: 'Session', sub_agent: 'Sub-agents', retry: 'Retries' } satisfies Record<
    UsageSource,
    string
  >,
  finding: (model: string, part: number, whole: number): string =>
    `${model} used ${percent(part, whole)} of the tokens`,
  findingAgents: (part: number, whole: number): string =>
    `Sub-agents used ${percent(part, whole)} of the tokens`,
  column: { source: 'Source', model: 'Model', requests: 'Requests', share: 'Share' },
} as const

export const decisions = {
  name: 'decisions',
  empty: 'No decisions yet.',
  nothing: 'No decision fits.',
  filter: 'Filter',
  filterHint: 'Tool, target, rule or reason',
  answers: { all: 'All', allowed: 'Allowed', refused: 'Refused' },
  answer: 'Decision',
  shown: (shown: number, all: number): string =>
    shown === all
      ? counted(all, 'decision', 'decisions')
      : `${count(shown)} of ${counted(all, 'decision', 'decisions')}`,
  newest: (limit: number): string => `The newest ${count(limit)} are listed.`,
  table: 'Decision log',
  column: {
    at: 'Time',
    session: 'Session',
    call: 'Call',
    target: 'Target',
    classes: 'Class',
    decision: 'Decision',
    by: 'By',
    rule: 'Rule',
    edited: 'Edited',
    reason: 'Reason',
  },
  allowed: 'allowed',
  refused: 'refused',
  edited: 'edited',
} as const

/** Who decided, in a word or two. */
export function byWords(by: DecidedBy): string {
  switch (by.by) {
    case 'person':
      return 'you'
    case 'rule':
      return 'rule'
    case 'policy':
      return 'level'
    case 'workflow':
      return `workflow ${by.name}`
  }
}
