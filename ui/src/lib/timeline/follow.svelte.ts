/**
 * Following the end. The view goes along with what arrives only while the person is at the end and does nothing else
 * there: an upward scroll, a selection or the focus inside of an item stops it.
 */
const NEAR = 48

export interface ScrollMeasures {
  offset: number
  viewport: number
  size: number
}

export class Following {
  following = $state(true)
  /** Rows that came since the following stopped. */
  missed = $state(0)
  #last = 0

  /** Takes in a scroll; only an upward one, made by the person, stops the following. */
  scrolled(measures: ScrollMeasures, byPerson: boolean): void {
    const atEnd = measures.size - measures.offset - measures.viewport <= NEAR
    if (atEnd && (byPerson || this.following)) this.resume()
    else if (byPerson && measures.offset < this.#last) this.stop()
    this.#last = measures.offset
  }

  arrived(rows: number): void {
    if (!this.following) this.missed += rows
  }

  stop(): void {
    this.following = false
  }

  resume(): void {
    this.following = true
    this.missed = 0
  }
}
