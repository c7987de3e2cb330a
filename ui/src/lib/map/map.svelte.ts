/**
 * How a session's map is looked at: which turn, which page, what is selected and filtered. The panel and the full
 * window share it, so that going from one to the other loses nothing.
 */
import type { TurnId } from '$lib/protocol'
import { tickingNow } from '$lib/clock.svelte'
import type { OpenSession } from '$lib/timeline/timeline.svelte'
import { axisOf, placeOf } from './axis'
import { edgesOf } from './edges'
import { everything, filtered, neighbour, type Filter, type Sorting } from './rows'
import { laneOrder, turnMap, turnsOf, type Lane, type MapBar, type TurnMap } from './turn'

export type MapPage = 'timeline' | 'graph' | 'table'

export class MapDesk {
  readonly #session: OpenSession
  page = $state<MapPage>('timeline')
  filter = $state.raw<Filter>(everything)
  sorting = $state.raw<Sorting>({ column: 'start', descending: false })
  selected = $state<string | undefined>()
  /** The facts of what is selected are shown in full. */
  detailed = $state(false)
  /** How much of the turn fills the width: 1 shows all of it. */
  zoom = $state(1)
  /** Where the seen part begins, as a share of the whole; the end is followed while it is undefined. */
  pan = $state<number | undefined>()
  graphZoom = $state(1)
  /** The turn that was chosen; the newest one when none was. */
  chosen = $state<TurnId | undefined>()

  constructor(session: OpenSession) {
    this.#session = session
  }

  readonly #items = $derived.by(() => {
    void this.#session.revision
    return this.#session.order.map((cell) => cell.item)
  })
  readonly turns = $derived.by(() => turnsOf(this.#items))
  readonly turn = $derived.by((): TurnId | undefined =>
    this.turns.some((one) => one.turn === this.chosen) ? this.chosen : this.turns[0]?.turn,
  )

  /** All of the turn, whatever is filtered. */
  readonly map = $derived.by((): TurnMap | undefined => {
    if (this.turn === undefined) return undefined
    const live = this.#session.turn?.turn === this.turn && this.#session.busy
    const last = this.#items.at(-1)
    const now = live ? tickingNow() : (last?.ended ?? last?.started ?? 0)
    return turnMap(this.#items, this.turn, {
      now,
      turn: live ? this.#session.turn : undefined,
      approvals: this.#session.approvals,
    })
  })
  /** What is shown of it: the same in all three pages. */
  readonly bars = $derived.by((): MapBar[] =>
    this.map === undefined ? [] : filtered(this.map.bars, this.filter),
  )
  readonly shown = $derived.by((): TurnMap | undefined =>
    this.map === undefined ? undefined : { ...this.map, bars: this.bars },
  )
  readonly axis = $derived.by(() =>
    this.map === undefined ? undefined : axisOf(this.map.bars, this.map.span),
  )
  readonly edges = $derived.by(() => edgesOf(this.bars, this.#items))
  /** The lanes of the turn, shown or not. */
  readonly lanes = $derived.by((): Lane[] =>
    laneOrder.filter((lane) => this.map?.bars.some((bar) => bar.lane === lane) === true),
  )
  readonly bar = $derived.by((): MapBar | undefined => this.bars.find((bar) => bar.key === this.selected))
  /** The begin of the turn is not loaded yet. */
  readonly cutOff = $derived.by(
    () => this.#session.hasOlder && this.turns.find((one) => one.turn === this.turn)?.whole === false,
  )

  choose(turn: TurnId): void {
    this.chosen = turn === this.turns[0]?.turn ? undefined : turn
    this.selected = undefined
    this.fit()
  }

  select(key: string | undefined): void {
    this.selected = key
  }

  go(way: Parameters<typeof neighbour>[2]): MapBar | undefined {
    const bar = neighbour(this.bars, this.selected, way, this.lanes)
    this.selected = bar?.key
    return bar
  }

  fit(): void {
    this.zoom = 1
    this.pan = undefined
    this.graphZoom = 1
  }

  /** Zooms by a factor; the place at `around` (a share of the seen part) stays where it is. */
  zoomBy(factor: number, around = 0.5): void {
    if (this.page === 'graph') {
      this.graphZoom = Math.min(1.6, Math.max(0.4, this.graphZoom * factor))
      return
    }
    const before = this.start
    const zoom = Math.min(400, Math.max(1, this.zoom * factor))
    const place = before + around / this.zoom
    this.zoom = zoom
    this.panTo(place - around / zoom)
  }

  /** Where the seen part begins, as a share of the whole. */
  get start(): number {
    const last = Math.max(0, 1 - 1 / this.zoom)
    return Math.min(last, Math.max(0, this.pan ?? last))
  }

  /** Moves the seen part; at the end it follows what comes. */
  panTo(start: number): void {
    const last = 1 - 1 / this.zoom
    this.pan = start >= last - 0.001 ? undefined : Math.max(0, start)
  }

  /** Moves the seen part so far that the begin of a bar lies in it. */
  reveal(bar: MapBar): void {
    const { axis } = this
    if (axis === undefined) return
    const at = placeOf(axis, bar.span.from) / axis.length
    const seen = 1 / this.zoom
    if (at < this.start || at > this.start + seen) this.panTo(at - seen / 4)
  }

  toggleLane(lane: Lane): void {
    const { without } = this.filter
    this.filter = {
      ...this.filter,
      without: without.includes(lane) ? without.filter((one) => one !== lane) : [...without, lane],
    }
  }

  /** Loads the rest of a turn of which only the end is there. */
  async loadWhole(): Promise<void> {
    while (this.cutOff && (await this.#session.loadOlder())) continue
  }
}

const desks = new WeakMap<OpenSession, MapDesk>()

/** The desk of a session, the same one wherever the map is shown. */
export function mapDesk(session: OpenSession): MapDesk {
  const desk = desks.get(session) ?? new MapDesk(session)
  desks.set(session, desk)
  return desk
}
