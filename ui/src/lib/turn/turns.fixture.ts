/** Turns for tests; a test changes what it is about. */
import type { Turn, TurnStatus } from '$lib/protocol'
import { noUsage } from './usage'

export function turnIn(status: TurnStatus, change: Partial<Turn> = {}): Turn {
  return {
    turn: 1,
    status,
    iteration: 7,
    iteration_limit: 25,
    started: 0,
    active: 90_000,
    waiting: 0,
    status_since: Date.now(),
    usage: noUsage,
    ...change,
  }
}
