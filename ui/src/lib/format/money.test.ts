import { expect, test } from 'vitest'
import { noUsage } from '$lib/turn/usage'
import { costOf, money, readMoney, typedMoney } from './money'

test('amounts keep two digits that say something', () => {
  expect([0, 110_000, 1_300_000, 12_345_678].map(money)).toEqual(['$0.00', '$0.11', '$1.30', '$12.35'])
  expect([10_000, 4_200, 420, 100].map(money)).toEqual(['$0.01', '$0.0042', '$0.00042', '$0.0001'])
  expect(money(3)).toBe('< $0.0001')
})

test('what is typed is read as dollars', () => {
  expect(['2', ' $2.50 ', '2,5', '0.000001'].map(readMoney)).toEqual([2_000_000, 2_500_000, 2_500_000, 1])
  for (const typed of ['', '0', '-1', 'two', '1.2.3', '1e3', '12345678'])
    expect(readMoney(typed)).toBeUndefined()
})

test('an amount can be typed again', () => {
  for (const amount of [2_000_000, 75_000, 300_000, 1]) expect(readMoney(typedMoney(amount))).toBe(amount)
  expect(typedMoney(2_000_000)).toBe('2.00')
})

test('an unknown price is never nothing, and nothing is only free where the model is', () => {
  const used = { ...noUsage, input: 100 }
  const price = { cost: 'per_million' as const, price: { input: 1, output: 1, tiers: [] } }
  expect(costOf({ ...used, unpriced: true }, { cost: 'unknown' })).toEqual({ known: 'none' })
  expect(costOf({ ...used, unpriced: true, cost: 5 }, { cost: 'unknown' })).toEqual({
    known: 'part',
    amount: 5,
  })
  expect(costOf(used, { cost: 'free' })).toEqual({ known: 'free' })
  expect(costOf({ ...used, cost: 7 }, { cost: 'free' })).toEqual({ known: 'all', amount: 7 })
  expect(costOf(used, price)).toEqual({ known: 'all', amount: 0 })
  expect(costOf(used, { cost: 'unknown' })).toEqual({ known: 'none' })
})
