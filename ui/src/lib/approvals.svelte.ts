/**
 * The desk at which approvals are decided: which card is open, what was edited, what is on its way to the core.
 * A decision is only ever sent for the card that was shown; the core refuses what came too late, and that is said.
 */
import { SvelteMap } from 'svelte/reactivity'
import type { ApprovalId, ApprovalRequest, ClientError, Decision } from '$lib/protocol'
import { hostError } from '$lib/host/host'
import { isTyping } from './approvals/guards'
import { inOrder } from './approvals/order'

/** Sends a decision to the core; rejects when the core does not take it. */
export type Decide = (approval: ApprovalId, decision: Decision) => Promise<void>

export class ApprovalDesk {
  /** The card the person went to; the first one otherwise. */
  #chosen = $state<ApprovalId>()
  /** The approval whose decision is on its way. */
  sending = $state<ApprovalId>()
  /** Why the last decision did not count. */
  problem = $state.raw<ClientError>()
  /** Arguments edited by the person, kept until the card is decided. */
  readonly edits = new SvelteMap<ApprovalId, string>()
  /** When a key was last typed in the window, on the steady clock. */
  lastTyped: number | undefined
  readonly #waiting: () => readonly ApprovalRequest[]
  readonly #decide: Decide
  readonly ordered: readonly ApprovalRequest[] = $derived.by(() => inOrder(this.#waiting()))
  /** Sub-agents ask as well: every card says where it comes from. */
  readonly mixed: boolean = $derived(this.ordered.some((request) => request.origin !== undefined))
  readonly open: ApprovalRequest | undefined = $derived(
    this.ordered.find((request) => request.id === this.#chosen) ?? this.ordered[0],
  )

  constructor(waiting: () => readonly ApprovalRequest[], decide: Decide) {
    this.#waiting = waiting
    this.#decide = decide
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
    } catch (thrown) {
      this.problem = hostError(thrown).error
    } finally {
      this.sending = undefined
    }
  }
}
