/**
 * The desk at which approvals are decided: which card is open, what was edited, what is on its way to the core.
 * A decision is only ever sent for the card that was shown; the core refuses what came too late, and that is said.
 */
import { SvelteMap } from 'svelte/reactivity'
import type { ApprovalId, ApprovalRequest, CallId, ClientError, Decision, RuleDraft } from '$lib/protocol'
import type { RuleDoor } from './rules/door'
import { missingRules, type HostPreset } from './rules/presets'
import { hostError } from '$lib/host/host'
import { isTyping } from './approvals/guards'
import { inOrder } from './approvals/order'
import { Suggestions } from './approvals/suggestion.svelte'

/** Sends a decision to the core; rejects when the core does not take it. */
export type Decide = (approval: ApprovalId, decision: Decision) => Promise<void>

/** What a card may ask the core besides deciding; a desk without them offers less. */
export interface DeskDoors {
  rules?: RuleDoor
  /** The whole output of a call. */
  output?: (call: CallId) => Promise<string>
}

export class ApprovalDesk {
  /** The card the person went to; the first one otherwise. */
  #chosen = $state<ApprovalId>()
  /** The approval whose decision is on its way. */
  sending = $state<ApprovalId>()
  /** Why the last decision did not count. */
  problem = $state.raw<ClientError>()
  /** Arguments edited by the person, kept until the card is decided. */
  readonly edits = new SvelteMap<ApprovalId, string>()
  /** Parts of a change, by place from 0, that the person leaves out; kept as long. */
  readonly leftOut = new SvelteMap<ApprovalId, readonly number[]>()
  /** When a key was last typed in the window, on the steady clock. */
  lastTyped: number | undefined
  /** Rules of a preset are being kept. */
  keeping = $state(false)
  readonly suggestions = new Suggestions()
  readonly #waiting: () => readonly ApprovalRequest[]
  readonly #decide: Decide
  readonly ordered: readonly ApprovalRequest[] = $derived.by(() => inOrder(this.#waiting()))
  /** Sub-agents ask as well: every card says where it comes from. */
  readonly mixed: boolean = $derived(this.ordered.some((request) => request.origin !== undefined))
  /** Those that would be decided as they were asked: what the person changed is decided on its own card. */
  readonly unchanged: readonly ApprovalRequest[] = $derived(
    this.ordered.filter(({ id }) => !this.edits.has(id) && !this.leftOut.has(id)),
  )
  readonly open: ApprovalRequest | undefined = $derived(
    this.ordered.find((request) => request.id === this.#chosen) ?? this.ordered[0],
  )

  constructor(
    waiting: () => readonly ApprovalRequest[],
    decide: Decide,
    readonly doors: DeskDoors = {},
  ) {
    this.#waiting = waiting
    this.#decide = decide
  }

  /** Keeps which parts of a change the person leaves out. */
  leaveOut(id: ApprovalId, places: readonly number[]): void {
    if (places.length === 0) this.leftOut.delete(id)
    else this.leftOut.set(id, places)
  }

  choose(id: ApprovalId): void {
    this.#chosen = id
  }

  /** Opens the card after or before the open one; stays at the ends. */
  move(by: 1 | -1): void {
    const at = this.ordered.findIndex((request) => request.id === this.open?.id)
    const next = this.ordered[at + by]
    if (next !== undefined) this.#chosen = next.id
  }

  /** Notes a key press of the window; returns its time when it was typing. */
  note(event: KeyboardEvent): number | undefined {
    const target = event.target instanceof HTMLElement ? event.target : undefined
    const within = (selector: string): boolean => (target?.closest(selector) ?? null) !== null
    const typing = isTyping({
      key: event.key,
      withModifier: event.ctrlKey || event.metaKey || event.altKey,
      inField: within('input, textarea, select, [contenteditable="true"]'),
      // The menus and dialogs of a card stand elsewhere in the page; choosing in them is not typing either.
      inCard: within('[data-card], [role="menu"], [role="dialog"]'),
    })
    if (typing) this.lastTyped = performance.now()
    return typing ? this.lastTyped : undefined
  }

  async decide(request: ApprovalRequest, decision: Decision): Promise<void> {
    if (this.sending !== undefined) return
    this.sending = request.id
    this.problem = undefined
    try {
      await this.#decide(request.id, decision)
      this.edits.delete(request.id)
      this.leftOut.delete(request.id)
      this.suggestions.note(request, decision)
    } catch (thrown) {
      this.problem = hostError(thrown).error
    } finally {
      this.sending = undefined
    }
  }
  /** Sends one decision for each, one after the other; resolves with how many did not count. */
  async decideAll(
    requests: readonly ApprovalRequest[],
    decision: (request: ApprovalRequest) => Decision,
    onsent: (done: number) => void = () => undefined,
  ): Promise<number> {
    let refused = 0
    for (const [at, request] of requests.entries()) {
      if (!this.#waits(request)) continue
      await this.decide(request, decision(request))
      if (this.problem !== undefined) refused += 1
      onsent(at + 1)
    }
    return refused
  }

  rejectAll(): Promise<number> {
    return this.decideAll(this.ordered, () => ({ answer: 'reject', pause: false }))
  }

  /** Keeps a rule that does not allow. One that forbids answers the call that asked as well. */
  async keepRule(request: ApprovalRequest, rule: RuleDraft): Promise<void> {
    if (this.doors.rules === undefined) return
    this.problem = undefined
    try {
      await this.doors.rules.save(rule)
    } catch (thrown) {
      this.problem = hostError(thrown).error
      return
    }
    if (rule.answer !== 'never' || !this.#waits(request)) return
    await this.decide(request, { answer: 'reject', pause: false })
    // The core may have refused it by the new rule before the answer came.
    if (!this.#waits(request)) this.problem = undefined
  }

  /** Keeps the rules of a preset for the project. The core answers by them what waits for one of its hosts. */
  async allowPreset(preset: HostPreset): Promise<void> {
    const { rules } = this.doors
    if (rules === undefined || this.keeping) return
    this.keeping = true
    this.problem = undefined
    try {
      let kept = await rules.list()
      for (const rule of missingRules(preset, kept)) kept = await rules.save(rule)
    } catch (thrown) {
      this.problem = hostError(thrown).error
    } finally {
      this.keeping = false
    }
  }

  #waits(request: ApprovalRequest): boolean {
    return this.#waiting().some((one) => one.id === request.id)
  }
}
