/**
 * The same core behind a loopback WebSocket, for development and for tests in a browser. Chosen by
 * `?host=ws://127.0.0.1:PORT`; any other address is refused, so that a link cannot send a person's work elsewhere.
 */
import type { ClientError, Event, Reply, SessionId, SessionSnapshot } from '$lib/protocol'
import { EventGate, HostError, type Host } from './host'

interface Answer {
  id?: number
  reply?: Reply
  snapshot?: SessionSnapshot
  error?: ClientError
  session?: SessionId
  events?: Event[]
}

interface Waiting {
  resolve: (answer: Answer) => void
  reject: (error: HostError) => void
}

const lost: ClientError = {
  code: 'internal',
  message: 'The connection to Paddock was lost.',
  hint: 'Open the window again.',
}

export function isLoopback(address: string): boolean {
  return /^ws:\/\/(127\.0\.0\.1|localhost):\d+\/?$/.test(address)
}

export function socketHost(address: string): Host {
  if (!isLoopback(address)) throw new Error('Only a loopback address can be used as host.')
  const socket = new WebSocket(address)
  const waiting = new Map<number, Waiting>()
  const gates = new Map<SessionId, EventGate>()
  let nextId = 1
  let closed = false

  const opened = new Promise<void>((resolve) => {
    socket.addEventListener('open', () => resolve())
    socket.addEventListener('close', () => {
      closed = true
      for (const call of waiting.values()) call.reject(new HostError(lost))
      waiting.clear()
      resolve()
    })
  })

  socket.addEventListener('message', (message: MessageEvent<string>) => {
    const answer = JSON.parse(message.data) as Answer
    if (answer.session !== undefined && answer.events !== undefined) {
      gates.get(answer.session)?.push(answer.events)
      return
    }
    const call = answer.id === undefined ? undefined : waiting.get(answer.id)
    if (answer.id === undefined || call === undefined) return
    waiting.delete(answer.id)
    if (answer.error === undefined) call.resolve(answer)
    else call.reject(new HostError(answer.error))
  })

  async function send(message: Record<string, unknown>): Promise<Answer> {
    await opened
    if (closed) throw new HostError(lost)
    const id = nextId++
    return new Promise<Answer>((resolve, reject) => {
      waiting.set(id, { resolve, reject })
      socket.send(JSON.stringify({ id, ...message }))
    })
  }

  return {
    async request(request) {
      const { reply } = await send({ request })
      if (reply === undefined)
        throw new HostError({ code: 'internal', message: 'An answer without a reply.' })
      return reply
    },

    async attach(session, onEvents) {
      const gate = new EventGate(onEvents)
      gates.set(session, gate)
      const { snapshot } = await send({ attach: session })
      if (snapshot === undefined)
        throw new HostError({ code: 'internal', message: 'An answer without a snapshot.' })
      gate.openSoon()
      return {
        snapshot,
        detach: () => {
          if (gates.get(session) !== gate) return
          gates.delete(session)
          void send({ detach: session }).catch(() => undefined)
        },
      }
    },

    // A browser shows no paths of the disk: the person types or pastes one.
    chooseFolder: () => Promise.resolve(window.prompt('Folder')),
    openLink: (address) => {
      window.open(address, '_blank', 'noopener,noreferrer')
      return Promise.resolve()
    },
    onNavigate: () => () => undefined,
  }
}
