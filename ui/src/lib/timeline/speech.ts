/**
 * What the live regions say about a session: approvals, ends, pauses, answers that are ready. Text is not announced
 * while it streams, and numbers that tick never are.
 */
import type { ApprovalRequest, CallId, Item, ItemId, Turn } from '$lib/protocol'
import { announcer, type Announcer } from '../announce'
import { announcements as words } from '../texts/shell'
import { overdueCalls } from '../turn/overdue'
import { spoken } from '../texts/approvals'
import { notes, turnWords } from '../texts/timeline'

export interface Heard {
  turn: Turn | undefined
  approvals: readonly ApprovalRequest[]
  /** The newest items. */
  items: readonly Item[]
}

/** From here on the end of the iterations is said. */
const WARN_AT = 0.8

export class SessionSpeech {
  #state: string | undefined
  #approvals = new Set<string>()
  #lastText: ItemId = -1
  #warned = 0
  #late = new Set<CallId>()
  #begun = false

  constructor(private readonly out: Announcer = announcer) {}

  hear(heard: Heard): void {
    if (this.#begun) this.#speak(heard)
    this.#begun = true
    this.#state = heard.turn?.status.state
    this.#approvals = new Set(heard.approvals.map((approval) => approval.id))
    this.#late = new Set(overdueCalls(heard.items).map(({ call }) => call.call))
    this.#lastText = Math.max(this.#lastText, ...finishedTexts(heard.items).map((item) => item.id))
  }

  #speak(heard: Heard): void {
    for (const approval of heard.approvals) {
      if (!this.#approvals.has(approval.id)) {
        this.out.interrupt(
          words.approvalNeeded(spoken(approval), approval.origin?.name, heard.approvals.length),
        )
      }
    }
    for (const { call } of overdueCalls(heard.items)) {
      if (!this.#late.has(call.call)) this.out.interrupt(words.overdue(call.target))
    }
    const fresh = finishedTexts(heard.items).filter((item) => item.id > this.#lastText)
    const newest = fresh[fresh.length - 1]
    if (newest !== undefined) this.out.say(words.answerReady(wordCount(newest)))
    if (heard.turn !== undefined) this.#speakOfTurn(heard.turn, heard.items)
  }

  #speakOfTurn(turn: Turn, items: readonly Item[]): void {
    const left = turn.iteration_limit - turn.iteration
    if (turn.iteration > this.#warned && turn.iteration >= turn.iteration_limit * WARN_AT && left > 0) {
      this.#warned = turn.iteration
      this.out.say(words.iterationsLeft(turn.iteration, turn.iteration_limit, left))
    }
    const state = turn.status
    if (state.state === this.#state) return
    switch (state.state) {
      case 'waiting_for_answer':
        this.out.interrupt(words.question(openQuestion(items)))
        break
      case 'paused':
        if (state.cause.cause === 'limits') {
          this.out.interrupt(
            words.limit(state.cause.reached.map((reached) => notes.limit(reached).title).join(', ')),
          )
        } else {
          this.out.say(words.paused)
        }
        break
      case 'completed':
        this.out.say(words.turnDone(summaryOf(items)))
        break
      case 'failed':
        this.out.interrupt(words.turnFailed(errorOf(items)))
        break
      case 'stopped':
        this.out.say(words.turnStopped)
        break
    }
  }
}

function finishedTexts(items: readonly Item[]): Item[] {
  return items.filter(
    (item) =>
      item.status === 'done' &&
      (item.kind.type === 'agent_text' || (item.kind.type === 'call' && item.kind.verb === 'say')),
  )
}

function wordCount(item: Item): number {
  const text =
    item.kind.type === 'agent_text' ? item.kind.text : item.kind.type === 'call' ? item.kind.arguments : ''
  return text.split(/\s+/).filter((word) => word !== '').length
}

function lastKind<K extends Item['kind']['type']>(
  items: readonly Item[],
  type: K,
): Extract<Item['kind'], { type: K }> | undefined {
  for (let at = items.length - 1; at >= 0; at--) {
    const kind = items[at]?.kind
    if (kind?.type === type) return kind as Extract<Item['kind'], { type: K }>
  }
  return undefined
}

function openQuestion(items: readonly Item[]): string {
  const call = items.find(
    (item) => item.kind.type === 'call' && item.kind.verb === 'ask' && item.status === 'running',
  )
  return call?.kind.type === 'call' ? call.kind.target : ''
}

function summaryOf(items: readonly Item[]): string {
  const summary = lastKind(items, 'turn_summary')
  return summary === undefined ? '' : turnWords(summary.report)
}

function errorOf(items: readonly Item[]): string {
  return lastKind(items, 'error')?.error.message ?? ''
}
