/**
 * Once a price is known and no limit is set, a limit is proposed, a single time: whoever said "not now" is not asked
 * again, in no session.
 */
import type { Micros, SessionConfig } from '$lib/protocol'

/** What is proposed for a session. */
export const PROPOSED: Micros = 2_000_000

const KEY = 'budget-proposed'

export function proposesBudget(config: SessionConfig, storage: Storage = localStorage): boolean {
  const { session, turn, day } = config.budget
  const free = session === undefined && turn === undefined && day === undefined
  return free && !config.demo && config.facts.cost.cost === 'per_million' && storage.getItem(KEY) === null
}

export const answerProposal = (storage: Storage = localStorage): void => storage.setItem(KEY, 'answered')
