/** The part of the fold that is about tokens and money: what was used, by whom, and what a request is expected to cost. */
import type {
  Event,
  LimitKind,
  Micros,
  SessionConfig,
  SourceUsage,
  TurnId,
  Usage,
  UsageSource,
} from '$lib/protocol'
import { boundsOf, type Raised } from '$lib/turn/budget'
import { addUsage } from '$lib/turn/usage'
import type { TimelineState } from './reduce'

/** A request that is expected to cost more than this part of what is left says so. */
const WORTH_SAYING = 0.1

const RAISED: Partial<Record<LimitKind, keyof Raised>> = {
  session_tokens: 'tokens',
  turn_money: 'turn',
  session_money: 'session',
  day_money: 'day',
}

/** The name of an iteration in {@link TimelineState.expected}. */
export const iterationKey = (turn: TurnId, iteration: number): string => `${turn}.${iteration}`

export function foldSpending(state: TimelineState, { msg }: Event): void {
  switch (msg.type) {
    case 'turn_started':
      state.raised = { ...state.raised, turn: undefined }
      break
    case 'limit_changed':
      raise(state, msg.limit, msg.allowed)
      break
    case 'iteration_started':
      expectCost(state, msg.turn, msg.iteration, msg.estimate)
      break
    case 'session_changed':
      setAnew(state, msg.config)
      break
    case 'iteration_answered':
      count(state, msg.usage, msg.turn, 'main')
      break
    case 'attempt_lost':
      count(state, msg.usage, msg.turn, 'retry')
      break
    case 'sub_agent_used':
      count(state, msg.usage, state.turn?.turn, 'sub_agent')
      break
  }
}

/** What may still be spent in the turn; nothing where money has no bound. Of the day only the core knows. */
export function moneyLeft(
  state: Pick<TimelineState, 'config' | 'turn' | 'raised' | 'usage'>,
): Micros | undefined {
  const { session, turn } = boundsOf(state.config.budget, state.raised)
  const left = [
    ...(session === undefined ? [] : [session - state.usage.cost]),
    ...(turn === undefined ? [] : [turn - (state.turn?.usage.cost ?? 0)]),
  ]
  return left.length === 0 ? undefined : Math.max(0, Math.min(...left))
}

function raise(state: TimelineState, limit: LimitKind, allowed: number): void {
  const bound = RAISED[limit]
  if (bound !== undefined) state.raised = { ...state.raised, [bound]: allowed }
}

/** A bound that is set anew is no longer raised. The core decides by the same comparison. */
function setAnew(state: TimelineState, { budget, limits }: SessionConfig): void {
  const before = state.config
  const { tokens, turn } = state.raised
  if (JSON.stringify(budget) !== JSON.stringify(before.budget)) state.raised = { tokens, turn }
  if (limits.session_tokens !== before.limits.session_tokens) {
    state.raised = { ...state.raised, tokens: undefined }
  }
}

/** Says what a request may cost, when that is a good part of what is left. */
export function expectCost(
  state: TimelineState,
  turn: TurnId,
  iteration: number,
  estimate: Usage | undefined,
): void {
  const left = moneyLeft(state)
  if (estimate === undefined || left === undefined || estimate.cost <= left * WORTH_SAYING) return
  state.expected = { ...state.expected, [iterationKey(turn, iteration)]: estimate.cost }
}

/** Tokens count for the session, and for the turn that used them while it is the newest one. */
function count(state: TimelineState, usage: Usage, turn: TurnId | undefined, source: UsageSource): void {
  state.usage = addUsage(state.usage, usage)
  if (state.turn !== undefined && state.turn.turn === turn) {
    state.turn = { ...state.turn, usage: addUsage(state.turn.usage, usage) }
  }
  state.sources = counted(state.sources, source, usage, modelOf(state, source))
}

/** A sub-agent's model is known once the core has named it; until then the line has none. */
function modelOf(state: TimelineState, source: UsageSource): string {
  const { provider, model } = state.config.model
  return source === 'sub_agent'
    ? (state.sources.find((one) => one.source === source)?.model ?? '')
    : `${provider}/${model}`
}

function counted(
  sources: readonly SourceUsage[],
  source: UsageSource,
  usage: Usage,
  model: string,
): SourceUsage[] {
  const at = sources.findIndex((one) => one.source === source && one.model === model)
  const known = sources[at]
  if (known === undefined) return [...sources, { source, model, requests: 1, usage }]
  return sources.with(at, { ...known, requests: known.requests + 1, usage: addUsage(known.usage, usage) })
}
