import { fireEvent, render, screen } from '@testing-library/svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import { App, appContext } from '$lib/app.svelte'
import { recordedHost, type RecordedHost } from '$lib/host/fixture'
import type { About, Op } from '$lib/protocol'
import { loadFixture } from '../../fixtures'
import AutonomyMenu from './AutonomyMenu.svelte'
import HealthRow from './HealthRow.svelte'
import RoleMenu from './RoleMenu.svelte'
import Sidebar from './Sidebar.svelte'

let host: RecordedHost
let app: App

beforeEach(async () => {
  host = recordedHost(await loadFixture('approval'))
  app = new App(host)
  await app.start()
  await app.openProject('/home/mira/code/orchard')
  render(Sidebar, { context: appContext(app) })
})

const sent = (kind: string): unknown[] => host.requests.filter((request) => request.request === kind)

test('each session says its state in a word and what waits', () => {
  const row = screen.getByText('Why is CI slow?').closest('button')
  expect(row?.textContent).toContain('paused')
  expect(row?.textContent).toContain('1 thing waits for you')
})

test('a session is renamed in place', async () => {
  const row = screen.getByText('Why is CI slow?').closest('button')
  if (row === null) throw new Error('no row')
  await fireEvent.keyDown(row, { key: 'F2' })
  const field = screen.getByLabelText('Title of the session')
  await fireEvent.input(field, { target: { value: 'CI' } })
  await fireEvent.keyDown(field, { key: 'Enter' })
  expect(sent('submit')).toContainEqual({
    request: 'submit',
    session: 's-ci',
    op: { op: 'rename', title: 'CI' },
  })
})

test('Escape leaves the title as it was', async () => {
  const row = screen.getByText('Why is CI slow?').closest('button')
  if (row === null) throw new Error('no row')
  await fireEvent.keyDown(row, { key: 'F2' })
  const field = screen.getByLabelText('Title of the session')
  await fireEvent.input(field, { target: { value: 'CI' } })
  await fireEvent.keyDown(field, { key: 'Escape' })
  expect(sent('submit')).toEqual([])
})

test('the health row shows the worst state', () => {
  const bad = { ...(app.about as About), keyring_problem: 'It is locked.' }
  render(HealthRow, { about: bad, worst: undefined, current: false, onopen: () => undefined })
  expect(screen.getByText(/Keyring does not answer/u)).toBeTruthy()
  expect(screen.getByText(/Sandbox on/u)).toBeTruthy()
})

test('what the last look found counts as well', () => {
  render(HealthRow, { about: app.about as About, worst: 'bad', current: false, onopen: () => undefined })
  expect(screen.getByText(/Something does not work/u).className).toContain('bad')
})

async function open(name: string): Promise<void> {
  const button = screen.getByLabelText(name)
  await fireEvent.keyDown(button, { key: 'ArrowDown' })
}

test('a wider role is asked once, a narrower one applies at once', async () => {
  const onop = vi.fn<(op: Op) => void>()
  const config = app.session?.config
  if (config === undefined) throw new Error('no session')
  render(RoleMenu, { props: { config, onop }, context: appContext(app) })
  await open('Role: Act')
  await fireEvent.click(await screen.findByText('Admin'))
  expect(onop).not.toHaveBeenCalled()
  await fireEvent.click(await screen.findByText('Switch to Admin', { selector: '.label' }))
  expect(onop).toHaveBeenCalledWith({ op: 'set_role', role: 'admin' })
})

test('Hands-off does not exist without a proven sandbox', async () => {
  const onop = vi.fn<(op: Op) => void>()
  render(AutonomyMenu, { autonomy: 'careful', confined: false, onop })
  await open('Autonomy: Careful')
  const entry = (await screen.findByText('Hands-off')).closest('[role="menuitemradio"]')
  expect(entry?.getAttribute('aria-disabled')).toBe('true')
  expect(entry?.textContent).toContain('not confined')
})
