import { expect, test } from 'vitest'
import type { PauseCause, Turn, TurnStatus } from '$lib/protocol'
import { abilities, activeTime, canCommand, messageOp } from './abilities'
import { noUsage } from './usage'

const paused = (cause: Extract<TurnStatus, { state: 'paused' }>['cause']): TurnStatus => ({
  state: 'paused',
  cause,
})
const turn = (status: TurnStatus): Turn => ({
  turn: 1,
  status,
  iteration: 3,
  iteration_limit: 25,
  started: 0,
  active: 10_000,
  waiting: 0,
  status_since: 50_000,
  usage: noUsage,
})

test('a working turn can be stopped and paused, a paused one continued', () => {
  expect(abilities({ state: 'thinking' })).toMatchObject({
    working: true,
    stop: true,
    pause: true,
    continue: false,
  })
  expect(abilities(paused({ cause: 'person' }))).toMatchObject({
    working: false,
    stop: true,
    pause: false,
    continue: true,
  })
  expect(abilities({ state: 'pausing' })).toMatchObject({ pause: false, cancelPause: true, stop: true })
  expect(abilities({ state: 'completed' })).toMatchObject({ stop: false, pause: false, continue: false })
})

test('the clock runs while the agent works and stands while it waits for the person', () => {
  expect(activeTime(turn({ state: 'thinking' }), 53_000)).toBe(13_000)
  expect(activeTime(turn({ state: 'waiting_for_approval' }), 53_000)).toBe(10_000)
  expect(activeTime(turn({ state: 'completed' }), 53_000)).toBe(10_000)
  expect(activeTime(turn({ state: 'thinking' }), 49_000)).toBe(10_000)
})

test('a message steers or starts, as the state wants it', () => {
  expect(messageOp({ state: 'thinking' }, 'hi', 'after_turn')).toEqual({
    op: 'send',
    text: 'hi',
    mode: 'after_turn',
  })
  expect(messageOp({ state: 'completed' }, 'hi', 'when_free')).toMatchObject({ mode: 'when_free' })
  expect(messageOp(undefined, 'hi', 'after_turn')).toEqual({ op: 'send', text: 'hi', mode: 'next_iteration' })
})

test('commands are offered only where they do something', () => {
  expect(canCommand('stop', { state: 'thinking' })).toBe(true)
  expect(canCommand('continue', { state: 'thinking' })).toBe(false)
  expect(canCommand('stop', undefined)).toBe(false)
})

test('one op takes the words with images and effort along, also to a turn that is paused', () => {
  const images = [{ id: 'a', name: 'shot.png', media_type: 'image/png', bytes: 9 }]
  const whole = { op: 'send', text: 'hi', mode: 'next_iteration', images, effort: 'low' }
  const causes: PauseCause[] = [
    { cause: 'person' },
    { cause: 'expensive', estimate: 5, left: 9 },
    { cause: 'limits', reached: [] },
  ]
  for (const cause of causes) {
    expect(messageOp(paused(cause), 'hi', 'next_iteration', { images, effort: 'low' })).toEqual(whole)
  }
  expect(messageOp({ state: 'interrupted' }, 'hi', 'next_iteration', { images, effort: 'low' })).toEqual(
    whole,
  )
})
