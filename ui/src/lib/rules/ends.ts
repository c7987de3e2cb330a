/** When a rule ends, as a person chooses it. */
import type { AnswerScope, RuleAnswer, RuleEnd } from '$lib/protocol'

/** `scope` is the end of the turn or the session itself. */
export type EndChoice = 'scope' | 'hour' | 'today' | 'week' | 'unused' | 'none'

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** So long a rule may lie unused before it falls asleep, in days. */
export const UNUSED_DAYS = 30

/** The choices for a scope, the usual one first. */
export function endsFor(scope: AnswerScope | 'everywhere', answer: RuleAnswer = 'allow'): EndChoice[] {
  if (scope === 'once' || scope === 'turn') return ['scope']
  if (scope === 'session') return ['scope', 'hour', 'today']
  // What asks or forbids never falls asleep by itself.
  return answer === 'allow' ? ['unused', 'hour', 'today', 'week', 'none'] : ['none', 'hour', 'today', 'week']
}

/** The end as it is kept, reckoned from `now`. */
export function endOf(choice: EndChoice, now: number): RuleEnd {
  switch (choice) {
    case 'scope':
    case 'none':
      return { end: 'never' }
    case 'hour':
      return { end: 'at', at: now + HOUR }
    case 'today': {
      const midnight = new Date(now)
      midnight.setHours(24, 0, 0, 0)
      return { end: 'at', at: midnight.getTime() }
    }
    case 'week':
      return { end: 'at', at: now + 7 * DAY }
    case 'unused':
      return { end: 'unused', days: UNUSED_DAYS }
  }
}
