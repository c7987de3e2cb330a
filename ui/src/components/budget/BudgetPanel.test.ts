import { fireEvent, render, screen } from '@testing-library/svelte'
import { expect, test, vi } from 'vitest'
import { App, appContext } from '$lib/app.svelte'
import { recordedHost } from '$lib/host/fixture'
import type { Op, SessionSnapshot, Usage } from '$lib/protocol'
import type { Raised } from '$lib/turn/budget'
import { noUsage } from '$lib/turn/usage'
import { answerProposal, proposesBudget } from '$lib/turn/proposal'
import { loadFixture } from '../../fixtures'
import BudgetPanel from './BudgetPanel.svelte'

const onop = vi.fn<(op: Op) => void>()

async function show(name: string, raised: Raised = {}, spent?: () => Usage): Promise<SessionSnapshot> {
  onop.mockReset()
  const app = new App(recordedHost(await loadFixture(name)))
  await app.start()
  if (spent !== undefined) app.client.spending = () => Promise.resolve(spent())
  const snapshot = await app.client.createSession('orchard')
  const { config, usage, turn, sources } = snapshot
  render(BudgetPanel, {
    props: {
      spending: {
        usage,
        turn,
        budget: config.budget,
        raised,
        cost: config.facts.cost,
        limits: config.limits,
      },
      config,
      sources,
      onop,
      onsettings: () => undefined,
      onclose: () => undefined,
    },
    context: appContext(app),
  })
  return snapshot
}

const text = (): string => document.body.textContent?.replaceAll(/\s+/gu, ' ') ?? ''

test('the budget says what is used, by whom, and that amounts are estimates', async () => {
  await show('budget')
  expect(text()).toContain('$0.11 of $2.00')
  expect(text()).toMatch(/per minute · limit in about/u)
  expect(text()).toContain('model-large 62 %')
  expect(text()).toContain('retries 3 %')
  expect(text()).toContain('Amounts are estimates from a price list')
  expect(await screen.findByText('$1.30 of $5.00')).toBeTruthy()
})

test('it is raised, set to an own amount, or taken away', async () => {
  const { config } = await show('budget')
  await fireEvent.click(screen.getByText('Raise to $3.00'))
  expect(onop).toHaveBeenLastCalledWith({
    op: 'set_budget',
    budget: { ...config.budget, session: 3_000_000 },
  })
  await fireEvent.input(screen.getByLabelText('Limit of the session in dollars'), { target: { value: '12' } })
  await fireEvent.click(screen.getByText('Set'))
  expect(onop).toHaveBeenLastCalledWith({
    op: 'set_budget',
    budget: { ...config.budget, session: 12_000_000 },
  })
  await fireEvent.click(screen.getByText('No limit'))
  expect(onop).toHaveBeenLastCalledWith({ op: 'set_budget', budget: { ask_expensive: true, day: 5_000_000 } })
})

test('a turn that waits at it goes on when it is raised', async () => {
  await show('at-budget')
  await fireEvent.click(screen.getByText('Raise to $3.00'))
  expect(onop).toHaveBeenLastCalledWith({ op: 'extend', limit: 'session_money', by: 1_000_000 })
})

test('a smaller model and a pause are at hand', async () => {
  await show('budget')
  await fireEvent.click(screen.getByText('Use model-small'))
  expect(onop).toHaveBeenLastCalledWith({
    op: 'set_model',
    model: { provider: 'openai', model: 'model-small' },
  })
  await fireEvent.click(screen.getByText('Pause after this iteration'))
  expect(onop).toHaveBeenLastCalledWith({ op: 'pause' })
})

test('an unknown price is said and no amount is made up', async () => {
  await show('unpriced')
  expect(text()).toContain('The price of this model is not known')
  expect(text()).not.toContain('$0.00')
})

test('a limit is proposed once, where money is spent without one', async () => {
  localStorage.clear()
  const { config } = await show('unbounded')
  expect(proposesBudget(config)).toBe(true)
  expect(proposesBudget({ ...config, demo: true })).toBe(false)
  expect(proposesBudget({ ...config, budget: { ...config.budget, day: 1 } })).toBe(false)
  expect(proposesBudget({ ...config, facts: { ...config.facts, cost: { cost: 'free' } } })).toBe(false)
  answerProposal()
  expect(proposesBudget(config)).toBe(false)
})

test('bounds that were raised hold, on tokens as on money', async () => {
  const { config } = await show('budget', { session: 7_000_000, tokens: 3_000_000 })
  expect(config.limits.session_tokens).toBe(1_000_000)
  expect(text()).toContain('$0.11 of $7.00')
  expect(text()).toContain('of 3 M tokens')
})

test('what was spent today is looked at again while the budget is open', async () => {
  vi.useFakeTimers()
  try {
    let cost = 1_300_000
    await show('budget', {}, () => ({ ...noUsage, cost }))
    await vi.advanceTimersByTimeAsync(10)
    expect(text()).toContain('$1.30 of $5.00')
    cost = 1_700_000
    await vi.advanceTimersByTimeAsync(5_100)
    expect(text()).toContain('$1.70 of $5.00')
  } finally {
    vi.useRealTimers()
  }
})
