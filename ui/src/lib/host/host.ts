/**
 * The only door from the page to the core. Everything that knows Tauri, sockets or recorded data stays in this
 * folder; the rest of the page sees this interface.
 */
import type { ClientError, Event, Reply, Request, SessionId, SessionSnapshot } from '$lib/protocol'

/** A session that is being watched: what it was when the watching began, and the way to end it. */
export interface Attachment {
  snapshot: SessionSnapshot
  detach(): void
}

/** A place to go to, for example after a click on a notification. */
export interface Destination {
  session: SessionId
  item?: number
}

/** What the program was started for. */
export interface Beginning {
  demo: boolean
  project?: string
  session?: SessionId
}

/** Commands of the window's own menu. */
export type MenuCommand = 'open-folder' | 'new-session' | 'settings' | 'pause' | 'stop' | 'extend'

export interface Host {
  /** Asks the core. Rejects with a {@link HostError}. */
  request(request: Request): Promise<Reply>
  /** Watches a session. Events that follow the snapshot arrive in order; none arrives before the promise is kept. */
  attach(session: SessionId, onEvents: (events: Event[]) => void): Promise<Attachment>
  /** Lets the person choose a folder with the system's dialog; null when they cancel. */
  chooseFolder(): Promise<string | null>
  /** Opens a web or mail address in the system's own program. The caller has checked the scheme. */
  openLink(address: string): Promise<void>
  /** Calls back when something outside of the page asks to show a session. Returns the way to unsubscribe. */
  onNavigate(listener: (destination: Destination) => void): () => void
  /** What to show first; hosts without a window of their own have nothing to say. */
  beginning?(): Promise<Beginning>
  /** Calls back for commands of the window's menu, where there is one. Returns the way to unsubscribe. */
  onMenu?(listener: (command: MenuCommand) => void): () => void
}

/** A refusal or failure of the core, with its sentence and hint. */
export class HostError extends Error {
  override readonly name = 'HostError'

  constructor(readonly error: ClientError) {
    super(error.message)
  }
}

function isClientError(value: unknown): value is ClientError {
  return typeof value === 'object' && value !== null && 'code' in value && 'message' in value
}

/** Brings anything that was thrown into the shape of a {@link HostError}. */
export function hostError(thrown: unknown): HostError {
  if (thrown instanceof HostError) return thrown
  if (isClientError(thrown)) return new HostError(thrown)
  return new HostError({
    code: 'internal',
    message: thrown instanceof Error ? thrown.message : String(thrown),
  })
}

/**
 * Holds events back until the snapshot they follow has been handed over: a transport may deliver the first ones while
 * the answer to `attach` is still under way.
 */
export class EventGate {
  #held: Event[] = []
  #open = false

  constructor(private readonly onEvents: (events: Event[]) => void) {}

  push(events: Event[]): void {
    if (this.#open) this.onEvents(events)
    else this.#held.push(...events)
  }

  /** Opens the gate after the current task, when the caller of `attach` has taken the snapshot. */
  openSoon(): void {
    setTimeout(() => {
      this.#open = true
      const held = this.#held
      this.#held = []
      if (held.length > 0) this.onEvents(held)
    })
  }
}
