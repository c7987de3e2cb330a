import { afterEach, beforeEach, vi } from 'vitest'

/** Timers and pictures of the screen come when a test says so; dates stay real. */
export function fakeClock(): void {
  beforeEach(() => {
    vi.useFakeTimers({
      toFake: [
        'setTimeout',
        'clearTimeout',
        'setInterval',
        'clearInterval',
        'performance',
        'requestAnimationFrame',
        'cancelAnimationFrame',
      ],
    })
  })
  afterEach(() => vi.useRealTimers())
}
