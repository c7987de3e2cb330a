import { fireEvent, render, screen } from '@testing-library/svelte'
import { tick } from 'svelte'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Op, Turn } from '$lib/protocol'
import { turnIn } from '$lib/turn/turns.fixture'
import { noUsage } from '$lib/turn/usage'
import StatusStrip from './StatusStrip.svelte'

const onop = vi.fn<(op: Op) => void>()

beforeEach(() => onop.mockReset())
afterEach(() => vi.useRealTimers())

const show = (turn: Turn | undefined, more = {}) =>
  render(StatusStrip, { turn, config: undefined, usage: noUsage, waiting: 0, onop, ...more })
const text = (): string => document.body.textContent ?? ''

test('says the state in words', () => {
  show(turnIn({ state: 'using_tools' }), { running: { tool: 'run_command', target: 'npm test' } })
  expect(text()).toContain('Using run_command: npm test')
  expect(text()).toContain('Iteration 7 of 25')
})

test('warns from 80 percent of the iterations on', () => {
  show(turnIn({ state: 'thinking' }, { iteration: 20 }))
  expect(screen.getByTestId('iteration-counter').textContent).toContain('5 left')
})

test('the clock ticks while the agent works and is not read aloud', async () => {
  vi.useFakeTimers()
  show(turnIn({ state: 'thinking' }))
  const clock = screen.getByTestId('active-time')
  expect(clock.textContent).toContain('1:30')
  await vi.advanceTimersByTimeAsync(3_000)
  await tick()
  expect(clock.textContent).toContain('1:33')
  expect(clock.closest('[aria-live], [role="status"], [role="timer"]')).toBeNull()
})

test('stop acts at once and says so', async () => {
  show(turnIn({ state: 'thinking' }))
  await fireEvent.click(screen.getByTestId('stop'))
  expect(onop).toHaveBeenCalledWith({ op: 'stop' })
  expect(text()).toContain('Stopping…')
})

test('pause is off once the turn is done', () => {
  show(turnIn({ state: 'completed' }))
  expect((screen.getByTestId('pause') as HTMLButtonElement).disabled).toBe(true)
  expect((screen.getByTestId('stop') as HTMLButtonElement).disabled).toBe(true)
  expect(text()).toContain('Done · 7 iterations')
})

test('a pause that was asked for can be taken back', async () => {
  show(turnIn({ state: 'pausing' }))
  await fireEvent.click(screen.getByLabelText('Do not pause'))
  expect(onop).toHaveBeenCalledWith({ op: 'cancel_pause' })
})

test('iterations are added from the counter', async () => {
  show(turnIn({ state: 'thinking' }), { limitsOpen: true })
  await fireEvent.click(await screen.findByTestId('extend-10'))
  expect(onop).toHaveBeenCalledWith({ op: 'extend', limit: 'iterations', by: 10 })
})

test('a wait for the model counts down and can be cut short', async () => {
  show(turnIn({ state: 'waiting_to_retry', attempt: 2, of: 3, until: Date.now() + 8_000 }))
  expect(text()).toMatch(/Trying again in [78] s \(2 of 3\)/u)
  await fireEvent.click(screen.getByText('Retry now'))
  expect(onop).toHaveBeenCalledWith({ op: 'retry_now' })
})
