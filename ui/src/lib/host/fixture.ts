/**
 * A host that plays recorded data, for looking at components and for tests. Never part of the product: choose.ts
 * imports it in development builds only.
 */
import type { Event, Reply, Request, SessionSnapshot } from '$lib/protocol'
import { noUsage } from '$lib/turn/usage'
import { loadFixture, type Fixture } from '../../fixtures'
import { entriesOf, goodLinks, goodTest, PICTURE, presets, servers, weakTest } from '../../fixtures/models'
import { EventGate, HostError, type Host } from './host'

export async function fixtureHost(name: string): Promise<Host> {
  return recordedHost(await loadFixture(name))
}

/** Ops that were submitted, for tests. */
export interface RecordedHost extends Host {
  readonly requests: Request[]
  /** Pushes events to whoever watches the session. */
  emit(events: Event[]): void
}

export function recordedHost(fixture: Fixture): RecordedHost {
  const requests: Request[] = []
  const gates = new Set<EventGate>()

  return {
    requests,
    emit: (events) => gates.forEach((gate) => gate.push(events)),

    request(request) {
      requests.push(request)
      const refusal = fixture.refuses?.(request)
      if (refusal !== undefined) return Promise.reject(new HostError(refusal))
      const reply = fixture.answers?.(request) ?? answer(fixture, request)
      return reply === undefined
        ? Promise.reject(
            new HostError({ code: 'not_found', message: 'The recording has no answer to this.' }),
          )
        : Promise.resolve(structuredClone(reply))
    },

    attach(session, onEvents) {
      const snapshot = fixture.snapshots[session]
      if (snapshot === undefined) {
        return Promise.reject(new HostError({ code: 'not_found', message: 'There is no such session.' }))
      }
      const gate = new EventGate(onEvents)
      gates.add(gate)
      gate.openSoon()
      const stop = play(fixture, session, gate)
      return Promise.resolve({
        snapshot: structuredClone(shortened(snapshot)),
        detach: () => {
          stop()
          gates.delete(gate)
        },
      })
    },

    chooseFolder: () => Promise.resolve(fixture.project?.path ?? null),
    openLink: (address) => {
      window.open(address, '_blank', 'noopener,noreferrer')
      return Promise.resolve()
    },
    onNavigate: () => () => undefined,
  }
}

/** A snapshot holds the newest items only, as the core's does. */
function shortened(snapshot: SessionSnapshot): SessionSnapshot {
  return { ...snapshot, items: snapshot.items.slice(-200) }
}

function play(fixture: Fixture, session: string, gate: EventGate): () => void {
  const timers = (fixture.played ?? [])
    .filter(({ event }) => event.session === session)
    .map(({ after, event }) => setTimeout(() => gate.push([event]), after))
  return () => timers.forEach(clearTimeout)
}

function answer(fixture: Fixture, request: Request): Reply | undefined {
  switch (request.request) {
    case 'about':
      return { reply: 'about', about: fixture.about }
    case 'settings':
      return { reply: 'settings', settings: fixture.settings }
    case 'save_settings':
      fixture.settings = request.settings
      return { reply: 'settings', settings: request.settings }
    case 'open_project':
    case 'open_demo':
      return fixture.project && { reply: 'project', project: fixture.project }
    case 'sessions':
      return { reply: 'sessions', sessions: fixture.sessions }
    case 'create_session':
    case 'open_session': {
      const id = request.request === 'open_session' ? request.session : fixture.sessions[0]?.session
      const snapshot = id === undefined ? undefined : fixture.snapshots[id]
      return snapshot && { reply: 'session', snapshot: shortened(snapshot) }
    }
    case 'items': {
      const items = fixture.snapshots[request.session]?.items ?? []
      return { reply: 'items', items: items.slice(request.from, request.to) }
    }
    case 'output': {
      const text = fixture.outputs?.[request.call]
      return text === undefined ? undefined : { reply: 'text', text }
    }
    case 'key_state':
    case 'set_key':
    case 'forget_key': {
      const missing = request.request === 'forget_key'
      return { reply: 'key', key: missing ? { key: 'missing' } : { key: 'in_keyring', ends_with: '4f2a' } }
    }
    case 'proxy_login':
    case 'forget_proxy_login':
      return { reply: 'key', key: { key: 'missing' } }
    case 'set_proxy_login':
      return { reply: 'key', key: { key: 'in_keyring', ends_with: '' } }
    case 'models':
      return { reply: 'models', models: entriesOf(request.provider) }
    case 'test_connection':
      return { reply: 'connection', links: goodLinks }
    case 'test_model':
      return {
        reply: 'model_test',
        test: (request.model.model.startsWith('llama') ? weakTest : goodTest)(request.model),
      }
    case 'presets':
      return { reply: 'presets', presets }
    case 'find_servers':
      return { reply: 'servers', servers }
    case 'spending':
      return { reply: 'spending', today: { ...noUsage, input: 210_000, output: 41_000, cost: 1_300_000 } }
    case 'add_attachment': {
      const { name, data } = request
      const attachment = {
        id: `image-${name}`,
        name,
        media_type: 'image/png',
        bytes: Math.floor((data.length * 3) / 4),
      }
      return { reply: 'attachment', attachment }
    }
    case 'attachment_data':
      return { reply: 'text', text: PICTURE }
    case 'workflows':
      return { reply: 'workflows', workflows: [] }
    case 'roles':
      return { reply: 'roles', roles: [] }
    default:
      return { reply: 'accepted' }
  }
}
