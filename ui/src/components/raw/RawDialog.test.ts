import { fireEvent, render, screen } from '@testing-library/svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import { App, appContext } from '$lib/app.svelte'
import { recordedHost } from '$lib/host/fixture'
import { mapped } from '../../fixtures/map'
import RawDialog from './RawDialog.svelte'

let app: App

beforeEach(async () => {
  document.body.innerHTML = ''
  app = new App(recordedHost(mapped()))
  await app.start()
  await app.openSession('s-login')
})

function show(iteration: number, item?: number): void {
  const session = app.session
  if (session === undefined) throw new Error('no session')
  const props = { place: { session, turn: 2, iteration, item }, onclose: vi.fn() }
  render(RawDialog, { props, context: appContext(app) })
}

test('several requests of an iteration are tabs, the last one is shown', async () => {
  show(3)
  expect(await screen.findByText('Request 2')).toBeTruthy()
  expect(screen.getByRole('tab', { name: /Request 2/u }).getAttribute('aria-selected')).toBe('true')
  expect(screen.getByText(/2,048 bytes left out at the end/u)).toBeTruthy()
  await fireEvent.click(screen.getByText('Request 1'))
  expect(screen.getByText(/chat\/completions/u).parentElement?.textContent).toContain('HTTP 529')
})

test('what is no longer kept is said', async () => {
  show(1)
  expect(await screen.findByText(/no longer kept/u)).toBeTruthy()
  expect(screen.queryByRole('tab')).toBeNull()
})

test('a call shows its arguments and its result first', async () => {
  const item = app.session?.order.find((cell) => cell.call?.target === 'npm uninstall fake-clock')?.item
  if (item === undefined) throw new Error('no call')
  show(item.iteration, item.id)
  expect(await screen.findByText(/Raw data: Run npm uninstall fake-clock/u)).toBeTruthy()
  const parts = screen.getAllByRole('radio').map((radio) => radio.closest('label')?.textContent.trim())
  expect(parts).toEqual(['Arguments', 'Result', 'Request', 'Response'])
  expect(screen.getByRole('group', { name: 'Arguments' })).toBeTruthy()
})
