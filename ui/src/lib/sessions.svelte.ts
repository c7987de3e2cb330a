/**
 * The session list as it is shown: searched, grouped by day, with the open session's own state on its line, so that
 * strip and list never disagree.
 */
import type { SessionId, SessionSummary, TurnStatus } from '$lib/protocol'
import type { App } from './app.svelte'
import { day } from './texts/words'

/** Sessions of one day. */
export interface DayGroup {
  day: string
  sessions: SessionSummary[]
}

/** Whether the state of a turn waits for the person. */
export function waitsForPerson(status: TurnStatus | undefined): boolean {
  switch (status?.state) {
    case 'waiting_for_approval':
    case 'waiting_for_answer':
    case 'paused':
    case 'interrupted':
      return true
    default:
      return false
  }
}

export class SessionBook {
  query = $state('')
  readonly #app: App
  readonly shown: readonly SessionSummary[] = $derived.by(() => this.#search())

  constructor(app: App) {
    this.#app = app
  }

  /** The shown sessions by day, newest first. */
  groups(now: number): DayGroup[] {
    const groups: DayGroup[] = []
    for (const session of this.shown) {
      const name = day(session.changed, now)
      const last = groups.at(-1)
      if (last?.day === name) last.sessions.push(session)
      else groups.push({ day: name, sessions: [session] })
    }
    return groups
  }

  /** Renames a session, also one that is not open. */
  async rename(id: SessionId, title: string): Promise<void> {
    const words = title.trim()
    if (words === '') return
    await this.#app.client.submit(id, { op: 'rename', title: words })
    await this.#app.refreshSessions()
  }

  #search(): SessionSummary[] {
    const words = this.query.trim().toLocaleLowerCase()
    return this.#app.sessions
      .map((session) => this.#live(session))
      .filter((session) => words === '' || session.title.toLocaleLowerCase().includes(words))
      .sort((one, other) => other.changed - one.changed)
  }

  #live(summary: SessionSummary): SessionSummary {
    const open = this.#app.session
    if (open?.id !== summary.session || open.config === undefined) return summary
    const { turn } = open
    if (turn === undefined) return { ...summary, title: open.config.title }
    return {
      ...summary,
      title: open.config.title,
      status: turn.status,
      iteration: turn.iteration,
      waiting: open.approvals.length > 0 ? open.approvals.length : waitsForPerson(turn.status) ? 1 : 0,
    }
  }
}
