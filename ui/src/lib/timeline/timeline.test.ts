import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Event, EventMsg, Item } from '$lib/protocol'
import { Client } from '../host/client'
import { recordedHost, type RecordedHost } from '../host/fixture'
import { Story } from '../../fixtures/build'
import { investigates } from '../../fixtures/login'
import { around } from '../../fixtures/places'
import { changedFiles } from './changes'
import { OpenSession } from './timeline.svelte'
import { TimelineView } from './view.svelte'

let story: Story
let host: RecordedHost
let session: OpenSession

const event = (seq: number, msg: EventMsg): Event => ({ session: story.id, seq, at: 0, msg })
const queued = (words: string): EventMsg => ({
  type: 'queue_changed',
  queue: { messages: [{ id: 1, text: words }], held: false },
})
const text = (id: number): Item => ({
  id,
  turn: 1,
  iteration: 4,
  started: 0,
  status: 'running',
  kind: { type: 'agent_text', text: '' },
})

beforeEach(async () => {
  vi.useFakeTimers()
  story = new Story('s', 'Test')
  investigates(story)
  host = recordedHost(around(story, story.snapshot({ state: 'thinking' })))
  session = new OpenSession(new Client(host), story.id)
  await session.open()
  await vi.runAllTimersAsync()
})

afterEach(() => {
  session.close()
  vi.useRealTimers()
})

test('events change what is shown once per frame', async () => {
  const id = story.items.length
  host.emit([
    event(101, { type: 'item_started', item: text(id) }),
    event(101, { type: 'item_delta', item: id, channel: 'text', offset: 0, text: 'Hel' }),
    event(101, { type: 'item_delta', item: id, channel: 'text', offset: 3, text: 'lo' }),
  ])
  expect(session.cells.get(id)).toBeUndefined()
  await vi.advanceTimersByTimeAsync(50)
  expect(session.cells.get(id)?.text).toBe('Hello')
  expect(session.order.length).toBe(id + 1)
})

test('after a gap the session is attached again and goes on from the new snapshot', async () => {
  const attach = vi.spyOn(host, 'attach')
  host.emit([event(140, queued('lost'))])
  await vi.runAllTimersAsync()
  expect(attach).toHaveBeenCalledTimes(1)
  expect(session.connection).toBe('live')
  expect(session.queue.messages).toEqual([])
  host.emit([event(101, queued('here'))])
  await vi.runAllTimersAsync()
  expect(session.queue.messages).toEqual([{ id: 1, text: 'here' }])
})

test('a refused op is kept for the person to see', async () => {
  vi.spyOn(host, 'request').mockRejectedValueOnce({ code: 'not_now', message: 'Nothing runs.' })
  await expect(session.submit({ op: 'stop' })).rejects.toThrow('Nothing runs.')
  expect(session.refused?.code).toBe('not_now')
})

test('a session that does not exist says why', async () => {
  const missing = new OpenSession(new Client(host), 'none')
  await missing.open()
  expect(missing).toMatchObject({ connection: 'lost', problem: { code: 'not_found' } })
})

test.each([
  { following: true, folded: true },
  { following: false, folded: false },
])('a turn that ends folds only when it is followed: $following', async ({ following, folded }) => {
  const view = new TimelineView(session)
  view.watchTurn(1, true, following)
  story.summary('completed', 1)
  const summary = story.items[story.items.length - 1]
  if (summary === undefined) throw new Error('no summary')
  host.emit([event(101, { type: 'item_completed', item: summary })])
  await vi.runAllTimersAsync()
  view.watchTurn(1, false, following)
  expect(view.rows.find((row) => row.type === 'fold')).toMatchObject({ open: !folded })
  view.toggleTurn(1)
  expect(view.rows.find((row) => row.type === 'fold')).toMatchObject({ open: folded })
})

test('changes are listed by file; what was undone does not count', () => {
  const [file] = changedFiles(session.order, 1)
  expect(file).toMatchObject({ path: 'src/login.ts', added: 4, removed: 4 })
  expect(changedFiles(session.order, 7)).toEqual([])
  const cell = file?.entries[0]?.cell
  if (cell === undefined) throw new Error('no change')
  cell.item = { ...cell.item, status: 'undone' }
  expect(changedFiles(session.order, 1)[0]).toMatchObject({ added: 0, removed: 0 })
})
