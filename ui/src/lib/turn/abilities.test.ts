import { expect, test } from 'vitest'
import type { Op, Turn, TurnStatus } from '$lib/protocol'
import { abilities, activeTime, canCommand, messageOps } from './abilities'
import { noUsage } from './usage'

const messageOp = (...message: Parameters<typeof messageOps>): Op | undefined => messageOps(...message)[0]

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

test('a message steers, starts, or continues, as the state wants it', () => {
  expect(messageOp({ state: 'thinking' }, 'hi', 'after_turn')).toEqual({
    op: 'send',
    text: 'hi',
    mode: 'after_turn',
  })
  expect(messageOp({ state: 'completed' }, 'hi', 'when_free')).toMatchObject({ mode: 'when_free' })
  expect(messageOp(undefined, 'hi', 'after_turn')).toEqual({ op: 'send', text: 'hi', mode: 'next_iteration' })
  expect(messageOp(paused({ cause: 'person' }), 'hi', 'next_iteration')).toEqual({
    op: 'continue',
    note: 'hi',
    allow_cause: false,
  })
  expect(messageOp(paused({ cause: 'limits', reached: [] }), 'hi', 'next_iteration')).toMatchObject({
    op: 'send',
  })
})

test('commands are offered only where they do something', () => {
  expect(canCommand('stop', { state: 'thinking' })).toBe(true)
  expect(canCommand('continue', { state: 'thinking' })).toBe(false)
  expect(canCommand('stop', undefined)).toBe(false)
})

test('images go before a paused turn is continued, and an expensive request is not sent by a message', () => {
  const images = [{ id: 'a', name: 'shot.png', media_type: 'image/png', bytes: 9 }]
  expect(messageOps(paused({ cause: 'person' }), 'hi', 'next_iteration', { images, effort: 'low' })).toEqual([
    { op: 'send', text: 'hi', mode: 'next_iteration', images, effort: 'low' },
    { op: 'continue', allow_cause: false },
  ])
  const dear = paused({ cause: 'expensive', estimate: 5, left: 9 })
  expect(messageOps(dear, 'hi', 'next_iteration')).toEqual([
    { op: 'send', text: 'hi', mode: 'next_iteration' },
  ])
})
