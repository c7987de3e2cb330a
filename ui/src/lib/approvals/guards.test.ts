import { describe, expect, test } from 'vitest'
import {
  activated,
  isTyping,
  newGuard,
  painted,
  pressed,
  ready,
  readyAt,
  released,
  seen,
  typed,
  type GuardState,
} from './guards'

const here = { left: 100, top: 200 }
const lower = { left: 100, top: 240 }

/** A card painted at 1 000 whose main button was seen at once. */
const card = (): GuardState => seen(painted(newGuard(undefined), 1_000), 'main', here, 1_000)

/** The verdict of a press and a release. */
function click(state: GuardState, down: number, up: number, button = 'main'): string {
  return released(pressed(state, button, down), button, up).verdict
}

describe('a new card', () => {
  test('never counts before it was painted', () => {
    expect(readyAt(newGuard(undefined))).toBeUndefined()
    expect(activated(newGuard(undefined), 1_000_000)).toBe('moment')
  })

  test('counts from 500 ms after it was painted', () => {
    expect(ready(card(), 1_499)).toBe(false)
    expect(ready(card(), 1_500)).toBe(true)
    expect(click(card(), 1_499, 1_499)).toBe('moment')
    expect(click(card(), 1_500, 1_520)).toBe('counts')
  })

  test('waits 700 ms after the last key typed, also one typed before it appeared', () => {
    expect(readyAt(painted(newGuard(990), 1_000))).toBe(1_690)
    expect(readyAt(typed(card(), 2_000))).toBe(2_700)
    expect(activated(typed(card(), 2_000), 2_699)).toBe('moment')
    expect(activated(typed(card(), 2_000), 2_700)).toBe('counts')
  })
})

describe('a pointer', () => {
  test('does not count when it went down before the card was ready', () => {
    expect(click(card(), 1_400, 1_900)).toBe('moment')
  })

  test('does not count when a key was typed between press and release', () => {
    const state = typed(pressed(card(), 'main', 2_000), 2_050)
    expect(released(state, 'main', 2_100).verdict).toBe('moment')
  })

  test('is ignored when it went down elsewhere', () => {
    expect(released(card(), 'main', 2_000).verdict).toBe('ignored')
    expect(released(pressed(card(), 'reject', 2_000), 'main', 2_010).verdict).toBe('ignored')
  })

  test('does not count twice for one press', () => {
    const first = released(pressed(card(), 'main', 2_000), 'main', 2_010)
    expect(first.verdict).toBe('counts')
    expect(released(first.state, 'main', 2_020).verdict).toBe('ignored')
  })

  test('does not count within 300 ms after the button moved', () => {
    const moved = seen(card(), 'main', lower, 2_000)
    expect(click(moved, 2_299, 2_310)).toBe('moment')
    expect(click(moved, 2_300, 2_310)).toBe('counts')
  })

  test('does not count when the button moved under it', () => {
    const state = seen(pressed(card(), 'main', 2_000), 'main', lower, 2_010)
    expect(released(state, 'main', 2_020).verdict).toBe('moment')
  })

  test('minds only its own button', () => {
    const moved = seen(seen(card(), 'reject', here, 1_000), 'reject', lower, 2_000)
    expect(click(moved, 2_010, 2_020)).toBe('counts')
  })

  test('a place that differs by less than a pixel is no move', () => {
    const state = seen(card(), 'main', { left: 100.4, top: 200.4 }, 2_000)
    expect(click(state, 2_010, 2_020)).toBe('counts')
  })
})

describe('what is typing', () => {
  const key = (name: string, more = {}): boolean =>
    isTyping({ key: name, withModifier: false, inField: false, inCard: false, ...more })

  test('letters, Enter and input methods are', () => {
    expect(key('a')).toBe(true)
    expect(key('Enter')).toBe(true)
    expect(key('Process')).toBe(true)
    expect(key('a', { inField: true, inCard: true })).toBe(true)
  })

  test('moving the focus and shortcuts are not', () => {
    expect(key('Tab')).toBe(false)
    expect(key('Escape')).toBe(false)
    expect(key('a', { withModifier: true })).toBe(false)
  })

  test('keys of the card itself are not, else its own Enter would hold it back', () => {
    expect(key('Enter', { inCard: true })).toBe(false)
    expect(key('w', { inCard: true })).toBe(false)
  })
})
