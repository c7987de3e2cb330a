/**
 * The sessions of sub-agents that are looked at from inside of their parent's timeline. A row that is scrolled out of
 * sight and back, or that turns into the full view, finds its session still open.
 */
import type { SessionId } from '$lib/protocol'
import type { OpenSession } from './timeline.svelte'
import { TimelineView } from './view.svelte'

/** How long a session stays open after the last one looked away, in milliseconds. */
const LINGER = 3_000

interface Held {
  view: TimelineView
  holders: number
  timer: ReturnType<typeof setTimeout> | undefined
}

export class NestedViews {
  readonly #parent: OpenSession
  readonly #held = new Map<SessionId, Held>()

  constructor(parent: OpenSession) {
    this.#parent = parent
  }

  /** Looks at a sub-agent; the second part ends it. */
  hold(id: SessionId): [view: TimelineView, release: () => void] {
    const held = this.#held.get(id) ?? this.#open(id)
    clearTimeout(held.timer)
    held.holders++
    return [held.view, () => this.#release(id, held)]
  }

  #open(id: SessionId): Held {
    const session = this.#parent.nested(id)
    void session.open()
    const held: Held = { view: new TimelineView(session), holders: 0, timer: undefined }
    this.#held.set(id, held)
    return held
  }

  #release(id: SessionId, held: Held): void {
    held.holders--
    if (held.holders > 0) return
    held.timer = setTimeout(() => {
      held.view.session.close()
      this.#held.delete(id)
    }, LINGER)
  }
}
