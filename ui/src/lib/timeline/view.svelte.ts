/**
 * How one session is looked at: which rows and turns are open, which item has the focus, how much is shown. Belongs
 * to the window, not to the session: nothing of it is stored.
 */
import { SvelteMap, SvelteSet } from 'svelte/reactivity'
import type { CallId, CallItem, ItemId, TurnId } from '$lib/protocol'
import { selectRows, type Row } from './select'
import { NestedViews } from './nested'
import type { ItemCell, OpenSession } from './timeline.svelte'

export type Density = 'compact' | 'normal' | 'full'

export class TimelineView {
  readonly session: OpenSession
  density = $state<Density>('normal')
  /** The item that single keys act on; the only one in the tab order. */
  active = $state<ItemId | undefined>()
  /** The call whose sub-agent fills the view; the timeline of the session itself otherwise. */
  inside = $state<CallId | undefined>()
  readonly nested: NestedViews
  readonly #openRows = new SvelteMap<ItemId, boolean>()
  readonly #openTurns = new SvelteSet<TurnId>()
  /** Turns that end while the person reads elsewhere stay as they are. */
  #watched: TurnId | undefined

  constructor(session: OpenSession) {
    this.session = session
    this.nested = new NestedViews(session)
  }

  readonly rows = $derived.by((): Row[] => {
    void this.session.revision
    return selectRows(
      this.session.order.map((cell) => cell.item),
      { openTurns: this.#openTurns, full: this.density === 'full', expected: this.session.expected },
    )
  })

  /** The entry in the tab order: the active one, else the newest. */
  readonly reachable = $derived.by((): ItemId | undefined => {
    if (this.active !== undefined && this.indexOf(this.active) >= 0) return this.active
    return this.rows[this.rows.length - 1]?.id
  })

  /** A sub-agent's session: its messages are not the person's. */
  get ofAgent(): boolean {
    return this.session.config?.parent !== undefined
  }

  cell(id: ItemId): ItemCell | undefined {
    return this.session.cells.get(id)
  }

  isOpen(id: ItemId): boolean {
    return this.#openRows.get(id) ?? this.density === 'full'
  }

  setOpen(id: ItemId, open: boolean): void {
    this.#openRows.set(id, open)
  }

  toggle(id: ItemId): void {
    this.setOpen(id, !this.isOpen(id))
  }

  toggleTurn(turn: TurnId): void {
    if (!this.#openTurns.delete(turn)) this.#openTurns.add(turn)
  }

  /** Called with every change of the turn: a turn that ends out of sight is not folded away under the reader. */
  watchTurn(turn: TurnId | undefined, busy: boolean, following: boolean): void {
    if (busy) {
      this.#watched = turn
    } else if (this.#watched !== undefined) {
      if (!following) this.#openTurns.add(this.#watched)
      this.#watched = undefined
    }
  }

  /** Shows an item even if its turn is folded; answers with the index of its row. */
  reveal(id: ItemId): number {
    const turn = this.cell(id)?.item.turn
    if (turn !== undefined && this.indexOf(id) < 0) this.#openTurns.add(turn)
    return this.indexOf(id)
  }

  indexOf(id: ItemId): number {
    return this.rows.findIndex((row) => row.type !== 'iteration' && row.id === id)
  }

  /** The item of a call, for rows that name other calls. */
  callOf(call: CallId): CallItem | undefined {
    return this.session.order.findLast((cell) => cell.call?.call === call)?.call
  }

  /** Density in turn: compact, normal, full. */
  cycleDensity(): Density {
    const order: Density[] = ['compact', 'normal', 'full']
    this.density = order[(order.indexOf(this.density) + 1) % order.length] ?? 'normal'
    return this.density
  }
}
