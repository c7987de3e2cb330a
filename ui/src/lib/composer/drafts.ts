/**
 * Unsent texts by session. They live in memory and, so that a reload of the view loses nothing, in the storage of the
 * view's session; a storage that refuses is no reason to lose the text in memory.
 */
import type { SessionId } from '$lib/protocol'

const PREFIX = 'draft:'

export class Drafts {
  readonly #memory = new Map<SessionId, string>()
  readonly #storage: Storage | undefined

  constructor(storage: Storage | undefined) {
    this.#storage = storage
  }

  get(session: SessionId): string {
    const known = this.#memory.get(session)
    if (known !== undefined) return known
    try {
      return this.#storage?.getItem(PREFIX + session) ?? ''
    } catch {
      return ''
    }
  }

  set(session: SessionId, text: string): void {
    this.#memory.set(session, text)
    try {
      if (text === '') this.#storage?.removeItem(PREFIX + session)
      else this.#storage?.setItem(PREFIX + session, text)
    } catch {
      // Full or refused: the text stays in memory.
    }
  }
}
