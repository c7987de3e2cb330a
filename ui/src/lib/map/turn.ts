/**
 * One turn as a map: what the model, its calls and the person did, and when. Pure; the timeline, the graph, the table
 * and the exports are all made of this list, so that they cannot show different calls.
 *
 * Everything is read from items, of which a session keeps all. What they do not say is left open: when a request was
 * sent, for example, is only known to lie between the last result and the first word of the answer.
 */
import type {
  ApprovalRequest,
  CallId,
  CallItem,
  CheckRun,
  Item,
  ItemId,
  ItemStatus,
  RiskClass,
  Turn,
  TurnId,
  Verb,
} from '$lib/protocol'
import { tokensOf } from '$lib/turn/usage'

/** A row of the picture: the model, each class of risk, sub-agents, the person. */
export type Lane = 'model' | RiskClass | 'agent' | 'you'

export const laneOrder: readonly Lane[] = [
  'model',
  'read',
  'write',
  'command',
  'delete',
  'network',
  'outside',
  'external',
  'protected',
  'agent',
  'you',
]

/** Moments in milliseconds since 1970. */
export interface Span {
  from: number
  to: number
}

/** What a bar is about. */
export type Subject = 'answer' | 'call' | 'message' | 'undo'

export interface MapBar {
  key: string
  subject: Subject
  /** The item to go to in the timeline. */
  item: ItemId
  lane: Lane
  iteration: number
  /** From its first sign to its end, or to now. */
  span: Span
  /** It has not ended. */
  open: boolean
  outcome: ItemStatus
  target: string
  verb?: Verb
  tool?: string
  call?: CallId
  /** The part in which it waited for the person. */
  wait?: Span
  /** The part in which it ran; of an answer, the part in which it came. */
  busy?: Span
  /** Of an answer: from the last result to its first word. The request was sent somewhere in it. */
  lead?: Span
  /** Of an answer: waits before another try. */
  retries: readonly Span[]
  /** Milliseconds that the tool itself reports. */
  took?: number
  exit?: number
  /** Tokens, where an item names them: sub-agents. */
  tokens?: number
  /** Its changes can be taken back, or put back. */
  undo?: 'undo' | 'redo'
  check?: CheckRun
  /** Who decided it, when it was the person. */
  decided?: 'approved' | 'rejected'
  /** The first line of its output, when it failed. */
  reason?: string
}

export interface TurnMap {
  turn: TurnId
  span: Span
  /** In the order of their begin. */
  bars: readonly MapBar[]
  /** Where each iteration begins. */
  iterations: readonly { iteration: number; at: number }[]
  live: boolean
}

export interface MapSurroundings {
  now: number
  /** The session's newest turn, when it is this one. */
  turn?: Turn | undefined
  approvals: readonly ApprovalRequest[]
}

/** The map of a turn from the session's items; nothing when none of it is loaded. */
export function turnMap(all: readonly Item[], turn: TurnId, around: MapSurroundings): TurnMap | undefined {
  const items = all.filter((item) => item.turn === turn)
  const first = items[0]
  if (first === undefined) return undefined
  const answers = answersOf(items, around)
  const answered = new Map(answers.map((answer) => [answer.iteration, answer.busy?.to ?? answer.span.to]))
  const bars = [...answers, ...items.flatMap((item) => barOf(item, around, answered) ?? [])]
  bars.sort((one, other) => one.span.from - other.span.from || one.item - other.item)
  const to = bars.reduce((latest, bar) => Math.max(latest, bar.span.to), first.started)
  return {
    turn,
    span: { from: first.started, to },
    bars,
    iterations: answers.map(({ iteration, span }) => ({ iteration, at: span.from })),
    live: bars.some((bar) => bar.open),
  }
}

/** The lane of a call: what the model only says stands with the model, the rest with its strictest class. */
export function laneOf(call: CallItem): Lane {
  if (call.verb === 'delegate') return 'agent'
  if (call.verb === 'ask') return 'you'
  if (call.verb === 'plan' || call.verb === 'say' || call.verb === 'finish') return 'model'
  return call.classes.at(-1) ?? 'read'
}

const isText = (item: Item): boolean => item.kind.type === 'agent_text' || item.kind.type === 'reasoning'

/** Whether an item came in the model's answer; a check is a call of Paddock's own. */
const isAnswered = (item: Item): boolean =>
  isText(item) || (item.kind.type === 'call' && item.kind.check === undefined)

function byIteration(items: readonly Item[]): Map<number, Item[]> {
  const found = new Map<number, Item[]>()
  for (const item of items) {
    if (item.iteration < 1) continue
    const list = found.get(item.iteration)
    if (list === undefined) found.set(item.iteration, [item])
    else list.push(item)
  }
  return found
}

function answersOf(items: readonly Item[], around: MapSurroundings): MapBar[] {
  const iterations = byIteration(items)
  const answers: MapBar[] = []
  for (const [iteration, own] of iterations) {
    const answer = answerOf(iteration, own, around.now)
    if (answer === undefined) continue
    const lead = leadOf(items, iterations.get(iteration - 1) ?? [], answer)
    answers.push(lead === undefined ? answer : { ...answer, lead })
  }
  const expected = expectedAnswer(answers, items, around)
  return expected === undefined ? answers : [...answers, expected]
}

function answerOf(iteration: number, own: readonly Item[], now: number): MapBar | undefined {
  const said = own.filter(isAnswered)
  const retries = own
    .filter((item) => item.kind.type === 'retry')
    .map((item) => ({ from: item.started, to: item.ended ?? now }))
  const error = own.find((item) => item.kind.type === 'error')
  const begin = said[0] ?? own.find((item) => item.kind.type === 'retry') ?? error
  if (begin === undefined) return undefined
  const open = said.some((item) => isText(item) && item.ended === undefined)
  const ends = said.map((item) => (isText(item) ? (item.ended ?? now) : item.started))
  const to = Math.max(begin.started, ...ends, ...retries.map((retry) => retry.to))
  const busy = said[0] === undefined ? undefined : { from: said[0].started, to }
  const stopped = said.some((item) => isText(item) && item.status === 'stopped')
  return {
    key: `answer-${iteration}`,
    subject: 'answer',
    item: begin.id,
    lane: 'model',
    iteration,
    span: { from: begin.started, to },
    open,
    outcome: open ? 'running' : error !== undefined ? 'failed' : stopped ? 'stopped' : 'done',
    target: '',
    retries,
    ...(busy === undefined ? {} : { busy }),
    ...(error?.kind.type === 'error' ? { reason: error.kind.error.message } : {}),
  }
}

const PAUSES: ReadonlySet<string> = new Set(['limit', 'guard', 'breaker', 'recovery', 'error', 'role_change'])

/** From the last result to the first word; unknown when the turn may have stood still in between. */
function leadOf(items: readonly Item[], before: readonly Item[], answer: MapBar): Span | undefined {
  const first = items[0]
  if (first === undefined) return undefined
  const from = answer.iteration === 1 ? first.started : lastEnd(before)
  const to = answer.span.from
  if (from === undefined || from >= to) return undefined
  const stood = items.some(
    ({ kind, started }) =>
      started >= from &&
      started <= to &&
      (PAUSES.has(kind.type) || (kind.type === 'user_message' && kind.delivery.delivery === 'note')),
  )
  return stood ? undefined : { from, to }
}

function lastEnd(items: readonly Item[]): number | undefined {
  let latest: number | undefined
  for (const item of items) {
    if (item.ended === undefined) return undefined
    latest = Math.max(latest ?? 0, item.ended)
  }
  return latest
}

/** The request that is under way while nothing of its answer has come. */
function expectedAnswer(
  answers: readonly MapBar[],
  items: readonly Item[],
  { turn, now }: MapSurroundings,
): MapBar | undefined {
  const state = turn?.status.state
  const last = items.at(-1)
  if (turn === undefined || last === undefined || (state !== 'thinking' && state !== 'finishing_up')) {
    return undefined
  }
  if (answers.some((answer) => answer.iteration >= turn.iteration)) return undefined
  const span = { from: turn.status_since, to: Math.max(now, turn.status_since) }
  return {
    key: `answer-${turn.iteration}`,
    subject: 'answer',
    item: last.id,
    lane: 'model',
    iteration: turn.iteration,
    span,
    open: true,
    outcome: 'running',
    target: '',
    lead: span,
    retries: [],
  }
}

function barOf(
  item: Item,
  around: MapSurroundings,
  answered: ReadonlyMap<number, number>,
): MapBar | undefined {
  switch (item.kind.type) {
    case 'call':
      return callBar(item, item.kind, around, answered.get(item.iteration) ?? item.started)
    case 'user_message':
      return { ...pointBar(item, 'message'), target: item.kind.text }
    case 'undo':
      return { ...pointBar(item, 'undo'), target: item.kind.files[0]?.path ?? '', call: item.kind.call }
    default:
      return undefined
  }
}

const pointBar = (item: Item, subject: Subject): MapBar => ({
  key: `item-${item.id}`,
  subject,
  item: item.id,
  lane: 'you',
  iteration: item.iteration,
  span: { from: item.started, to: item.started },
  open: false,
  outcome: item.status,
  target: '',
  retries: [],
})

function callBar(item: Item, call: CallItem, around: MapSurroundings, answered: number): MapBar {
  const end = item.ended ?? around.now
  const wait = waitOf(item, call, around, answered)
  const busy =
    call.began === undefined || call.verb === 'ask'
      ? undefined
      : { from: call.began, to: Math.max(call.began, end) }
  const used = call.sub_agent?.usage
  const output = call.output
  return {
    key: `item-${item.id}`,
    subject: 'call',
    item: item.id,
    lane: laneOf(call),
    iteration: item.iteration,
    span: { from: Math.min(item.started, end), to: Math.max(item.started, end) },
    open: item.ended === undefined,
    outcome: item.status,
    target: call.target,
    verb: call.verb,
    tool: call.tool,
    call: call.call,
    retries: [],
    ...(wait === undefined ? {} : { wait }),
    ...(busy === undefined ? {} : { busy }),
    ...(output === undefined ? {} : { took: output.duration }),
    ...(output?.exit_code === undefined ? {} : { exit: output.exit_code }),
    ...(used === undefined ? {} : { tokens: tokensOf(used) }),
    ...undoOf(item, call),
    ...(call.check === undefined ? {} : { check: call.check }),
    ...decidedOf(call),
    ...(item.status === 'failed' && output !== undefined ? { reason: firstWords(output.text) } : {}),
  }
}

/** The part in which a call waited for the person; an approval that still waits says since when. */
function waitOf(
  item: Item,
  call: CallItem,
  { approvals, now }: MapSurroundings,
  answered: number,
): Span | undefined {
  const asked = approvals.find((approval) => approval.call === call.call && approval.origin === undefined)
  if (asked !== undefined) return { from: Math.min(asked.requested, now), to: now }
  if (call.verb === 'ask') {
    const from = call.began ?? item.started
    return call.began === undefined && item.ended !== undefined
      ? undefined
      : { from, to: Math.max(from, item.ended ?? now) }
  }
  if (call.verdict?.by.by !== 'person') return undefined
  const from = Math.max(item.started, answered)
  const to = call.began ?? item.ended ?? now
  return to > from ? { from, to } : undefined
}

function decidedOf(call: CallItem): Pick<MapBar, 'decided'> {
  if (call.verdict?.by.by !== 'person') return {}
  return { decided: call.verdict.allowed ? 'approved' : 'rejected' }
}

function undoOf(item: Item, call: CallItem): Pick<MapBar, 'undo'> {
  if (item.status === 'undone') return { undo: 'redo' }
  return call.output?.changes?.some((change) => change.undoable) === true ? { undo: 'undo' } : {}
}

const firstWords = (text: string): string => text.trim().split('\n', 1)[0] ?? ''

/** Turns whose items are loaded, newest first, each with the words that began it. */
export function turnsOf(items: readonly Item[]): { turn: TurnId; text: string; whole: boolean }[] {
  const turns = new Map<TurnId, { turn: TurnId; text: string; whole: boolean }>()
  for (const { turn, kind } of items) {
    const known = turns.get(turn) ?? { turn, text: '', whole: false }
    if (kind.type === 'user_message' && kind.delivery.delivery === 'start') {
      known.text = firstWords(kind.text)
      known.whole = true
    } else if (kind.type === 'workflow' && known.text === '') {
      known.text = kind.title
    }
    turns.set(turn, known)
  }
  const first = items[0]
  // What begins with the session is whole, whatever began it.
  return [...turns.values()]
    .map((one) => ({ ...one, whole: one.whole || first?.id === 0 || one.turn !== first?.turn }))
    .reverse()
}
