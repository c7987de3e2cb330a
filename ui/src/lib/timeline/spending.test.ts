import { expect, test } from 'vitest'
import type { Budget, EventMsg, Usage } from '$lib/protocol'
import { noUsage } from '$lib/turn/usage'
import { Story } from '../../fixtures/build'
import { fold, fromSnapshot, type TimelineState } from './reduce'
import { moneyLeft } from './spending'

const spent = (cost: number, more: Partial<Usage> = {}): Usage => ({ ...noUsage, input: 10, cost, ...more })

function begun(budget: Partial<Budget> = {}): TimelineState {
  const story = new Story('s', 'Spending')
  story.you('Go')
  const snapshot = story.snapshot({ state: 'thinking' }, { usage: noUsage })
  return fromSnapshot({
    ...snapshot,
    config: { ...snapshot.config, budget: { ask_expensive: true, ...budget } },
    ...(snapshot.turn === undefined ? {} : { turn: { ...snapshot.turn, usage: noUsage } }),
  })
}

function told(state: TimelineState, ...messages: EventMsg[]): TimelineState {
  fold(
    state,
    messages.map((msg, place) => ({ session: 's', seq: state.seq + 1 + place, at: 0, msg })),
  )
  return state
}

const answered = (cost: number): EventMsg => ({
  type: 'iteration_answered',
  turn: 1,
  iteration: 1,
  usage: spent(cost),
  finish: 'stop',
  first_byte: 5,
})

const asks = (iteration: number, cost: number): EventMsg => ({
  type: 'iteration_started',
  turn: 1,
  iteration,
  attempt: 1,
  limit: 25,
  finishing: false,
  estimate: spent(cost),
})

test('money counts by source: answers, lost attempts, sub-agents', () => {
  const state = told(
    begun(),
    answered(100),
    answered(50),
    { type: 'attempt_lost', turn: 1, iteration: 2, usage: spent(7, { unpriced: true }) },
    { type: 'sub_agent_used', call: 'c1', usage: spent(20) },
  )
  expect(state.usage.cost).toBe(177)
  expect(state.usage.unpriced).toBe(true)
  expect(state.turn?.usage.cost).toBe(177)
  expect(state.sources.map(({ source, requests, usage }) => [source, requests, usage.cost])).toEqual([
    ['main', 2, 150],
    ['retry', 1, 7],
    ['sub_agent', 1, 20],
  ])
})

test('what is left is the tighter of session and turn', () => {
  expect(moneyLeft(begun())).toBeUndefined()
  const state = told(begun({ session: 1_000, turn: 400 }), answered(100))
  expect(moneyLeft(state)).toBe(300)
  told(state, { type: 'limit_changed', turn: 1, limit: 'turn_money', allowed: 5_000 })
  expect(moneyLeft(state)).toBe(900)
})

test('only a request that takes a good part of what is left says so', () => {
  const state = told(begun({ session: 1_000 }), asks(1, 100), answered(100), asks(2, 91))
  expect(state.expected).toEqual({ '1.2': 91 })
  expect(told(begun(), asks(1, 100_000)).expected).toEqual({})
})

test('a view that begins anew knows what was raised, and what the request on its way may cost', () => {
  const story = new Story('s', 'Spending')
  story.you('Go')
  const snapshot = story.snapshot({ state: 'thinking' }, { usage: noUsage })
  const state = fromSnapshot({
    ...snapshot,
    config: { ...snapshot.config, budget: { ask_expensive: true, session: 1_000 } },
    raised: { session: 5_000, tokens: 2_000_000 },
    estimate: spent(600),
  })
  expect(moneyLeft(state)).toBe(5_000)
  expect(Object.values(state.expected)).toEqual([600])
})

test('a bound that is set anew is no longer raised', () => {
  const state = begun({ session: 1_000, turn: 400 })
  told(
    state,
    { type: 'limit_changed', turn: 1, limit: 'session_money', allowed: 5_000 },
    { type: 'limit_changed', turn: 1, limit: 'turn_money', allowed: 3_000 },
    { type: 'limit_changed', turn: 1, limit: 'session_tokens', allowed: 2_000_000 },
  )
  expect(state.raised).toEqual({ session: 5_000, turn: 3_000, tokens: 2_000_000 })
  const { config } = state
  told(state, { type: 'session_changed', config: { ...config, title: 'Another' } })
  expect(state.raised.session).toBe(5_000)
  const budget = { ...config.budget, session: 2_000 }
  told(state, { type: 'session_changed', config: { ...config, budget } })
  expect(state.raised).toEqual({ turn: 3_000, tokens: 2_000_000 })
  const limits = { ...config.limits, session_tokens: 500_000 }
  told(state, { type: 'session_changed', config: { ...config, budget, limits } })
  expect(state.raised.tokens).toBeUndefined()
})
