/**
 * What the two live regions say. Everything goes through one queue: the same words within two seconds are said once,
 * polite words come at most every 1.5 s. Numbers that tick are never announced.
 */
export type Urgency = 'polite' | 'assertive'

export type Speak = (text: string, urgency: Urgency) => void

const SAME_WITHIN = 2000
const POLITE_EVERY = 1500

export class Announcer {
  #speak: Speak | undefined
  #queue: string[] = []
  #recent = new Map<string, number>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #lastPolite = -Infinity

  constructor(private readonly now: () => number = () => Date.now()) {}

  /** Connects the regions of the page; the returned function disconnects them. */
  connect(speak: Speak): () => void {
    this.#speak = speak
    return () => {
      if (this.#speak === speak) this.#speak = undefined
    }
  }

  /** Says something when there is time. */
  say(text: string): void {
    if (this.#isRepeated(text)) return
    this.#queue.push(text)
    this.#next()
  }

  /** Says something at once: approvals, failures and limits only. */
  interrupt(text: string): void {
    if (!this.#isRepeated(text)) this.#speak?.(text, 'assertive')
  }

  #isRepeated(text: string): boolean {
    const now = this.now()
    for (const [said, at] of this.#recent) if (now - at >= SAME_WITHIN) this.#recent.delete(said)
    if (this.#recent.has(text)) return true
    this.#recent.set(text, now)
    return false
  }

  #next(): void {
    if (this.#timer !== undefined || this.#queue.length === 0) return
    const wait = Math.max(0, this.#lastPolite + POLITE_EVERY - this.now())
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      const text = this.#queue.shift()
      if (text !== undefined) {
        this.#lastPolite = this.now()
        this.#speak?.(text, 'polite')
      }
      this.#next()
    }, wait)
  }
}

export const announcer = new Announcer()
