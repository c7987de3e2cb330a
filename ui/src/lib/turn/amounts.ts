/** Own numbers typed by the person, brought into the unit of a limit. */
import { readMoney } from '$lib/format/money'
import type { LimitKind } from '$lib/protocol'

const MINUTE = 60_000
/** The most that one step may add, in the unit the person types. */
const MOST: Partial<Record<LimitKind, number>> = { iterations: 500, active_time: 600, session_tokens: 10_000 }
const UNIT: Partial<Record<LimitKind, number>> = { iterations: 1, active_time: MINUTE, session_tokens: 1_000 }

/** The amount in the limit's own unit; 0 when what was typed is no usable number. */
export function ownAmount(limit: LimitKind, typed: string): number {
  const most = MOST[limit]
  if (most === undefined) return readMoney(typed) ?? 0
  if (!/^\d{1,6}$/u.test(typed.trim())) return 0
  const value = Number(typed)
  return value <= most ? value * (UNIT[limit] ?? 1) : 0
}
