/**
 * Which profile a set of limits is, and how a limit is typed: in seconds, minutes, times or tokens, within a range.
 * The numbers of the profiles come from the core.
 */
import type { LimitProfile, Limits, ProfileLimits } from '$lib/protocol'
import type { LimitField } from '$lib/texts/settings'
import { count } from '$lib/texts/words'

const SECOND = 1_000
const MINUTE = 60_000

const same = (one: Limits, other: Limits): boolean =>
  (Object.keys(one) as (keyof Limits)[]).every((field) => one[field] === other[field])

/** The profile whose values these are; nothing when they were changed by hand. */
export const profileOf = (limits: Limits, profiles: readonly ProfileLimits[]): LimitProfile | undefined =>
  profiles.find((one) => same(one.limits, limits))?.profile

/** How a limit is typed. */
export interface FieldForm {
  unit: 'times' | 'seconds' | 'minutes' | 'tokens'
  low: number
  high: number
  /** Whether it may be off. */
  optional: boolean
}

const form = (unit: FieldForm['unit'], low: number, high: number, optional = false): FieldForm => ({
  unit,
  low,
  high,
  optional,
})

export const fieldForms: Record<LimitField, FieldForm> = {
  iterations: form('times', 1, 200),
  active_time: form('minutes', 1, 600, true),
  session_tokens: form('tokens', 10_000, 100_000_000, true),
  tool_time: form('seconds', 5, 3_600),
  command_time: form('seconds', 5, 7_200),
  malformed_calls: form('times', 1, 10),
  tool_failures: form('times', 1, 20),
  same_result: form('times', 2, 20),
  model_retries: form('times', 0, 10),
  model_silence: form('seconds', 10, 3_600),
  local_silence: form('seconds', 10, 7_200),
}

const UNIT = { times: 1, tokens: 1, seconds: SECOND, minutes: MINUTE } as const

/** The value as it is typed. */
export function typedValue(field: LimitField, value: number | null): string {
  return value === null ? '' : count(Math.round(value / UNIT[fieldForms[field].unit]))
}

/** What was typed, in the limit's own unit; nothing when it is outside of the range. */
export function readValue(field: LimitField, typed: string): number | undefined {
  const { unit, low, high } = fieldForms[field]
  const value = Number(typed.trim().replaceAll(',', ''))
  if (typed.trim() === '' || !Number.isInteger(value) || value < low || value > high) return undefined
  return value * UNIT[unit]
}
