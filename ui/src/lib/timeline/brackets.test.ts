import { expect, test } from 'vitest'
import type { Item } from '$lib/protocol'
import { Story } from '../../fixtures/build'
import { sideBySide } from './brackets'

function story(): Story {
  const one = new Story('s', 'Brackets')
  one.you('Go')
  one.next()
  return one
}

/** Adds a read that runs from one moment to another, counted from the begin of the iteration. */
function ran(one: Story, from: number, to: number | undefined): void {
  const zero = one.now
  one.now += from
  one.call('read', `from-${from}`, to === undefined ? { status: 'running' } : { takes: to - from })
  one.now = zero
}

const places = (items: readonly Item[]): (string | undefined)[] => {
  const brackets = sideBySide(items)
  return items.map((item) => brackets.get(item.id)?.bracket)
}

test('calls that follow one another have no bracket', () => {
  const one = story()
  ran(one, 0, 100)
  ran(one, 100, 200)
  expect(places(one.items)).toEqual([undefined, undefined, undefined])
})

test('the whole time is known once all have ended', () => {
  const one = story()
  ran(one, 0, 100)
  ran(one, 20, 350)
  expect(sideBySide(one.items).get(1)?.sideBySide).toEqual({ calls: 2, millis: 350 })
  ran(one, 40, undefined)
  expect(sideBySide(one.items).get(1)?.sideBySide).toEqual({ calls: 3, millis: undefined })
})

test('a row that only stands between is passed, and one after the end is not', () => {
  const one = story()
  ran(one, 0, 100)
  one.call('edit', 'a.ts', { status: 'waiting', takes: 0 })
  ran(one, 50, 200)
  one.call('edit', 'b.ts', { status: 'rejected', takes: 0 })
  expect(places(one.items)).toEqual([undefined, 'first', 'through', 'last', undefined])
})

test('asked order and time may differ: groups never cross', () => {
  const one = story()
  ran(one, 0, 100)
  ran(one, 300, 400)
  ran(one, 20, 80)
  ran(one, 310, 350)
  expect(places(one.items).filter((place) => place !== undefined)).toEqual([])
})

test('calls of two iterations are never one group', () => {
  const one = story()
  ran(one, 0, 5_000)
  one.next()
  ran(one, 0, 100)
  expect(places(one.items)).toEqual([undefined, undefined, undefined])
})
