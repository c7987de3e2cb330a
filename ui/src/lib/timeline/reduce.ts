/**
 * The fold from a snapshot and its events to what a view shows. No framework, no clock, no I/O: the same events give
 * the same state, however they were cut into batches. A delta costs the same however long the session is: items are
 * replaced one by one, lists are never copied.
 *
 * A hole in the numbers or in the offsets is reported, not papered over: the owner attaches again.
 */
import type {
  ApprovalRequest,
  DeltaChannel,
  Event,
  EventMsg,
  Item,
  ItemId,
  Micros,
  PlanTask,
  Process,
  Queue,
  Rule,
  RuleId,
  SessionConfig,
  SessionId,
  SessionSnapshot,
  SourceUsage,
  Turn,
  Usage,
  WorkflowRun,
} from '$lib/protocol'
import { foldSession } from './session'
import type { Raised } from '../turn/budget'
import { expectCost, foldSpending } from './spending'

/** A stretch of live output of one stream. */
export interface OutputPiece {
  stream: 'stdout' | 'stderr'
  text: string
}

/** What has streamed into an item that is not complete yet. */
export interface Live {
  text: string
  arguments: string
  /** The end of the output in true order, at most {@link LIVE_OUTPUT} characters. */
  output: OutputPiece[]
  /** When the call began to run; the item itself starts when the model asks for it. */
  since: number | undefined
  /** Length in UTF-16 units per channel; absent when it is not known where the channel stands. */
  lengths: Partial<Record<DeltaChannel, number>>
}

/** A rule that let further calls start that were waiting for the person. */
export interface Covered {
  rule: RuleId
  calls: number
}

/** How much live output is kept for display, in UTF-16 units. */
export const LIVE_OUTPUT = 64 * 1024

const LIVE_PIECES = 256

export interface TimelineState {
  session: SessionId
  seq: number
  config: SessionConfig
  turn: Turn | undefined
  /** Loaded items in order; the first one's id is `firstLoaded`. */
  items: Item[]
  firstLoaded: ItemId
  itemCount: number
  live: Map<ItemId, Live>
  approvals: ApprovalRequest[]
  /** All rules in force. */
  rules: Rule[]
  covered: Covered | undefined
  queue: Queue
  plan: PlanTask[]
  /** Background processes that run, oldest first. */
  processes: Process[]
  workflow: WorkflowRun | undefined
  waitsForFolder: boolean
  usage: Usage
  /** The same by what it was used for. */
  sources: SourceUsage[]
  /** Bounds on money and tokens that were raised. */
  raised: Raised
  /** What requests were expected to cost, by iteration: those that take a good part of what is left. */
  expected: Readonly<Record<string, Micros>>
}

/** What a batch touched, for a view that keeps one cell per item. */
export interface Touched {
  items: Set<ItemId>
  live: Set<ItemId>
  appended: boolean
  /** Anything of the session that is not an item. */
  session: boolean
  /** The numbers do not fit: attach again. Events after the gap were not folded. */
  gap: boolean
}

export function fromSnapshot(snapshot: SessionSnapshot): TimelineState {
  const live = new Map<ItemId, Live>()
  for (const item of snapshot.items) {
    if (item.ended === undefined) live.set(item.id, liveOfSnapshot(item))
  }
  const state: TimelineState = {
    session: snapshot.session,
    seq: snapshot.seq,
    config: snapshot.config,
    turn: snapshot.turn,
    items: [...snapshot.items],
    firstLoaded: snapshot.items[0]?.id ?? snapshot.item_count,
    itemCount: snapshot.item_count,
    live,
    approvals: [...snapshot.approvals],
    rules: [...snapshot.rules],
    covered: undefined,
    queue: snapshot.queue,
    plan: snapshot.plan,
    processes: [...snapshot.processes],
    workflow: snapshot.workflow,
    waitsForFolder: snapshot.waits_for_folder,
    usage: snapshot.usage,
    sources: snapshot.sources,
    raised: snapshot.raised,
    expected: {},
  }
  const { turn, estimate } = snapshot
  if (turn !== undefined) expectCost(state, turn.turn, turn.iteration, estimate)
  return state
}

export function fold(state: TimelineState, events: readonly Event[]): Touched {
  const touched: Touched = {
    items: new Set(),
    live: new Set(),
    appended: false,
    session: false,
    gap: false,
  }
  for (const event of events) {
    if (event.session !== state.session) continue
    if (isTransient(event.msg)) {
      if (event.seq > state.seq) touched.gap = true
    } else {
      if (event.seq <= state.seq) continue
      if (event.seq !== state.seq + 1) touched.gap = true
      else state.seq = event.seq
    }
    if (!touched.gap) foldOne(state, event, touched)
    if (touched.gap) break
  }
  return touched
}

/** Puts older items in front. They must end where the loaded ones begin. */
export function prepend(state: TimelineState, older: readonly Item[]): boolean {
  const last = older[older.length - 1]
  const first = older[0]
  if (first === undefined || last === undefined || last.id + 1 !== state.firstLoaded) return false
  state.items = [...older, ...state.items]
  state.firstLoaded = first.id
  return true
}

export function itemById(state: TimelineState, id: ItemId): Item | undefined {
  return state.items[id - state.firstLoaded]
}

function isTransient(message: EventMsg): boolean {
  return message.type === 'item_delta' || message.type === 'op_refused'
}

function foldOne(state: TimelineState, event: Event, touched: Touched): void {
  const message = event.msg
  switch (message.type) {
    case 'item_started':
    case 'item_updated':
    case 'item_completed':
      putItem(state, event, message.item, touched)
      break
    case 'item_delta':
      addDelta(state, message, touched)
      break
    default:
      touched.session = true
      foldSpending(state, event)
      foldSession(state, event)
  }
}

function putItem(state: TimelineState, event: Event, item: Item, touched: Touched): void {
  const place = item.id - state.firstLoaded
  if (place === state.items.length) {
    state.items.push(item)
    state.itemCount = Math.max(state.itemCount, item.id + 1)
    touched.appended = true
  } else if (place > state.items.length) {
    touched.gap = true
    return
  } else if (place >= 0) {
    state.items[place] = item
  }
  touched.items.add(item.id)
  leaveQueue(state, item, touched)
  if (event.msg.type === 'item_completed' || item.ended !== undefined) {
    state.live.delete(item.id)
  } else {
    const live = state.live.get(item.id) ?? emptyLive()
    const begins = item.status === 'running' && live.since === undefined
    state.live.set(item.id, begins ? { ...live, since: beganAt(item) ?? event.at } : live)
  }
  touched.live.add(item.id)
}

/** A queued message has left the queue with the item that it became. */
function leaveQueue(state: TimelineState, item: Item, touched: Touched): void {
  const queued = item.kind.type === 'user_message' ? item.kind.queued : undefined
  if (queued === undefined) return
  state.queue = { ...state.queue, messages: state.queue.messages.filter((one) => one.id !== queued) }
  touched.session = true
}

function addDelta(
  state: TimelineState,
  delta: Extract<EventMsg, { type: 'item_delta' }>,
  touched: Touched,
): void {
  const live = state.live.get(delta.item)
  if (live === undefined) {
    // A delta of an item that is complete or not loaded changes nothing that is shown.
    if (delta.item >= state.itemCount) touched.gap = true
    return
  }
  const length = live.lengths[delta.channel]
  if (length !== undefined && length !== delta.offset) {
    touched.gap = true
    return
  }
  const next: Live = {
    ...live,
    lengths: { ...live.lengths, [delta.channel]: delta.offset + delta.text.length },
  }
  if (delta.channel === 'text') next.text = live.text + delta.text
  else if (delta.channel === 'arguments') next.arguments = live.arguments + delta.text
  else next.output = addOutput(live.output, { stream: delta.channel, text: delta.text })
  state.live.set(delta.item, next)
  touched.live.add(delta.item)
}

/** Joins neighbours of one stream and drops what lies before the kept end. */
function addOutput(output: readonly OutputPiece[], piece: OutputPiece): OutputPiece[] {
  const last = output[output.length - 1]
  const joined =
    last !== undefined && last.stream === piece.stream
      ? [...output.slice(0, -1), { stream: last.stream, text: last.text + piece.text }]
      : [...output, piece]
  if (joined.length > LIVE_PIECES) joined.shift()
  let over = joined.reduce((sum, part) => sum + part.text.length, 0) - LIVE_OUTPUT
  while (over > 0) {
    const first = joined[0]
    if (first === undefined) break
    if (first.text.length <= over) {
      joined.shift()
      over -= first.text.length
    } else {
      joined[0] = { stream: first.stream, text: first.text.slice(over) }
      over = 0
    }
  }
  return joined
}

const beganAt = (item: Item): number | undefined => (item.kind.type === 'call' ? item.kind.began : undefined)

function emptyLive(): Live {
  return {
    text: '',
    arguments: '',
    output: [],
    since: undefined,
    lengths: { text: 0, arguments: 0, stdout: 0, stderr: 0 },
  }
}

/** A snapshot's item holds what has streamed so far; of a command's two streams only their sum is known. */
function liveOfSnapshot(item: Item): Live {
  const kind = item.kind
  if (kind.type === 'agent_text' || kind.type === 'reasoning') {
    return { ...emptyLive(), text: kind.text, lengths: { text: kind.text.length } }
  }
  if (kind.type === 'call') {
    const output = kind.output?.text ?? ''
    return {
      ...emptyLive(),
      arguments: kind.arguments,
      since: item.status === 'running' ? (kind.began ?? item.started) : undefined,
      output: output === '' ? [] : [{ stream: 'stdout', text: output }],
      lengths: { arguments: kind.arguments.length },
    }
  }
  return emptyLive()
}
