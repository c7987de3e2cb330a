/** The rows of a map's table, sorted, and what of the map a filter leaves. Pure. */
import type { Lane, MapBar } from './turn'

export type Column = 'start' | 'iteration' | 'lane' | 'target' | 'wait' | 'took' | 'outcome' | 'tokens'

export interface Sorting {
  column: Column
  descending: boolean
}

/** What is shown of a turn: lanes that are left out, and whether only trouble or only what waited. */
export interface Filter {
  without: readonly Lane[]
  only: 'all' | 'trouble' | 'waited'
}

export const everything: Filter = { without: [], only: 'all' }

const TROUBLE: ReadonlySet<string> = new Set(['failed', 'rejected', 'stopped', 'outcome_unknown'])

export function filtered(bars: readonly MapBar[], { without, only }: Filter): MapBar[] {
  return bars.filter(
    (bar) =>
      !without.includes(bar.lane) &&
      (only === 'all' ||
        (only === 'trouble' && (TROUBLE.has(bar.outcome) || bar.retries.length > 0)) ||
        (only === 'waited' && bar.wait !== undefined)),
  )
}

/** Milliseconds it waited for the person. */
export const waitedFor = ({ wait }: MapBar): number | undefined =>
  wait === undefined ? undefined : wait.to - wait.from

/** Milliseconds it worked: what the tool reports, else the time between begin and end. */
export function workedFor({ took, busy, subject }: MapBar): number | undefined {
  if (subject === 'message' || subject === 'undo') return undefined
  return took ?? (busy === undefined ? undefined : busy.to - busy.from)
}

function valueOf(bar: MapBar, column: Column): number | string | undefined {
  switch (column) {
    case 'start':
      return bar.span.from
    case 'iteration':
      return bar.iteration
    case 'lane':
      return bar.lane
    case 'target':
      return bar.target
    case 'wait':
      return waitedFor(bar)
    case 'took':
      return workedFor(bar)
    case 'outcome':
      return bar.outcome
    case 'tokens':
      return bar.tokens
  }
}

/** The bars in the order of a column; what has no value there comes last either way. */
export function sorted(bars: readonly MapBar[], { column, descending }: Sorting): MapBar[] {
  const way = descending ? -1 : 1
  return [...bars].sort((one, other) => {
    const a = valueOf(one, column)
    const b = valueOf(other, column)
    if (a === b) return one.span.from - other.span.from || one.item - other.item
    if (a === undefined) return 1
    if (b === undefined) return -1
    return way * (typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b)))
  })
}

/** The bar that lies next in time, or in the next lane at about the same time. */
export function neighbour(
  bars: readonly MapBar[],
  key: string | undefined,
  way: 'next' | 'previous' | 'up' | 'down' | 'first' | 'last',
  lanes: readonly Lane[],
): MapBar | undefined {
  const at = bars.findIndex((bar) => bar.key === key)
  const bar = bars[at]
  if (way === 'first' || bar === undefined)
    return way === 'previous' || way === 'last' ? bars.at(-1) : bars[0]
  if (way === 'last') return bars.at(-1)
  if (way === 'next') return bars[at + 1] ?? bar
  if (way === 'previous') return bars[at - 1] ?? bar
  const step = way === 'down' ? 1 : -1
  for (let lane = lanes.indexOf(bar.lane) + step; lane >= 0 && lane < lanes.length; lane += step) {
    const own = bars.filter((one) => one.lane === lanes[lane])
    const nearest = own.reduce<MapBar | undefined>(
      (best, one) =>
        best === undefined ||
        Math.abs(one.span.from - bar.span.from) < Math.abs(best.span.from - bar.span.from)
          ? one
          : best,
      undefined,
    )
    if (nearest !== undefined) return nearest
  }
  return bar
}
