/** The way to what was set aside after commands: listed, looked at, put back or thrown away. */
import type { Client } from '$lib/host/client'
import type { SessionId, SetAsideContent, SetAsideEntry } from '$lib/protocol'

export interface SetAsideDoor {
  list(): Promise<SetAsideEntry[]>
  look(id: string): Promise<SetAsideContent>
  /** Puts back exactly what was shown, or throws it away; resolves with what still waits. */
  decide(content: SetAsideContent, back: boolean): Promise<SetAsideEntry[]>
}

/** The client, the folder and the session are asked for with every question: they may come later than the door. */
export function setAsideDoor(
  client: () => Client,
  project: () => string,
  session: () => SessionId | undefined,
): SetAsideDoor {
  return {
    list: () => client().setAside(project()),
    look: (id) => client().lookAtSetAside(project(), id),
    decide: ({ entry, hash }, back) =>
      client().decideSetAside({ project: project(), id: entry.id, hash, back, session: session() }),
  }
}
