/**
 * An open session as the components see it: fields that change when the session does. All folding is in reduce.ts;
 * this class attaches, attaches again after a gap, writes once per frame and sends ops.
 */
import { SvelteMap } from 'svelte/reactivity'
import type {
  CallItem,
  ClientError,
  Event,
  Item,
  ItemId,
  Op,
  PlanTask,
  Process,
  ProcessId,
  Queue,
  RawExchange,
  RuleId,
  SessionId,
  TurnId,
  WorkflowRun,
} from '$lib/protocol'
import type { Client } from '$lib/host/client'
import { hostError, type Attachment } from '$lib/host/host'
import { setAsideDoor, type SetAsideDoor } from '$lib/fence/setAside'
import { ruleDoor, type RuleDoor } from '$lib/rules/door'
import { fold, fromSnapshot, itemById, prepend, type Live, type TimelineState } from './reduce'
import { isOfSession } from './session'

/** Items per page of older history. */
const PAGE = 200

/** One item with what streams into it; replaced as a whole, so that only its row renders again. */
export class ItemCell {
  item = $state.raw<Item>() as Item
  live = $state.raw<Live | undefined>()

  constructor(item: Item, live: Live | undefined) {
    this.item = item
    this.live = live
  }

  get call(): CallItem | undefined {
    return this.item.kind.type === 'call' ? this.item.kind : undefined
  }

  /** Text of the agent or of its reasoning as far as it is known. */
  get text(): string {
    const kind = this.item.kind
    if (kind.type !== 'agent_text' && kind.type !== 'reasoning') return ''
    return kind.text === '' || this.item.ended === undefined ? (this.live?.text ?? kind.text) : kind.text
  }
}

export class OpenSession {
  readonly id: SessionId
  readonly #client: Client
  #state: TimelineState | undefined
  #attachment: Attachment | undefined
  #pending: Event[] = []
  #frame = 0
  #attaching = 0

  /** Opening; then live; `lost` while a gap is being closed or the core does not answer. */
  connection = $state<'opening' | 'live' | 'lost'>('opening')
  problem = $state.raw<ClientError | undefined>()
  config = $state.raw<TimelineState['config'] | undefined>()
  turn = $state.raw<TimelineState['turn']>()
  approvals = $state.raw<TimelineState['approvals']>([])
  /** All rules in force. */
  rules = $state.raw<TimelineState['rules']>([])
  /** The rule that has just let further calls start. */
  covered = $state.raw<TimelineState['covered']>()
  queue = $state.raw<Queue>({ messages: [], held: false })
  plan = $state.raw<readonly PlanTask[]>([])
  /** Background processes that run. */
  processes = $state.raw<readonly Process[]>([])
  workflow = $state.raw<WorkflowRun | undefined>()
  /** It waits until no other session changes this folder. */
  waitsForFolder = $state(false)
  usage = $state.raw<TimelineState['usage'] | undefined>()
  sources = $state.raw<TimelineState['sources']>([])
  raised = $state.raw<TimelineState['raised']>({})
  expected = $state.raw<TimelineState['expected']>({})
  /** The last op the core refused, until it is dismissed. */
  refused = $state.raw<ClientError | undefined>()
  itemCount = $state(0)
  loadingOlder = $state(false)
  /** Loaded items in order; a new array whenever one came or went. */
  order = $state.raw<readonly ItemCell[]>([])
  /** Counts every change of any item, for what must look at all of them. */
  revision = $state(0)
  readonly cells = new SvelteMap<ItemId, ItemCell>()

  constructor(client: Client, id: SessionId) {
    this.#client = client
    this.id = id
  }

  /** Whether a turn is going or pausing: not ended and not stopped. */
  get busy(): boolean {
    const state = this.turn?.status.state
    return (
      state !== undefined &&
      state !== 'completed' &&
      state !== 'stopped' &&
      state !== 'failed' &&
      state !== 'interrupted'
    )
  }

  async open(): Promise<void> {
    const attempt = ++this.#attaching
    this.#attachment?.detach()
    this.#attachment = undefined
    this.#pending = []
    try {
      const attachment = await this.#client.attach(this.id, (events) => {
        if (attempt === this.#attaching) this.#receive(events)
      })
      if (attempt !== this.#attaching) {
        attachment.detach()
        return
      }
      this.#attachment = attachment
      this.#state = fromSnapshot(attachment.snapshot)
      this.#showAll()
      this.problem = undefined
      this.connection = 'live'
    } catch (thrown) {
      if (attempt !== this.#attaching) return
      this.problem = hostError(thrown).error
      this.connection = 'lost'
    }
  }

  close(): void {
    this.#attaching++
    cancelAnimationFrame(this.#frame)
    this.#attachment?.detach()
    this.#attachment = undefined
  }

  /** Sends an op; a refusal is kept in `refused` and also thrown to the caller. */
  async submit(op: Op): Promise<void> {
    try {
      await this.#client.submit(this.id, op)
    } catch (thrown) {
      const error = hostError(thrown)
      this.refused = error.error
      throw error
    }
  }

  /** The same for callers that have nothing to undo: the refusal is shown by the shell. */
  send(op: Op): void {
    this.submit(op).catch(() => undefined)
  }

  /** The whole text of a call's output. */
  output(call: string): Promise<string> {
    return this.#client.output(this.id, call)
  }

  /** The last part of what a background process has printed. */
  processOutput(process: ProcessId): Promise<string> {
    return this.#client.processOutput(this.id, process)
  }

  /** What an iteration sent and got; empty when it is no longer kept. */
  raw(turn: TurnId, iteration: number): Promise<RawExchange[]> {
    return this.#client.raw(this.id, turn, iteration)
  }

  /** Another session of the same core, for a sub-agent of this one. */
  nested(id: SessionId): OpenSession {
    return new OpenSession(this.#client, id)
  }

  /** Loads the page before the loaded items; resolves with whether something came. */
  async loadOlder(): Promise<boolean> {
    const state = this.#state
    if (state === undefined || this.loadingOlder || state.firstLoaded === 0) return false
    this.loadingOlder = true
    try {
      const to = state.firstLoaded
      const older = await this.#client.items(this.id, Math.max(0, to - PAGE), to)
      if (state !== this.#state || !prepend(state, older)) return false
      for (const item of older) this.cells.set(item.id, new ItemCell(item, undefined))
      this.#showOrder()
      return true
    } catch (thrown) {
      this.refused = hostError(thrown).error
      return false
    } finally {
      this.loadingOlder = false
    }
  }

  /** The rules beyond this session. */
  readonly rulesOfProject: RuleDoor = ruleDoor(
    () => this.#client,
    () => this.config?.project ?? '',
  )

  /** What was set aside after commands of the project. */
  readonly setAside: SetAsideDoor = setAsideDoor(
    () => this.#client,
    () => this.config?.project ?? '',
    () => this.id,
  )

  /** Takes a rule back, wherever it is kept; what has started goes on. */
  async removeRule(rule: RuleId): Promise<void> {
    const kept = this.rules.find(({ id }) => id === rule)
    if (kept === undefined || isOfSession(kept))
      await this.#client.submit(this.id, { op: 'remove_rule', rule })
    else await this.rulesOfProject.remove(rule)
    if (this.covered?.rule === rule) this.dismissCovered()
  }

  /** The line about the covered calls has been read. */
  dismissCovered(): void {
    if (this.#state !== undefined) this.#state.covered = undefined
    this.covered = undefined
  }

  get hasOlder(): boolean {
    return (this.order[0]?.item.id ?? 0) > 0
  }

  #receive(events: Event[]): void {
    this.#pending.push(...events)
    if (this.#frame !== 0) return
    if (document.hidden) this.#flush()
    else this.#frame = requestAnimationFrame(() => this.#flush())
  }

  #flush(): void {
    this.#frame = 0
    const state = this.#state
    if (state === undefined) return
    const events = this.#pending
    this.#pending = []
    for (const { msg } of events) if (msg.type === 'op_refused') this.refused = msg.error
    const touched = fold(state, events)
    for (const id of touched.items) this.#showItem(state, id)
    for (const id of touched.live) {
      const cell = this.cells.get(id)
      if (cell !== undefined) cell.live = state.live.get(id)
    }
    if (touched.appended) this.#showOrder()
    if (touched.items.size > 0) this.revision++
    if (touched.session) this.#showSession(state)
    if (touched.gap) {
      this.connection = 'lost'
      void this.open()
    }
  }

  #showItem(state: TimelineState, id: ItemId): void {
    const item = itemById(state, id)
    if (item === undefined) return
    const cell = this.cells.get(id)
    if (cell === undefined) this.cells.set(id, new ItemCell(item, state.live.get(id)))
    else cell.item = item
  }

  #showOrder(): void {
    const state = this.#state
    if (state === undefined) return
    this.itemCount = state.itemCount
    this.order = state.items.flatMap((item) => this.cells.get(item.id) ?? [])
  }

  #showSession(state: TimelineState): void {
    this.config = state.config
    this.turn = state.turn
    this.approvals = state.approvals
    this.rules = state.rules
    this.covered = state.covered
    this.queue = state.queue
    this.plan = state.plan
    this.processes = state.processes
    this.workflow = state.workflow
    this.waitsForFolder = state.waitsForFolder
    this.usage = state.usage
    this.sources = state.sources
    this.raised = state.raised
    this.expected = state.expected
  }

  #showAll(): void {
    const state = this.#state
    if (state === undefined) return
    for (const id of [...this.cells.keys()]) if (itemById(state, id) === undefined) this.cells.delete(id)
    for (const item of state.items) {
      this.#showItem(state, item.id)
      const cell = this.cells.get(item.id)
      if (cell !== undefined) cell.live = state.live.get(item.id)
    }
    this.#showOrder()
    this.#showSession(state)
    this.revision++
  }
}
