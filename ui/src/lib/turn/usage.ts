/** Sums of tokens and money. */
import type { Usage } from '$lib/protocol'

export const noUsage: Usage = {
  input: 0,
  cached: 0,
  output: 0,
  reasoning: 0,
  estimated: false,
  cost: 0,
  unpriced: false,
}

export const addUsage = (one: Usage, other: Usage): Usage => ({
  input: one.input + other.input,
  cached: one.cached + other.cached,
  cache_write: (one.cache_write ?? 0) + (other.cache_write ?? 0),
  output: one.output + other.output,
  reasoning: one.reasoning + other.reasoning,
  estimated: one.estimated || other.estimated,
  cost: one.cost + other.cost,
  unpriced: one.unpriced || other.unpriced,
})

/** All input: new, from the cache and into it. */
export const inputOf = ({ input, cached, cache_write }: Usage): number => input + cached + (cache_write ?? 0)

/** All tokens. */
export const tokensOf = (usage: Usage): number => inputOf(usage) + usage.output + usage.reasoning
