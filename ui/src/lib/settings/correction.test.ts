import { expect, test } from 'vitest'
import type { ModelOverride } from '$lib/protocol'
import { readCorrection, typedCorrection } from './correction'
import { withOverride } from './models'

const model = { provider: 'local', model: 'a' }
const nothing = typedCorrection(undefined)

test('empty fields correct nothing', () => {
  const { correction, faults } = readCorrection(model, nothing, undefined)
  expect(faults).toEqual({})
  expect(correction).toEqual({ model })
  expect(withOverride([{ model, window: 5 }], correction)).toEqual([])
})

test('window, price and sight are read, and typed again the same', () => {
  const typed = {
    ...nothing,
    window: '32 768',
    input: '0.25',
    output: '2',
    cached: '0',
    images: 'yes' as const,
  }
  const { correction, faults } = readCorrection(model, typed, { model, output: 900 })
  expect(faults).toEqual({})
  const wanted: ModelOverride = {
    model,
    window: 32_768,
    output: 900,
    images: true,
    cost: { cost: 'per_million', price: { input: 250_000, output: 2_000_000, cached: 0 } },
  }
  expect(correction).toEqual(wanted)
  expect(readCorrection(model, typedCorrection(wanted), wanted).correction).toEqual(wanted)
})

test('what cannot be right is named by its field', () => {
  const faultsOf = (change: Partial<typeof nothing>): string[] =>
    Object.keys(readCorrection(model, { ...nothing, ...change }, undefined).faults)
  expect(faultsOf({ window: 'big' })).toEqual(['window'])
  expect(faultsOf({ input: '2' })).toEqual(['output'])
  expect(faultsOf({ input: 'two', output: '3' })).toEqual(['input'])
  expect(faultsOf({ free: true, input: 'two' })).toEqual([])
})
