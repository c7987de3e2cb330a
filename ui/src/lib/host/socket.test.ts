import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Event } from '$lib/protocol'
import { Client } from './client'
import { isLoopback, socketHost } from './socket'
import { Story } from '../../fixtures/build'

/** The other end of the wire. */
class FakeSocket extends EventTarget {
  static last: FakeSocket
  readonly sent: Record<string, unknown>[] = []

  constructor(readonly address: string) {
    super()
    FakeSocket.last = this
    queueMicrotask(() => this.dispatchEvent(new globalThis.Event('open')))
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Record<string, unknown>)
  }

  answer(message: unknown): void {
    this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(message) }))
  }
}

beforeEach(() => vi.stubGlobal('WebSocket', FakeSocket))
afterEach(() => vi.unstubAllGlobals())

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5))

test('answers find their question, whatever their order', async () => {
  const client = new Client(socketHost('ws://127.0.0.1:4000'))
  const entry = { model: 'a', facts: { cost: { cost: 'unknown' }, efforts: [], from: '' } }
  const models = client.models('local')
  const presets = client.presets()
  await settled()
  const [first, second] = FakeSocket.last.sent
  FakeSocket.last.answer({ id: second?.['id'], reply: { reply: 'presets', presets: [] } })
  FakeSocket.last.answer({ id: first?.['id'], reply: { reply: 'models', models: [entry] } })
  expect(await presets).toEqual([])
  expect(await models).toEqual([entry])
})

test('a reply of another kind and an error of the core are both errors', async () => {
  const client = new Client(socketHost('ws://127.0.0.1:4000'))
  const wrong = client.settings()
  const refused = client.openProject('/')
  await settled()
  FakeSocket.last.answer({ id: 1, reply: { reply: 'accepted' } })
  FakeSocket.last.answer({
    id: 2,
    error: { code: 'folder_refused', message: 'Too much.', hint: 'Choose a folder.' },
  })
  await expect(wrong).rejects.toThrow('instead of “settings”')
  await expect(refused).rejects.toMatchObject({ error: { code: 'folder_refused', hint: 'Choose a folder.' } })
})

test('no event arrives before the snapshot was taken, and none is lost', async () => {
  const host = socketHost('ws://127.0.0.1:4000')
  const seen: Event[] = []
  let taken = false
  const attaching = host.attach('s', (events) => {
    expect(taken).toBe(true)
    seen.push(...events)
  })
  await settled()
  const event: Event = { session: 's', seq: 101, at: 0, msg: { type: 'folder_awaited', waiting: true } }
  FakeSocket.last.answer({ session: 's', events: [event] })
  FakeSocket.last.answer({ id: 1, snapshot: new Story('s', 'T').snapshot(undefined) })
  await attaching
  taken = true
  await settled()
  expect(seen).toEqual([event])
})

test('after the connection is lost every question fails with what to do', async () => {
  const client = new Client(socketHost('ws://127.0.0.1:4000'))
  const asked = client.about()
  await settled()
  FakeSocket.last.dispatchEvent(new globalThis.Event('close'))
  await expect(asked).rejects.toMatchObject({ error: { message: 'The connection to Paddock was lost.' } })
  await expect(client.settings()).rejects.toThrow('lost')
})

test('only this machine can be a host', () => {
  expect(isLoopback('ws://127.0.0.1:4000')).toBe(true)
  expect(isLoopback('ws://127.0.0.1.example.com:4000')).toBe(false)
  expect(isLoopback('wss://example.com')).toBe(false)
  expect(() => socketHost('ws://example.com:80')).toThrow()
})
