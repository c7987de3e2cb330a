/** How long the model may think, by session: kept for the next message and over a reload of the page. */
import type { Effort, SessionId } from '$lib/protocol'

const KEY = 'effort:'
const ALL: readonly string[] = ['minimal', 'low', 'medium', 'high'] satisfies Effort[]

export function keptEffort(session: SessionId, storage: Storage = localStorage): Effort | undefined {
  const kept = storage.getItem(KEY + session)
  return kept !== null && ALL.includes(kept) ? (kept as Effort) : undefined
}

export function keepEffort(
  session: SessionId,
  effort: Effort | undefined,
  storage: Storage = localStorage,
): void {
  if (effort === undefined) storage.removeItem(KEY + session)
  else storage.setItem(KEY + session, effort)
}
