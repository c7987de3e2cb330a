import { expect, test } from 'vitest'
import type { ModelCost, SourceUsage, Usage } from '$lib/protocol'
import { spentWords } from '$lib/texts/budget'
import { cachedPercent, raisedTo, sharesOf, speedOf, stripBudget, timeLeft, type Spending } from './budget'
import { turnIn } from './turns.fixture'
import { noUsage } from './usage'

const priced: ModelCost = { cost: 'per_million', price: { input: 3_000_000, output: 15_000_000 } }
const used = (cost: number, more: Partial<Usage> = {}): Usage => ({
  ...noUsage,
  input: 48_000,
  cost,
  ...more,
})

function spending(more: Partial<Spending>): Spending {
  return {
    usage: used(110_000),
    turn: undefined,
    budget: { ask_expensive: true },
    raised: {},
    cost: priced,
    limits: { session_tokens: null },
    ...more,
  }
}

function said(more: Partial<Spending>): string {
  const { cost, used: tokens, of, ofTurn } = stripBudget(spending(more))
  return spentWords(cost, tokens, of, ofTurn)
}

test('the strip says money of a bound, money, tokens, or that there is no cost', () => {
  expect(said({ budget: { ask_expensive: true, session: 2_000_000 } })).toBe('$0.11 of $2.00')
  expect(said({})).toBe('$0.11')
  expect(said({ usage: used(0, { unpriced: true }), cost: { cost: 'unknown' } })).toBe('48 k tokens')
  expect(said({ usage: used(0), cost: { cost: 'free' } })).toBe('no cost')
  expect(said({ usage: used(110_000, { unpriced: true }) })).toBe('at least $0.11')
})

test('without a bound of the session the one of the turn is named', () => {
  const turn = turnIn({ state: 'thinking' }, { usage: used(50_000) })
  expect(said({ turn, budget: { ask_expensive: true, turn: 400_000 } })).toBe('$0.05 of $0.40 this turn')
  expect(said({ turn, budget: { ask_expensive: true, turn: 400_000 }, raised: { turn: 1_000_000 } })).toBe(
    '$0.05 of $1.00 this turn',
  )
})

test('a warning begins at 80 % of any bound', () => {
  const warns = (more: Partial<Spending>): boolean => stripBudget(spending(more)).warn
  expect(warns({ budget: { ask_expensive: true, session: 140_000 } })).toBe(false)
  expect(warns({ budget: { ask_expensive: true, session: 137_000 } })).toBe(true)
  expect(
    warns({
      turn: turnIn({ state: 'thinking' }, { usage: used(90) }),
      budget: { ask_expensive: true, turn: 100 },
    }),
  ).toBe(true)
  expect(warns({ limits: { session_tokens: 50_000 } })).toBe(true)
})

test('a speed is only said when it says something', () => {
  const turn = turnIn({ state: 'thinking' }, { usage: used(40_000) })
  expect(speedOf(turn, 60_000)).toBe(40_000)
  expect(speedOf(turn, 5_000)).toBeUndefined()
  expect(timeLeft(400_000, 40_000)).toBe(600_000)
})

test('sources are parts of the money, or of the tokens where there is none', () => {
  const of = (source: SourceUsage['source'], model: string, usage: Usage): SourceUsage => ({
    source,
    model,
    requests: 1,
    usage,
  })
  const shares = sharesOf([of('retry', 'a/b', used(25)), of('main', 'a/b', used(75))])
  expect(shares.map(({ source, percent }) => [source, percent])).toEqual([
    ['main', 75],
    ['retry', 25],
  ])
  expect(sharesOf([of('main', 'a/b', used(0))])[0]?.percent).toBe(100)
  expect(sharesOf([])).toEqual([])
})

test('the cache is a part of all input', () => {
  expect(cachedPercent({ ...noUsage, input: 20, cached: 70, cache_write: 10 })).toBe(70)
  expect(cachedPercent(noUsage)).toBe(0)
})

test('the next bound is a whole dollar above', () => {
  expect(raisedTo(110_000, 2_000_000)).toBe(3_000_000)
  expect(raisedTo(2_400_000, 2_000_000)).toBe(3_000_000)
  expect(raisedTo(110_000, 2_500_000)).toBe(3_000_000)
  expect(raisedTo(110_000, undefined)).toBe(2_000_000)
  expect(raisedTo(3_000_000, undefined)).toBe(5_000_000)
})
