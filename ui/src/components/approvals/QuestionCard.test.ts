import { fireEvent, render, screen } from '@testing-library/svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import { CardGuard } from '$lib/approvals/guard.svelte'
import type { CallItem } from '$lib/protocol'
import QuestionCard from './QuestionCard.svelte'

const onanswer = vi.fn<(call: string, text: string | null) => Promise<void>>()
let now = 0

const call = (args: string): CallItem => ({
  call: 't1.i3.c1',
  server_id: '',
  tool: 'ask_user',
  arguments: args,
  verb: 'ask',
  target: 'Which clock?',
  classes: [],
})

function show(args = '{"question":"Which clock?","options":["setup.ts","A new package"]}'): void {
  const guard = new CardGuard(undefined, () => now)
  render(QuestionCard, { call: call(args), iteration: 3, guard, onanswer, onleave: () => undefined })
  guard.renew()
  now += 1_000
}

beforeEach(() => {
  now = 1_000
  onanswer.mockReset().mockResolvedValue()
})

test('nothing is chosen beforehand and nothing can be sent without an answer', async () => {
  show()
  expect(screen.getAllByRole('radio').some((radio) => (radio as HTMLInputElement).checked)).toBe(false)
  await fireEvent.click(screen.getByTestId('answer'))
  expect(onanswer).not.toHaveBeenCalled()
})

test('an option is answered with its words', async () => {
  show()
  await fireEvent.click(screen.getByLabelText('A new package'))
  await fireEvent.click(screen.getByTestId('answer'))
  expect(onanswer).toHaveBeenCalledWith('t1.i3.c1', 'A new package')
})

test('typing an own answer chooses it', async () => {
  show()
  await fireEvent.input(screen.getByTestId('answer-own'), { target: { value: ' the fake one ' } })
  await fireEvent.click(screen.getByTestId('answer'))
  expect(onanswer).toHaveBeenCalledWith('t1.i3.c1', 'the fake one')
})

test('it can be skipped', async () => {
  show()
  await fireEvent.click(screen.getByText('Skip, decide yourself'))
  expect(onanswer).toHaveBeenCalledWith('t1.i3.c1', null)
})

test('an unreadable question can still be answered in own words', () => {
  show('not json')
  expect(screen.getByText('Which clock?')).toBeTruthy()
  expect(screen.getByText(/could not be read/u)).toBeTruthy()
})
