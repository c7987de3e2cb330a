/** What the person knows better than catalogue and server, as it is typed. Pure. */
import { readMoney, typedMoney } from '$lib/format/money'
import type { ModelChoice, ModelCost, ModelOverride } from '$lib/protocol'
import { correction as words } from '$lib/texts/models'

/** The fields as they stand; an empty one corrects nothing. */
export interface TypedCorrection {
  window: string
  free: boolean
  input: string
  cached: string
  output: string
  images: 'listed' | 'yes' | 'no'
}

export type CorrectionField = 'window' | 'input' | 'cached' | 'output'

/** What is wrong with which field. */
export type CorrectionFaults = Partial<Record<CorrectionField, string>>

export function typedCorrection(kept: ModelOverride | undefined): TypedCorrection {
  const price = kept?.cost?.cost === 'per_million' ? kept.cost.price : undefined
  const typed = (amount: number | undefined): string => (amount === undefined ? '' : typedMoney(amount))
  return {
    window: kept?.window === undefined ? '' : String(kept.window),
    free: kept?.cost?.cost === 'free',
    input: typed(price?.input),
    cached: typed(price?.cached),
    output: typed(price?.output),
    images: kept?.images === undefined ? 'listed' : kept.images ? 'yes' : 'no',
  }
}

/** Reads the fields; the largest answer, which is not typed, stays as it was kept. */
export function readCorrection(
  model: ModelChoice,
  typed: TypedCorrection,
  kept: ModelOverride | undefined,
): { correction: ModelOverride; faults: CorrectionFaults } {
  const faults: CorrectionFaults = {}
  const window = readWindow(typed.window, faults)
  const cost = readCost(typed, faults)
  return {
    faults,
    correction: {
      model,
      ...(window === undefined ? {} : { window }),
      ...(kept?.output === undefined ? {} : { output: kept.output }),
      ...(cost === undefined ? {} : { cost }),
      ...(typed.images === 'listed' ? {} : { images: typed.images === 'yes' }),
    },
  }
}

function readWindow(typed: string, faults: CorrectionFaults): number | undefined {
  const digits = typed.trim().replaceAll(/[\s,.]/gu, '')
  if (digits === '') return undefined
  if (/^\d{3,9}$/u.test(digits)) return Number(digits)
  faults.window = words.badNumber
  return undefined
}

function readCost(typed: TypedCorrection, faults: CorrectionFaults): ModelCost | undefined {
  if (typed.free) return { cost: 'free' }
  const amount = (field: 'input' | 'cached' | 'output'): number | undefined => {
    if (typed[field].trim() === '') return undefined
    // Nothing is a price here: a cache may be free.
    const value = /^\$?0+(?:[.,]0+)?$/u.test(typed[field].trim()) ? 0 : readMoney(typed[field])
    if (value === undefined) faults[field] = words.badPrice
    return value
  }
  const [input, cached, output] = [amount('input'), amount('cached'), amount('output')]
  if (input === undefined && output === undefined && cached === undefined) return undefined
  if (input === undefined) faults.input ??= words.bothPrices
  if (output === undefined) faults.output ??= words.bothPrices
  if (input === undefined || output === undefined) return undefined
  return { cost: 'per_million', price: { input, output, ...(cached === undefined ? {} : { cached }) } }
}
