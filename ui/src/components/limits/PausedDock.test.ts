import { fireEvent, render, screen } from '@testing-library/svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import { App, appContext } from '$lib/app.svelte'
import { recordedHost } from '$lib/host/fixture'
import type { ModelChoice, Op, PauseCause, TurnStatus } from '$lib/protocol'
import { ModelCatalogue } from '$lib/settings/catalogue.svelte'
import { turnIn } from '$lib/turn/turns.fixture'
import { loadFixture } from '../../fixtures'
import PausedDock from './PausedDock.svelte'

const onop = vi.fn<(op: Op) => void>()
const onsettings = vi.fn()

beforeEach(() => {
  onop.mockReset()
  onsettings.mockReset()
})

const app = new App(recordedHost(await loadFixture('budget')))
await app.start()
const config = (await app.client.createSession('orchard')).config
const show = (status: TurnStatus, small?: ModelChoice) =>
  render(PausedDock, {
    props: {
      turn: turnIn(status),
      items: [],
      catalogue: new ModelCatalogue(app),
      config,
      small,
      onop,
      onsettings,
    },
    context: appContext(app),
  })
const paused = (cause: PauseCause) => show({ state: 'paused', cause })
const press = (name: string): Promise<boolean> => fireEvent.click(screen.getByText(name))

test('there is no card while the agent works', () => {
  show({ state: 'thinking' })
  expect(screen.queryByRole('group')).toBeNull()
})

test('the iteration limit asks: ten more, twenty-five, an own number', async () => {
  paused({ cause: 'limits', reached: [{ limit: 'iterations', used: 25, allowed: 25 }] })
  expect(screen.getByText('Paused after 25 iterations.')).toBeTruthy()
  await press('Add 10 iterations')
  expect(onop).toHaveBeenLastCalledWith({ op: 'extend', limit: 'iterations', by: 10 })
  await press('Own number…')
  const field = screen.getByLabelText('Iterations to add')
  await fireEvent.input(field, { target: { value: '7' } })
  await fireEvent.keyDown(field, { key: 'Enter' })
  expect(onop).toHaveBeenLastCalledWith({ op: 'extend', limit: 'iterations', by: 7 })
})

test('a time limit is extended in minutes', async () => {
  paused({ cause: 'limits', reached: [{ limit: 'active_time', used: 1_800_000, allowed: 1_800_000 }] })
  await press('Add 10 min')
  expect(onop).toHaveBeenLastCalledWith({ op: 'extend', limit: 'active_time', by: 600_000 })
})

test('several limits at once are one card', () => {
  paused({
    cause: 'limits',
    reached: [
      { limit: 'iterations', used: 25, allowed: 25 },
      { limit: 'active_time', used: 1_800_000, allowed: 1_800_000 },
    ],
  })
  expect(screen.getByText('Paused after 25 iterations. Paused after 30 min of work.')).toBeTruthy()
})

test('a budget is extended in dollars, or a smaller model goes on', async () => {
  const reached = { limit: 'session_money' as const, used: 1_930_000, allowed: 2_000_000 }
  const small = { provider: 'openai', model: 'model-small' }
  show({ state: 'paused', cause: { cause: 'limits', reached: [reached] } }, small)
  expect(screen.getByText('Paused: this session has used $1.93 of $2.00.')).toBeTruthy()
  await press('Add $1.00')
  expect(onop).toHaveBeenLastCalledWith({ op: 'extend', limit: 'session_money', by: 1_000_000 })
  await press('Own number…')
  await fireEvent.input(screen.getByLabelText('Dollars to add'), { target: { value: '2,50' } })
  await press('Add')
  expect(onop).toHaveBeenLastCalledWith({ op: 'extend', limit: 'session_money', by: 2_500_000 })
  await press('Use model-small')
  expect(onop).toHaveBeenLastCalledWith({ op: 'set_model', model: small })
})

test('an expensive request is sent, or not, and the question can be switched off', async () => {
  paused({ cause: 'expensive', estimate: 310_000, left: 890_000 })
  expect(await screen.findByText('The next request may cost about $0.31.')).toBeTruthy()
  expect(screen.getByText('$0.89 is left. Nothing was sent yet.')).toBeTruthy()
  await press('Send it anyway')
  expect(onop.mock.calls).toEqual([[{ op: 'continue', allow_cause: false }]])
  await fireEvent.click(screen.getByLabelText('Do not ask about cost again in this session'))
  await press('Send it anyway')
  expect(onop).toHaveBeenNthCalledWith(2, {
    op: 'set_budget',
    budget: { session: 2_000_000, day: 5_000_000, ask_expensive: false },
  })
  await press('Finish up')
  expect(onop).toHaveBeenLastCalledWith({ op: 'finish_up' })
})

test('the guard takes a hint, or is told that it is fine', async () => {
  paused({ cause: 'guard', pattern: 'same_call' })
  await press('Continue, it is fine in this turn')
  expect(onop).toHaveBeenLastCalledWith({ op: 'continue', allow_cause: true })
  const hint = screen.getByLabelText('Your hint to the agent')
  await fireEvent.input(hint, { target: { value: 'look in setup.ts' } })
  await press('Continue with hint')
  expect(onop).toHaveBeenLastCalledWith({ op: 'continue', note: 'look in setup.ts', allow_cause: false })
})

test('the breaker offers a retry, more tries, and words to the agent', async () => {
  paused({ cause: 'breaker', tool: 'run_command' })
  await press('Retry')
  expect(onop).toHaveBeenLastCalledWith({ op: 'continue', allow_cause: false })
  await press('Allow this tool more tries')
  expect(onop).toHaveBeenLastCalledWith({ op: 'continue', allow_cause: true })
  await press('Tell the agent…')
  await fireEvent.input(screen.getByLabelText('Your words to the agent'), {
    target: { value: 'use another' },
  })
  await press('Tell and continue')
  expect(onop).toHaveBeenLastCalledWith({ op: 'continue', note: 'use another', allow_cause: false })
})

test('a model that failed is explained, with the key as remedy', async () => {
  paused({
    cause: 'model',
    error: { kind: 'auth', message: 'Status 401.', retryable: false, status: 401, details: 'bad key' },
  })
  expect(screen.getByText('The provider refused the key.')).toBeTruthy()
  await press('Change key')
  expect(onsettings).toHaveBeenCalled()
  await press('Try again')
  expect(onop).toHaveBeenLastCalledWith({ op: 'continue', allow_cause: false })
})

test('a check that fails again and again: go on with or without a hint, or let it be', async () => {
  paused({ cause: 'check', command: 'npm test', attempts: 3 })
  expect(await screen.findByText('The check failed 3 times.')).toBeTruthy()
  expect(screen.getByText('npm test')).toBeTruthy()
  await press('Continue')
  expect(onop).toHaveBeenLastCalledWith({ op: 'continue', allow_cause: false })
  await press('Fine without the check in this turn')
  expect(onop).toHaveBeenLastCalledWith({ op: 'continue', allow_cause: true })
  const hint = screen.getByLabelText('Your hint to the agent')
  await fireEvent.input(hint, { target: { value: 'start the database' } })
  await press('Continue with hint')
  expect(onop).toHaveBeenLastCalledWith({ op: 'continue', note: 'start the database', allow_cause: false })
  await press('Stop')
  expect(onop).toHaveBeenLastCalledWith({ op: 'stop' })
})

test('a pause by the person continues, also with a note', async () => {
  paused({ cause: 'person' })
  await press('Continue with a note…')
  const note = screen.getByLabelText('Your note to the agent')
  await fireEvent.input(note, { target: { value: 'only the tests' } })
  await fireEvent.keyDown(note, { key: 'Enter' })
  expect(onop).toHaveBeenLastCalledWith({ op: 'continue', note: 'only the tests', allow_cause: false })
})

test('an interrupted turn says what happened and waits', () => {
  show({ state: 'interrupted' })
  expect(screen.getByText('Paddock was closed during iteration 7.')).toBeTruthy()
  expect(screen.getByText(/No call was running/u)).toBeTruthy()
  expect(onop).not.toHaveBeenCalled()
})
