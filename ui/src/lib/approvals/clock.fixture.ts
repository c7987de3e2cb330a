import { afterEach, beforeEach, vi } from 'vitest'

const timers = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'performance',
  'requestAnimationFrame',
  'cancelAnimationFrame',
] as const

/** Timers and pictures of the screen come when a test says so; dates stay real unless one is given. */
export function fakeClock(now?: Date): void {
  beforeEach(() => {
    vi.useFakeTimers(now ? { toFake: [...timers, 'Date'], now } : { toFake: [...timers] })
  })
  afterEach(() => vi.useRealTimers())
}
