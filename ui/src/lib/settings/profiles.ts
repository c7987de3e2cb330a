/**
 * The limits that a profile sets, as the core has them, and how a limit is typed: in seconds, minutes, times or
 * tokens, within a range.
 */
import type { LimitProfile, Limits } from '$lib/protocol'
import type { LimitField } from '$lib/texts/settings'
import { count } from '$lib/texts/words'

const SECOND = 1_000
const MINUTE = 60_000

const standard: Limits = {
  iterations: 25,
  active_time: 30 * MINUTE,
  tool_time: 60 * SECOND,
  command_time: 120 * SECOND,
  malformed_calls: 3,
  tool_failures: 3,
  same_result: 3,
  model_retries: 3,
  model_silence: 120 * SECOND,
  local_silence: 600 * SECOND,
  session_tokens: 1_000_000,
}

export const profileLimits: Record<LimitProfile, Limits> = {
  standard,
  quick: {
    ...standard,
    iterations: 5,
    active_time: 60 * SECOND,
    tool_time: 30 * SECOND,
    command_time: 30 * SECOND,
    model_silence: 30 * SECOND,
  },
  production: { ...standard, iterations: 10, active_time: 300 * SECOND, command_time: 60 * SECOND },
  complex: {
    ...standard,
    iterations: 50,
    active_time: 60 * MINUTE,
    command_time: 600 * SECOND,
    model_silence: 600 * SECOND,
  },
  development: {
    ...standard,
    iterations: 200,
    active_time: null,
    tool_time: 300 * SECOND,
    command_time: 600 * SECOND,
    same_result: 5,
    model_silence: 600 * SECOND,
  },
}

export const profileNames = Object.keys(profileLimits) as LimitProfile[]

const same = (one: Limits, other: Limits): boolean =>
  (Object.keys(one) as LimitField[]).every((field) => one[field] === other[field])

/** The profile whose values these are; nothing when they were changed by hand. */
export const profileOf = (limits: Limits): LimitProfile | undefined =>
  profileNames.find((name) => same(profileLimits[name], limits))

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
