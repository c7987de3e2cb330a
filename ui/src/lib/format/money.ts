/** Money in words: every amount is formatted and read here. Amounts are millionths of a US dollar, as estimates. */
import type { Micros, ModelCost, Usage } from '$lib/protocol'

const LOCALE = 'en'
const DOLLAR = 1_000_000
const CENT = 10_000
/** Below this an amount is not told apart from nothing. */
const LEAST = 100

const whole = new Intl.NumberFormat(LOCALE, { style: 'currency', currency: 'USD' })
const small = new Intl.NumberFormat(LOCALE, {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 2,
  maximumSignificantDigits: 2,
})

/** An amount: `$1.30`; below a cent with two digits that say something: `$0.0042`. */
export function money(amount: Micros): string {
  if (amount === 0 || amount >= CENT) return whole.format(amount / DOLLAR)
  return amount < LEAST ? `< ${small.format(LEAST / DOLLAR)}` : small.format(amount / DOLLAR)
}

/** What was typed, in millionths: `2`, `2.50`, `$2,50`; nothing when it is no amount above zero. */
export function readMoney(typed: string): Micros | undefined {
  const text = typed.trim().replace(/^\$/u, '').replace(',', '.')
  if (!/^\d{1,6}(?:\.\d{1,6})?$/u.test(text)) return undefined
  const amount = Math.round(Number(text) * DOLLAR)
  return amount > 0 ? amount : undefined
}

/** An amount as it is typed: `2.00`, `0.075`. */
export function typedMoney(amount: Micros): string {
  const value = amount / DOLLAR
  return amount % CENT === 0 ? value.toFixed(2) : String(value)
}

/** What is known of the cost of some usage; an unknown price is never nothing. */
export type Cost =
  | { known: 'all' | 'part'; amount: Micros }
  /** No price is known for any of it. */
  | { known: 'none' }
  /** It ran on the person's own machine. */
  | { known: 'free' }

/** The cost of what was used, with the model's price to tell what is free from what is not known. */
export function costOf(usage: Usage, of: ModelCost): Cost {
  if (usage.unpriced) return usage.cost > 0 ? { known: 'part', amount: usage.cost } : { known: 'none' }
  if (usage.cost > 0 || of.cost === 'per_million') return { known: 'all', amount: usage.cost }
  return of.cost === 'free' ? { known: 'free' } : { known: 'none' }
}
