/**
 * The guards of one card on the real page: the steady clock, the places of its buttons, the moment it was painted.
 * All deciding is in guards.ts.
 */
import {
  activated,
  newGuard,
  painted,
  pressed,
  ready,
  released,
  seen,
  typed,
  type GuardState,
  type Verdict,
} from './guards'

/** How often the buttons are looked at, in milliseconds. */
const LOOK = 100
/** How long “One moment” stands, in milliseconds. */
const ANSWER = 1_600

export class CardGuard {
  /** Whether the buttons are shown as ready. */
  ready = $state(false)
  /** Whether an activation came too early a moment ago. */
  moment = $state(false)
  #state: GuardState
  readonly #clock: () => number
  #buttons: readonly { name: string; element: HTMLElement }[] = []
  #frame = 0
  #look: ReturnType<typeof setInterval> | undefined
  #answer: ReturnType<typeof setTimeout> | undefined

  constructor(lastTyped: number | undefined, clock: () => number = () => performance.now()) {
    this.#state = newGuard(lastTyped)
    this.#clock = clock
  }

  /** Starts to watch; the card counts as painted two frames later. Returns the way to end it. */
  watch(): () => void {
    this.#frame = requestAnimationFrame(() => {
      this.#frame = requestAnimationFrame(() => {
        this.#state = painted(this.#state, this.#clock())
        this.#lookAround()
      })
    })
    this.#look = setInterval(() => this.#lookAround(), LOOK)
    return () => {
      cancelAnimationFrame(this.#frame)
      clearInterval(this.#look)
      clearTimeout(this.#answer)
    }
  }

  /** Lets the card show something else. */
  renewAfter(change: () => void): void {
    change()
    this.renew()
  }

  /** The card shows something else now: its buttons wait again. */
  renew(): void {
    this.#state = painted(this.#state, this.#clock())
    this.#lookAround()
  }

  /** Names a button whose place is watched. Returns the way to forget it. */
  button(name: string, element: HTMLElement): () => void {
    const button = { name, element }
    this.#buttons = [...this.#buttons, button]
    return () => {
      this.#buttons = this.#buttons.filter((other) => other !== button)
    }
  }

  typed(at: number): void {
    this.#state = typed(this.#state, at)
    this.#lookAround()
  }

  press(name: string): void {
    this.#lookAround()
    this.#state = pressed(this.#state, name, this.#clock())
  }

  /** The pointer came up on a button; does it, if it counts. */
  release(name: string, act: () => void): void {
    this.#lookAround()
    const result = released(this.#state, name, this.#clock())
    this.#state = result.state
    this.#answerTo(result.verdict, act)
  }

  /** A key or an assistive tool activated a button; does it, if it counts. */
  activate(act: () => void): void {
    this.#answerTo(activated(this.#state, this.#clock()), act)
  }

  #answerTo(verdict: Verdict, act: () => void): void {
    if (verdict === 'counts') {
      this.moment = false
      act()
    } else if (verdict === 'moment') {
      this.moment = true
      clearTimeout(this.#answer)
      this.#answer = setTimeout(() => (this.moment = false), ANSWER)
    }
  }

  #lookAround(): void {
    const now = this.#clock()
    for (const { name, element } of this.#buttons) {
      const { left, top } = element.getBoundingClientRect()
      this.#state = seen(this.#state, name, { left, top }, now)
    }
    this.ready = ready(this.#state, now)
  }
}
