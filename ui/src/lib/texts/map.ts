/** The map of a turn: its pages, its lanes, what is said of one bar, its exports. */
import type { ItemStatus } from '$lib/protocol'
import type { EdgeKind } from '$lib/map/edges'
import type { MapPage } from '$lib/map/map.svelte'
import { waitedFor, workedFor, type Column, type Filter } from '$lib/map/rows'
import { shortTarget } from '$lib/map/shapes'
import type { Lane, MapBar } from '$lib/map/turn'
import { className } from './approvals'
import { statusWords, timeline, verbs } from './timeline'
import { clock, count, counted, duration, tokens } from './words'

export const laneName: Record<Lane, string> = {
  ...className,
  model: 'Model',
  agent: 'Sub-agent',
  you: 'You',
}

export const map = {
  title: 'Map',
  intro: 'What happened when, and what led to what.',
  empty: 'The map fills while a turn works.',
  nothing: 'Nothing of this turn fits the filter.',
  showAll: 'Show everything',
  pages: 'Page of the map',
  page: { timeline: 'Timeline', graph: 'Graph', table: 'Table' } satisfies Record<MapPage, string>,
  turn: (turn: number, text: string): string =>
    text === '' ? `Turn ${count(turn)}` : `Turn ${count(turn)}: ${text}`,
  chooseTurn: 'Turn',
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  fit: 'Fit',
  earlier: 'Earlier',
  later: 'Later',
  filter: 'Filter',
  filtered: (hidden: number): string => `Filter, ${counted(hidden, 'entry', 'entries')} hidden`,
  only: {
    all: 'Everything',
    trouble: 'Failed, rejected, stopped',
    waited: 'Waited for you',
  } satisfies Record<Filter['only'], string>,
  export: 'Save',
  saveSvg: 'Save picture as SVG',
  savePng: 'Save picture as PNG',
  saveTrace: 'Save data as JSON (trace)',
  saveTraceWhy: 'For programs that show traces.',
  notSaved: 'The picture could not be made.',
  full: 'Open in the full window',
  close: 'Close the map',
  picture: (page: string): string =>
    `${page} of the turn. Arrow keys go from entry to entry, Enter shows all facts, T shows the table.`,
  previous: 'Previous entry',
  next: 'Next entry',
  details: 'All facts',
  show: 'Show in the timeline',
  raw: 'Show raw',
  undo: 'Undo',
  redo: 'Redo',
  cutOff: 'Only the end of this turn is loaded.',
  load: 'Load the rest',
  loading: 'Loading…',
  message: 'your message',
  approved: 'approved',
  rejected: 'rejected',
  answer: 'Answer of the model',
  undoing: 'Undone by you',
  check: (attempt: number, of: number): string => `Check ${count(attempt)} of ${count(of)}`,
  pause: (millis: number): string => duration(millis),
  clock,
  exit: timeline.exit,
  total: (calls: number, used: number): string =>
    used === 0
      ? counted(calls, 'call', 'calls')
      : `${counted(calls, 'call', 'calls')} · ${tokens(used)} tokens in this turn`,
  table: 'All entries of the turn',
  sortBy: (column: string): string => `Sort by ${column}`,
  columns: {
    start: 'Start',
    iteration: 'Iteration',
    lane: 'Class',
    target: 'What',
    wait: 'Waited',
    took: 'Took',
    outcome: 'Outcome',
    tokens: 'Tokens',
  } satisfies Record<Column, string>,
  waiting: 'waiting for you',
  retry: 'another try',
  lead: 'until the first word',
  edges: {
    asked: 'asked by',
    used: 'used result of',
    retried: 'retried',
    undone: 'undone by',
  } satisfies Record<EdgeKind, string>,
} as const

/** What a bar is, in a few words: `Run npm test`. */
export function barName(bar: MapBar, short = false): string {
  const target = short ? shortTarget(bar.target) : bar.target
  switch (bar.subject) {
    case 'answer':
      return map.answer
    case 'message':
      return short ? `${timeline.you}: ${target}` : `${timeline.you}: ${bar.target}`
    case 'undo':
      return `${map.undoing} ${target}`.trim()
    case 'call': {
      const verb = bar.verb === undefined ? (bar.tool ?? '') : verbs[bar.verb]
      const said = target === '' ? `${verb} ${bar.tool ?? ''}` : `${verb} ${target}`
      return (
        bar.check === undefined ? said : `${map.check(bar.check.attempt, bar.check.of)}: ${target}`
      ).trim()
    }
  }
}

/** How a bar ended; what the person wrote has no outcome. */
export function outcomeName(bar: MapBar): string {
  if (bar.subject === 'message') return ''
  const outcome: ItemStatus = bar.outcome
  return bar.exit === undefined || bar.exit === 0
    ? statusWords[outcome]
    : `${statusWords[outcome]}, ${timeline.exit(bar.exit)}`
}

/** The facts of a bar, one short text each. */
export function barFacts(bar: MapBar, began: number): string[] {
  const took = workedFor(bar)
  const waited = waitedFor(bar)
  const lead = bar.lead === undefined ? undefined : bar.lead.to - bar.lead.from
  return [
    bar.iteration > 0 ? timeline.iteration(bar.iteration).toLowerCase() : undefined,
    `at ${clock(bar.span.from - began)}`,
    took === undefined ? undefined : duration(took),
    lead === undefined || lead < 50 ? undefined : `at most ${duration(lead)} until its first word`,
    waited === undefined ? undefined : `waited ${duration(waited)} for you`,
    bar.decided === undefined ? undefined : `${map[bar.decided]} by you`,
    bar.retries.length === 0 ? undefined : counted(bar.retries.length, 'retry', 'retries'),
    bar.tokens === undefined || bar.tokens === 0 ? undefined : `${tokens(bar.tokens)} tokens`,
    outcomeName(bar),
  ].filter((fact): fact is string => fact !== undefined && fact !== '')
}
