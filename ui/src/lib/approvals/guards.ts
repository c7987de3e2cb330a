/**
 * The guards against accidental decisions, as a pure state machine: no clock, no page. Times come in as milliseconds
 * of one steady clock, places as plain numbers; the answer is whether an activation counts.
 *
 * The wall stands here so that the one rule that keeps a stray click from running a command can be tested alone.
 */

/** Waiting times in milliseconds. */
export const GUARD_TIMES = { painted: 500, typed: 700, still: 300, next: 250 } as const

/** Where a button is in the window. */
export interface Place {
  left: number
  top: number
}

/** What is known about the buttons of one card. */
export interface GuardState {
  /** When the card was fully painted; absent until then. */
  readonly painted: number | undefined
  /** The last key typed anywhere in the window. */
  readonly typed: number | undefined
  readonly places: Readonly<Record<string, Place>>
  /** When a button was last seen to have moved. */
  readonly moved: Readonly<Record<string, number>>
  /** The press that has not been released yet. */
  readonly pressed: { readonly button: string; readonly counts: boolean } | undefined
}

/** Whether an activation counts, has to wait a moment, or is no activation of this button at all. */
export type Verdict = 'counts' | 'moment' | 'ignored'

/** A card that was not painted yet. Keys typed before it appeared still hold it back. */
export function newGuard(typed: number | undefined): GuardState {
  return { painted: undefined, typed, places: {}, moved: {}, pressed: undefined }
}

/** The card is on screen, complete. */
export const painted = (state: GuardState, at: number): GuardState => ({ ...state, painted: at })

/** A key was typed somewhere in the window. */
export const typed = (state: GuardState, at: number): GuardState => ({ ...state, typed: at })

/** A button was seen at a place; a place that differs from the last one is a move. */
export function seen(state: GuardState, button: string, place: Place, at: number): GuardState {
  const before = state.places[button]
  const same = before !== undefined && close(before.left, place.left) && close(before.top, place.top)
  if (same) return state
  const places = { ...state.places, [button]: place }
  return before === undefined
    ? { ...state, places }
    : { ...state, places, moved: { ...state.moved, [button]: at } }
}

const close = (one: number, other: number): boolean => Math.abs(one - other) < 1

/** When the buttons accept input, as far as it is known now; absent before the card was painted. */
export function readyAt(state: GuardState): number | undefined {
  if (state.painted === undefined) return undefined
  const afterPaint = state.painted + GUARD_TIMES.painted
  return state.typed === undefined ? afterPaint : Math.max(afterPaint, state.typed + GUARD_TIMES.typed)
}

/** Whether the buttons accept input. */
export function ready(state: GuardState, at: number): boolean {
  const from = readyAt(state)
  return from !== undefined && at >= from
}

const still = (state: GuardState, button: string, at: number): boolean =>
  at - (state.moved[button] ?? Number.NEGATIVE_INFINITY) >= GUARD_TIMES.still

/** The pointer went down on a button. */
export function pressed(state: GuardState, button: string, at: number): GuardState {
  return { ...state, pressed: { button, counts: ready(state, at) && still(state, button, at) } }
}

/** The pointer came up on a button: it counts only when it went down there, ready, and nothing moved. */
export function released(
  state: GuardState,
  button: string,
  at: number,
): { state: GuardState; verdict: Verdict } {
  const press = state.pressed
  const next = { ...state, pressed: undefined }
  if (press?.button !== button) return { state: next, verdict: 'ignored' }
  const counts = press.counts && ready(state, at) && still(state, button, at)
  return { state: next, verdict: counts ? 'counts' : 'moment' }
}

/** A button was activated by key or by an assistive tool. */
export function activated(state: GuardState, at: number): Verdict {
  return ready(state, at) ? 'counts' : 'moment'
}

/** A key press as far as the guards look at it. */
export interface KeyPress {
  key: string
  withModifier: boolean
  /** Whether it went into a field. */
  inField: boolean
  /** Whether the focus is on a control of a card. */
  inCard: boolean
}

/** Whether a key press is typing: what steers the window or a card's own keys is not. */
export function isTyping(press: KeyPress): boolean {
  if (press.withModifier) return false
  const writes = press.key.length === 1 || ['Enter', 'Backspace', 'Delete', 'Process'].includes(press.key)
  return writes && (press.inField || !press.inCard)
}
