import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Announcer, type Urgency } from './announce'

let said: [string, Urgency][]
let announcer: Announcer

beforeEach(() => {
  vi.useFakeTimers()
  said = []
  announcer = new Announcer()
  announcer.connect((text, urgency) => said.push([text, urgency]))
})

afterEach(() => {
  vi.useRealTimers()
})

test('polite words come one after the other, at least 1.5 s apart', () => {
  announcer.say('one')
  announcer.say('two')
  vi.advanceTimersByTime(100)
  expect(said).toEqual([['one', 'polite']])
  vi.advanceTimersByTime(1500)
  expect(said.map(([text]) => text)).toEqual(['one', 'two'])
})

test('the same words within two seconds are said once', () => {
  announcer.interrupt('Approval needed')
  announcer.interrupt('Approval needed')
  expect(said.length).toBe(1)
  vi.advanceTimersByTime(2000)
  announcer.interrupt('Approval needed')
  expect(said.length).toBe(2)
})

test('urgent words do not wait for polite ones', () => {
  announcer.say('one')
  announcer.say('two')
  announcer.interrupt('failed')
  expect(said).toEqual([['failed', 'assertive']])
})
