/** What the docks and the strip need to know of a session's items, read from the loaded ones. */
import type { CallItem, Item, ModelError } from '$lib/protocol'
import { overdueCalls, type Overdue } from './overdue'
import type { OpenSession } from '$lib/timeline/timeline.svelte'

export class SessionFacts {
  readonly #session: OpenSession
  readonly items: readonly Item[] = $derived.by(() => this.#session.order.map((cell) => cell.item))
  /** Questions of the agent that wait for an answer. */
  readonly questions: readonly { call: CallItem; iteration: number }[] = $derived.by(() => this.#questions())
  /** Commands that passed their time limit. */
  readonly overdue: readonly Overdue[] = $derived.by(() => overdueCalls(this.#ofTurn()))
  /** The call that runs, for the words of the strip. */
  readonly running: { tool: string; target: string } | undefined = $derived.by(() => this.#running())
  /** Why the turn failed. */
  readonly failure: string | undefined = $derived.by(() => this.#failure())

  /** Why the request is tried again. */
  readonly retried: ModelError | undefined = $derived.by(() => this.#retried())

  constructor(session: OpenSession) {
    this.#session = session
  }

  /** A question is asked once its call runs; it stays open through a restart. */
  #questions(): { call: CallItem; iteration: number }[] {
    return this.#ofTurn().flatMap(({ kind, status, iteration }) =>
      kind.type === 'call' && kind.verb === 'ask' && status === 'running' ? [{ call: kind, iteration }] : [],
    )
  }

  #running(): { tool: string; target: string } | undefined {
    if (this.#session.turn?.status.state !== 'using_tools') return undefined
    const item = this.#ofTurn().findLast((one) => one.kind.type === 'call' && one.status === 'running')
    return item?.kind.type === 'call' ? { tool: item.kind.tool, target: item.kind.target } : undefined
  }

  #failure(): string | undefined {
    if (this.#session.turn?.status.state !== 'failed') return undefined
    const item = this.#ofTurn().findLast((one) => one.kind.type === 'error')
    return item?.kind.type === 'error' ? item.kind.error.message : undefined
  }

  #retried(): ModelError | undefined {
    if (this.#session.turn?.status.state !== 'waiting_to_retry') return undefined
    const item = this.#ofTurn().findLast((one) => one.kind.type === 'retry')
    return item?.kind.type === 'retry' ? item.kind.error : undefined
  }

  #ofTurn(): Item[] {
    const turn = this.#session.turn?.turn
    return this.items.filter((item) => item.turn === turn)
  }
}
