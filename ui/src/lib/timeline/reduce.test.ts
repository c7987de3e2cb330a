import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Event, EventMsg, Item, ItemKind, ItemStatus, PlanTask, Process } from '$lib/protocol'
import { Story, usage } from '../../fixtures/build'
import { fold, fromSnapshot, LIVE_OUTPUT, prepend, type TimelineState } from './reduce'
import { clockOf } from './session'

const SESSION = 's-test'
const story = new Story(SESSION, 'Test')

function empty(): TimelineState {
  return fromSnapshot({ ...story.snapshot(undefined), seq: 0, items: [], item_count: 0 })
}

function item(id: number, kind: ItemKind, status: ItemStatus): Item {
  const open = status === 'running' || status === 'waiting'
  return { id, turn: 1, iteration: 1, started: 10, ...(open ? {} : { ended: 20 }), status, kind }
}

const text = (id: number, words: string, status: ItemStatus): Item =>
  item(id, { type: 'agent_text', text: words }, status)

const command = (id: number, status: ItemStatus): Item =>
  item(
    id,
    {
      type: 'call',
      call: `t1.i1.c${id}`,
      server_id: '',
      tool: 'run_command',
      arguments: '',
      verb: 'run',
      target: 'ls',
      classes: ['command'],
    },
    status,
  )

const queued = (...texts: string[]): EventMsg => ({
  type: 'queue_changed',
  queue: { messages: texts.map((words, place) => ({ id: place + 1, text: words })), held: false },
})

/** Numbers a list of messages as the core would. */
function numbered(messages: readonly EventMsg[], first = 1): Event[] {
  let seq = first - 1
  return messages.map((msg, place) => {
    if (msg.type !== 'item_delta' && msg.type !== 'op_refused') seq++
    return { session: SESSION, seq, at: 1000 + place, msg }
  })
}

/** A plausible session: turns with texts, commands, limits, approvals left out. */
function messages(words: readonly string[]): EventMsg[] {
  const list: EventMsg[] = [
    { type: 'turn_started', turn: 1, iteration_limit: 25, without_model: false },
    { type: 'turn_changed', turn: 1, status: { state: 'thinking' } },
    { type: 'iteration_started', turn: 1, iteration: 1, attempt: 1, limit: 25, finishing: false },
  ]
  words.forEach((word, id) => {
    if (id % 2 === 0) {
      list.push({ type: 'item_started', item: text(id, '', 'running') })
      list.push({ type: 'item_delta', item: id, channel: 'text', offset: 0, text: word })
      list.push({ type: 'item_delta', item: id, channel: 'text', offset: word.length, text: '!' })
    } else {
      list.push({ type: 'item_started', item: command(id, 'waiting') })
      list.push({ type: 'item_updated', item: command(id, 'running') })
      list.push({ type: 'item_delta', item: id, channel: 'stdout', offset: 0, text: word })
      list.push({ type: 'item_delta', item: id, channel: 'stderr', offset: 0, text: word })
      list.push({ type: 'item_delta', item: id, channel: 'stdout', offset: word.length, text: 'x' })
    }
    if (id % 3 !== 2) {
      const done = id % 2 === 0 ? text(id, `${word}!`, 'done') : command(id, 'done')
      list.push({ type: 'item_completed', item: done })
    }
  })
  list.push({
    type: 'iteration_answered',
    turn: 1,
    iteration: 1,
    usage: usage(10, 5),
    finish: 'stop',
    first_byte: 3,
  })
  list.push(queued('later'))
  return list
}

describe('folding', () => {
  test('any split of the events into batches gives the same state', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 12 }), { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 40 }),
        (words, sizes) => {
          const events = numbered(messages(words))
          const whole = empty()
          expect(fold(whole, events).gap).toBe(false)

          const split = empty()
          for (let from = 0, turn = 0; from < events.length; turn++) {
            const size = sizes[turn % sizes.length] ?? 1
            fold(split, events.slice(from, from + size))
            from += size
          }
          expect(split).toEqual(whole)
        },
      ),
      { numRuns: 200 },
    )
  })

  test('events become items, streamed text, usage and queue', () => {
    const events = numbered(messages(['a', 'b', 'c', 'd']))
    const whole = empty()
    fold(whole, events)
    expect(whole.items.map((one) => one.status)).toEqual(['done', 'done', 'running', 'done'])
    expect(whole.live.get(2)?.text).toBe('c!')
    expect(whole.turn?.iteration).toBe(1)
    expect(whole.usage.output).toBe(5100 + 5)
    expect(whole.queue.messages).toEqual([{ id: 1, text: 'later' }])
  })

  test('output keeps its true order and both streams', () => {
    const state = empty()
    fold(
      state,
      numbered([
        { type: 'item_started', item: command(0, 'running') },
        { type: 'item_delta', item: 0, channel: 'stdout', offset: 0, text: 'a' },
        { type: 'item_delta', item: 0, channel: 'stderr', offset: 0, text: 'b' },
        { type: 'item_delta', item: 0, channel: 'stderr', offset: 1, text: 'c' },
        { type: 'item_delta', item: 0, channel: 'stdout', offset: 1, text: 'd' },
      ]),
    )
    expect(state.live.get(0)?.output).toEqual([
      { stream: 'stdout', text: 'a' },
      { stream: 'stderr', text: 'bc' },
      { stream: 'stdout', text: 'd' },
    ])
  })

  test('live output keeps its end only', () => {
    const state = empty()
    const half = 'x'.repeat(LIVE_OUTPUT - 10)
    fold(
      state,
      numbered([
        { type: 'item_started', item: command(0, 'running') },
        { type: 'item_delta', item: 0, channel: 'stdout', offset: 0, text: half },
        { type: 'item_delta', item: 0, channel: 'stderr', offset: 0, text: 'the end of it all' },
      ]),
    )
    const output = state.live.get(0)?.output ?? []
    expect(output.reduce((sum, piece) => sum + piece.text.length, 0)).toBe(LIVE_OUTPUT)
    expect(output[output.length - 1]?.text).toBe('the end of it all')
  })

  test('waiting for the person is not working time', () => {
    const state = empty()
    const at = (seq: number, time: number, msg: EventMsg): Event => ({ session: SESSION, seq, at: time, msg })
    fold(state, [
      at(1, 0, { type: 'turn_started', turn: 1, iteration_limit: 25, without_model: false }),
      at(2, 100, { type: 'turn_changed', turn: 1, status: { state: 'waiting_for_approval' } }),
      at(3, 400, { type: 'turn_changed', turn: 1, status: { state: 'using_tools' } }),
      at(4, 450, { type: 'turn_changed', turn: 1, status: { state: 'completed' } }),
    ])
    expect(state.turn).toMatchObject({ active: 150, waiting: 300, status_since: 450 })
    expect(clockOf({ state: 'completed' })).toBe('none')
  })

  test('a limit that was raised shows at once', () => {
    const state = empty()
    fold(
      state,
      numbered([
        { type: 'turn_started', turn: 1, iteration_limit: 25, without_model: false },
        { type: 'limit_changed', turn: 1, limit: 'iterations', allowed: 35 },
      ]),
    )
    expect(state.turn?.iteration_limit).toBe(35)
  })
})

describe('what goes on beside the turn', () => {
  const process = (id: string): Process => ({ id, call: 't1.i1.c1', command: 'npm run dev', started: 5 })

  test('processes come and go by their id', () => {
    const state = empty()
    const events = numbered([
      { type: 'process_started', process: process('p1') },
      { type: 'process_started', process: process('p2') },
      { type: 'process_ended', process: 'p1', end: { how: 'ended_by_person' } },
    ])
    expect(fold(state, events)).toMatchObject({ session: true, gap: false })
    expect(state.processes.map((one) => one.id)).toEqual(['p2'])
  })

  test('a queued message leaves the queue with the item it became', () => {
    const state = empty()
    const sent = item(
      0,
      { type: 'user_message', text: 'a', delivery: { delivery: 'start' }, queued: 1 },
      'done',
    )
    const touched = fold(state, numbered([queued('a', 'b'), { type: 'item_completed', item: sent }]))
    expect(touched.session).toBe(true)
    expect(state.queue.messages).toEqual([{ id: 2, text: 'b' }])
  })

  test('a queue that a stop holds says so', () => {
    const state = empty()
    fold(
      state,
      numbered([{ type: 'queue_changed', queue: { messages: [{ id: 1, text: 'a' }], held: true } }]),
    )
    expect(state.queue.held).toBe(true)
  })

  test('the task list is replaced as a whole', () => {
    const state = empty()
    const tasks: PlanTask[] = [{ text: 'a', state: 'doing' }]
    fold(
      state,
      numbered([
        { type: 'plan_changed', tasks: [] },
        { type: 'plan_changed', tasks },
      ]),
    )
    expect(state.plan).toEqual(tasks)
  })

  test('tokens of a sub-agent are the turn’s and the session’s', () => {
    const state = empty()
    const before = state.usage.output
    fold(
      state,
      numbered([
        { type: 'turn_started', turn: 1, iteration_limit: 25, without_model: false },
        { type: 'sub_agent_used', call: 't1.i1.c1', usage: usage(10, 7) },
      ]),
    )
    expect(state.usage.output).toBe(before + 7)
    expect(state.turn?.usage.output).toBe(7)
  })

  test('waiting for the folder and its end', () => {
    const state = empty()
    const [waits, goes] = numbered([
      { type: 'folder_awaited', waiting: true },
      { type: 'folder_awaited', waiting: false },
    ])
    if (waits === undefined || goes === undefined) throw new Error('no events')
    fold(state, [waits])
    expect(state.waitsForFolder).toBe(true)
    fold(state, [goes])
    expect(state.waitsForFolder).toBe(false)
  })

  test('a workflow counts its steps, keeps its answers and is gone at its end', () => {
    const state = empty()
    const events = numbered([
      { type: 'workflow_started', plan: { name: 'tidy', title: 'Tidy', steps: [] } },
      { type: 'workflow_stepped', step: 2 },
      { type: 'workflow_answered', name: 'sure', answer: 'yes' },
      { type: 'workflow_ended', end: 'completed' },
    ])
    fold(state, events.slice(0, 3))
    expect(state.workflow).toMatchObject({ begun: 2, answers: { sure: 'yes' } })
    fold(state, events.slice(3))
    expect(state.workflow).toBeUndefined()
  })

  test('a call runs since the moment the core says it began', () => {
    const state = empty()
    const waiting = command(0, 'waiting')
    const running = command(0, 'running')
    if (running.kind.type !== 'call') throw new Error('no call')
    running.kind = { ...running.kind, began: 700 }
    fold(
      state,
      numbered([
        { type: 'item_started', item: waiting },
        { type: 'item_updated', item: running },
      ]),
    )
    expect(state.live.get(0)?.since).toBe(700)
  })
})

describe('gaps', () => {
  const started: EventMsg = { type: 'item_started', item: text(0, '', 'running') }

  test('a missing number is a gap and nothing after it is folded', () => {
    const state = empty()
    const events = numbered([started, queued('a'), queued('a', 'b')])
    events.splice(1, 1)
    expect(fold(state, events).gap).toBe(true)
    expect(state.seq).toBe(1)
    expect(state.queue.messages).toEqual([])
  })

  test('a delta from the future is a gap', () => {
    const state = empty()
    fold(state, numbered([started]))
    const [late] = numbered([{ type: 'item_delta', item: 0, channel: 'text', offset: 0, text: 'a' }], 6)
    expect(late && fold(state, [late]).gap).toBe(true)
  })

  test('an offset that does not fit is a gap', () => {
    const state = empty()
    const touched = fold(
      state,
      numbered([started, { type: 'item_delta', item: 0, channel: 'text', offset: 5, text: 'late' }]),
    )
    expect(touched.gap).toBe(true)
  })

  test('an item that skips one is a gap', () => {
    expect(fold(empty(), numbered([{ type: 'item_started', item: text(3, '', 'running') }])).gap).toBe(true)
  })

  test('events that the snapshot already holds are passed over', () => {
    const state = empty()
    const events = numbered([started, queued('a')])
    fold(state, events)
    expect(fold(state, events).gap).toBe(false)
    expect(state.queue.messages).toEqual([{ id: 1, text: 'a' }])
  })

  test('after a snapshot the offsets go on where the text ends', () => {
    const half = { ...story.snapshot(undefined), seq: 7, items: [text(0, 'half', 'running')], item_count: 1 }
    const state = fromSnapshot(half)
    const touched = fold(state, [
      {
        session: SESSION,
        seq: 7,
        at: 1,
        msg: { type: 'item_delta', item: 0, channel: 'text', offset: 4, text: ' way' },
      },
    ])
    expect(touched.gap).toBe(false)
    expect(state.live.get(0)?.text).toBe('half way')
  })
})

test('older items are put in front only where they fit', () => {
  const state = fromSnapshot({ ...story.snapshot(undefined), items: [text(5, 'e', 'done')], item_count: 6 })
  expect(prepend(state, [text(2, 'b', 'done')])).toBe(false)
  expect(prepend(state, [text(3, 'c', 'done'), text(4, 'd', 'done')])).toBe(true)
  expect(state.firstLoaded).toBe(3)
  expect(state.items.map((one) => one.id)).toEqual([3, 4, 5])
})
