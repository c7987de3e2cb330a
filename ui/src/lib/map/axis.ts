/**
 * The time axis of a map. Stretches of more than half a minute in which nothing worked are cut short, so that a night
 * spent waiting for a decision does not press a minute of work into one pixel. Pure.
 */
import type { MapBar, Span } from './turn'

/** How long nothing may work before the axis is cut, in milliseconds. */
export const CUT_AFTER = 30_000

/** A stretch of the axis: real time, and the place it takes on the axis. */
export interface Stretch extends Span {
  at: number
  length: number
  cut: boolean
}

export interface Axis {
  stretches: readonly Stretch[]
  /** Length of the whole axis, in milliseconds of uncut time. */
  length: number
  from: number
}

/** What moves the work on: answers with the wait for them, runs, waits for another try. */
function workOf(bar: MapBar): Span[] {
  if (bar.subject !== 'answer') return bar.busy === undefined ? [] : [bar.busy]
  const answer = bar.busy ?? (bar.lead === undefined ? undefined : { from: bar.lead.from, to: bar.lead.from })
  const whole = answer === undefined ? [] : [{ from: bar.lead?.from ?? answer.from, to: answer.to }]
  return [...whole, ...bar.retries, ...(bar.open ? [bar.span] : [])]
}

/** The axis over the bars of a turn; `span` is what it covers. */
export function axisOf(bars: readonly MapBar[], span: Span): Axis {
  const work = bars.flatMap(workOf).sort((one, other) => one.from - other.from)
  const gaps: Span[] = []
  let reached = span.from
  for (const { from, to } of [...work, { from: span.to, to: span.to }]) {
    if (from - reached > CUT_AFTER) gaps.push({ from: reached, to: from })
    reached = Math.max(reached, to)
  }
  return withCuts(span, gaps)
}

function withCuts(span: Span, gaps: readonly Span[]): Axis {
  const all = Math.max(1, span.to - span.from)
  const left = all - gaps.reduce((sum, gap) => sum + gap.to - gap.from, 0)
  const short = Math.max(2_000, left * 0.06)
  const stretches: Stretch[] = []
  let at = 0
  const add = (from: number, to: number, cut: boolean): void => {
    const length = cut ? Math.min(short, to - from) : to - from
    if (length > 0) stretches.push({ from, to, at, length, cut })
    at += Math.max(0, length)
  }
  let from = span.from
  for (const gap of gaps) {
    // A little of the stillness stays to scale, so that what ends and what begins there can be seen.
    const margin = Math.min(500, (gap.to - gap.from) / 8)
    add(from, gap.from + margin, false)
    add(gap.from + margin, gap.to - margin, true)
    from = gap.to - margin
  }
  add(from, Math.max(span.to, from), false)
  if (stretches.length === 0)
    stretches.push({ from: span.from, to: span.from + 1, at: 0, length: 1, cut: false })
  return { stretches, length: Math.max(1, at), from: span.from }
}

/** The place of a moment on the axis. */
export function placeOf(axis: Axis, moment: number): number {
  for (const { from, to, at, length } of axis.stretches) {
    if (moment <= to) return at + Math.max(0, (moment - from) / Math.max(1, to - from)) * length
  }
  return axis.length
}

const STEPS = [
  100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000,
  3_600_000, 7_200_000, 21_600_000, 86_400_000,
]

/** Round moments on the axis, at least `least` apart on it; `elapsed` counts from the begin of the turn. */
export function ticksOf(
  axis: Axis,
  least: number,
  seen: { from: number; to: number },
): { at: number; elapsed: number }[] {
  const step = STEPS.find((one) => one >= least) ?? 86_400_000
  const ticks: { at: number; elapsed: number }[] = []
  for (const { from, to, at, length, cut } of axis.stretches) {
    if (cut || at + length < seen.from || at > seen.to) continue
    const begin = from - axis.from
    const first = Math.ceil(Math.max(begin, begin + seen.from - at) / step) * step
    for (let elapsed = first; elapsed <= to - axis.from; elapsed += step) {
      const place = at + elapsed - begin
      if (place > seen.to) break
      const last = ticks.at(-1)
      if (last === undefined || place - last.at >= least * 0.8) ticks.push({ at: place, elapsed })
    }
  }
  return ticks
}
