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
  /** The end is in sight, whether it is followed or not. */
  atEnd = $state(true)
  /** Rows that came since the following stopped. */
  missed = $state(0)
  #last = 0

  /** Takes in a scroll; only an upward one, made by the person, stops the following. */
  scrolled(measures: ScrollMeasures, byPerson: boolean): void {
    const atEnd = isAtEnd(measures)
    this.atEnd = atEnd
    if (atEnd && (byPerson || this.following)) this.resume()
    else if (byPerson && measures.offset < this.#last) this.stop()
    this.#last = measures.offset
  }

  /** Takes in a change of size, which moves nothing by itself. */
  measured(measures: ScrollMeasures): void {
    this.atEnd = isAtEnd(measures)
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

function isAtEnd(measures: ScrollMeasures): boolean {
  return measures.size - measures.offset - measures.viewport <= NEAR
}
