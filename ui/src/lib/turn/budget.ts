/** What the strip and the popover say about the budget of a session. Pure. */
import { costOf, type Cost } from '$lib/format/money'
import type { Budget, Limits, Micros, ModelCost, SourceUsage, Turn, Usage } from '$lib/protocol'
import { inputOf, noUsage, tokensOf } from './usage'

/** From this part of a bound on it is said in the warning colour. */
const WARN_AT = 0.8
/** A speed is said once the turn has worked for so long, in milliseconds. */
const LONG_ENOUGH = 10_000
const MINUTE = 60_000

/** Bounds on money, where there are any. */
export type Bounds = { [bound in 'turn' | 'session' | 'day']?: Micros | undefined }

/** Bounds that were raised while a turn was under way: money, and tokens of the session. */
export type Raised = Readonly<Bounds & { tokens?: number | undefined }>

/** The bounds that hold: one that was raised is never below the one that was set. */
export function boundsOf(budget: Budget, raised: Raised): Bounds {
  const of = (bound: keyof Bounds): Micros | undefined => {
    const set = budget[bound]
    return set === undefined ? undefined : Math.max(set, raised[bound] ?? 0)
  }
  return { turn: of('turn'), session: of('session'), day: of('day') }
}

/** The bound on the session's tokens that holds; nothing without one. */
export const tokenBound = (set: number | null, { tokens = 0 }: Raised): number | undefined =>
  set === null ? undefined : Math.max(set, tokens)

/** The budget with one bound set, or without it. */
export function withBound(budget: Budget, bound: keyof Bounds, amount: Micros | undefined): Budget {
  const entries = Object.entries({ ...budget, [bound]: amount }).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as Budget
}

export interface Spending {
  usage: Usage
  turn: Turn | undefined
  budget: Budget
  raised: Raised
  cost: ModelCost
  limits: Pick<Limits, 'session_tokens'>
}

export interface StripBudget {
  cost: Cost
  used: number
  /** The bound that is named, and whether it is the turn's. */
  of: Micros | undefined
  ofTurn: boolean
  warn: boolean
}

/** The session's bound is named before the turn's; both count for the warning, tokens as well. */
export function stripBudget(spending: Spending): StripBudget {
  const { usage, turn, limits } = spending
  const { session, turn: ofTurn } = boundsOf(spending.budget, spending.raised)
  const near = (used: number, of: number | undefined): boolean => of !== undefined && used >= of * WARN_AT
  const named = session === undefined && ofTurn !== undefined
  return {
    cost: costOf(named ? (turn?.usage ?? noUsage) : usage, spending.cost),
    used: tokensOf(usage),
    of: named ? ofTurn : session,
    ofTurn: named,
    warn:
      near(usage.cost, session) ||
      near(turn?.usage.cost ?? 0, ofTurn) ||
      near(tokensOf(usage), tokenBound(limits.session_tokens, spending.raised)),
  }
}

/** Millionths per minute of work in this turn; nothing as long as it would mislead. */
export function speedOf(turn: Turn | undefined, active: number): Micros | undefined {
  if (turn === undefined || active < LONG_ENOUGH || turn.usage.cost === 0) return undefined
  return Math.round((turn.usage.cost / active) * MINUTE)
}

/** Milliseconds until `left` is used up. */
export const timeLeft = (left: Micros, speed: Micros): number => Math.max(0, (left / speed) * MINUTE)

/** One line of the sources with its part of all. */
export interface Share {
  source: SourceUsage['source']
  model: string
  percent: number
}

/** By money where there is any, else by tokens; the largest first. */
export function sharesOf(sources: readonly SourceUsage[]): Share[] {
  const byMoney = sources.some(({ usage }) => usage.cost > 0)
  const size = ({ usage }: SourceUsage): number => (byMoney ? usage.cost : tokensOf(usage))
  const whole = sources.reduce((sum, one) => sum + size(one), 0)
  if (whole === 0) return []
  return [...sources]
    .sort((one, other) => size(other) - size(one))
    .map((one) => ({ source: one.source, model: one.model, percent: (size(one) / whole) * 100 }))
}

/** The part of the input that came from the provider's cache, in percent. */
export function cachedPercent(usage: Usage): number {
  const all = inputOf(usage)
  return all === 0 ? 0 : Math.round((usage.cached / all) * 100)
}

const STEP = 1_000_000

/** The next bound that is offered: a whole dollar, at least one above what is used and what is allowed. */
export const raisedTo = (used: Micros, of: Micros | undefined): Micros =>
  of === undefined
    ? Math.max(2 * STEP, Math.ceil((used * 1.25) / STEP) * STEP + STEP)
    : Math.floor(Math.max(used, of) / STEP) * STEP + STEP
