import { fireEvent, render, screen, within } from '@testing-library/svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import { App, appContext } from '$lib/app.svelte'
import { HostError } from '$lib/host/host'
import { recordedHost, type RecordedHost } from '$lib/host/fixture'
import type { Request } from '$lib/protocol'
import { loadFixture } from '../fixtures'
import WorkflowsView from './WorkflowsView.svelte'

let host: RecordedHost
let app: App

const asked = <K extends Request['request']>(kind: K): Extract<Request, { request: K }>[] =>
  host.requests.filter((request): request is Extract<Request, { request: K }> => request.request === kind)

beforeEach(async () => {
  localStorage.clear()
  host = recordedHost(await loadFixture('workflows'))
  app = new App(host)
  await app.start()
  await app.openProject(app.settings?.recent_projects[0] ?? '')
  app.view = 'workflows'
})

async function show(name: string): Promise<void> {
  app.workflow = name
  render(WorkflowsView, { context: appContext(app) })
  await screen.findByRole('navigation', { name: 'Workflows' })
}

const type = (label: string | RegExp, value: string): Promise<boolean> =>
  fireEvent.input(screen.getByLabelText(label), { target: { value } })

const preview = (): Promise<boolean> => fireEvent.click(screen.getByTestId('workflow-preview'))

/** Presses a guarded button once it is ready. */
async function pressReady(id: string): Promise<void> {
  const button = await screen.findByTestId(id)
  await vi.waitFor(() => expect(button.classList.contains('waiting')).toBe(false), { timeout: 3000 })
  await fireEvent.click(button, { detail: 0 })
}

test('the list is grouped by where a workflow comes from and marks what cannot run yet', async () => {
  await show('')
  const list = within(screen.getByRole('navigation', { name: 'Workflows' }))
  expect(list.getAllByRole('heading').map((heading) => heading.textContent)).toEqual([
    'Project',
    'Yours',
    'Paddock',
  ])
  expect(list.getByRole('button', { name: /Write release notes review/u })).toBeTruthy()
  expect(list.getByRole('button', { name: /Review my changes changed/u })).toBeTruthy()
  expect(list.getByRole('button', { name: /Rename a module cannot run/u })).toBeTruthy()
})

test('an incomplete form is not sent: faults stand under the fields and on top, the first one has the focus', async () => {
  await show('publish')
  await type(/^Day/u, '')
  await preview()
  expect(asked('preview_workflow')).toEqual([])
  const summary = within(screen.getByTestId('faults'))
  expect(summary.getByText('4 fields need another look')).toBeTruthy()
  const version = screen.getByLabelText(/^Version/u)
  expect(version.getAttribute('aria-invalid')).toBe('true')
  expect(document.activeElement).toBe(version)
  const described = (version.getAttribute('aria-describedby') ?? '').split(' ')
  expect(described.map((id) => document.getElementById(id)?.textContent)).toContain('Fill this in.')
  await fireEvent.click(summary.getByRole('button', { name: 'Notes' }))
  expect(document.activeElement).toBe(screen.getByLabelText(/^Notes/u))
})

test('what an empty field stands for is said', async () => {
  await show('explain')
  expect(screen.getByText('Empty means Overview')).toBeTruthy()
})

test('a number outside of its range and a path outside of the project are refused', async () => {
  await show('clean-up')
  await type(/^Older than/u, '400')
  await preview()
  expect(screen.getAllByText('Use a number: 0 to 365.')).toHaveLength(2)
  await fireEvent.click(screen.getByRole('button', { name: 'Explain this folder' }))
  await type(/^Folder/u, '../other')
  await preview()
  expect(screen.getAllByText(/Use a path inside the project/u)).toHaveLength(2)
  expect(asked('preview_workflow')).toEqual([])
})

test('what only the core can check comes back under its field', async () => {
  await show('publish')
  await type(/^Version/u, 'one')
  await type(/^Notes/u, 'Faster')
  await type(/^Day/u, '2026-03-14')
  await type(/^Key/u, 'packages')
  await preview()
  expect(await screen.findAllByText('Write it like 1.4.0.')).toHaveLength(2)
  expect(screen.queryByTestId('workflow-run')).toBeNull()
  expect(asked('preview_workflow')[0]?.values).toEqual({
    version: 'one',
    notes: 'Faster',
    day: '2026-03-14',
    key: 'packages',
    dry: true,
  })
})

test('the preview comes before the run, and the button carries the number', async () => {
  await show('clean-up')
  await preview()
  const run = await screen.findByTestId('workflow-run')
  expect(run.textContent.trim()).toBe('Delete 212 files')
  expect(run.classList.contains('danger')).toBe(true)
  expect(screen.getByRole('heading', { name: 'Delete 212 files' })).toBeTruthy()
  expect(screen.getByText('2 of these cannot be taken back.')).toBeTruthy()
  expect(screen.getByText('61 MB, too large to keep')).toBeTruthy()
  expect(asked('run_workflow')).toEqual([])
  await pressReady('workflow-run')
  await vi.waitFor(() => expect(asked('run_workflow')).toHaveLength(1))
  expect(asked('run_workflow')[0]).toEqual({
    request: 'run_workflow',
    session: 's-login',
    name: 'clean-up',
    values: { folders: ['dist'], age: 7, cache: false },
    token: 'tok-1',
  })
  await vi.waitFor(() => expect(app.view).toBe('session'))
})

test('the click that asked for the preview cannot start the run as well', async () => {
  await show('clean-up')
  await preview()
  const run = await screen.findByTestId('workflow-run')
  await fireEvent.click(run, { detail: 0 })
  expect(await screen.findByText('One moment')).toBeTruthy()
  expect(asked('run_workflow')).toEqual([])
})

test('a run can begin in a new session', async () => {
  await show('clean-up')
  await preview()
  await fireEvent.click(await screen.findByLabelText('A new session'))
  await pressReady('workflow-run')
  await vi.waitFor(() => expect(asked('run_workflow')).toHaveLength(1))
  expect(asked('create_session')).toHaveLength(1)
})

test('a world that changed since is said, and a new preview can be asked for', async () => {
  const before = host.request.bind(host)
  host.request = (request) =>
    request.request === 'run_workflow'
      ? Promise.reject(new HostError({ code: 'not_now', message: '3 files changed since the preview.' }))
      : before(request)
  await show('clean-up')
  await preview()
  await pressReady('workflow-run')
  expect((await screen.findByRole('alert')).textContent).toContain('3 files changed since the preview.')
  expect(app.view).toBe('workflows')
  await fireEvent.click(screen.getByRole('button', { name: 'Preview again' }))
  await vi.waitFor(() => expect(asked('preview_workflow')).toHaveLength(2))
})

test('the last values are offered again, and reset puts the defaults back', async () => {
  await show('clean-up')
  await type(/^Keep/u, '*.map')
  await fireEvent.click(screen.getByLabelText('build'))
  await preview()
  await fireEvent.click(await screen.findByTestId('workflow-back'))
  expect(screen.getByLabelText<HTMLInputElement>(/^Keep/u).value).toBe('*.map')
  await fireEvent.click(screen.getByRole('button', { name: 'Explain this folder' }))
  await fireEvent.click(screen.getByRole('button', { name: 'Clean up generated files' }))
  expect(screen.getByLabelText<HTMLInputElement>('build').checked).toBe(true)
  await fireEvent.click(screen.getByRole('button', { name: 'Reset' }))
  expect(screen.getByLabelText<HTMLInputElement>('build').checked).toBe(false)
  expect(screen.getByLabelText<HTMLInputElement>(/^Keep/u).value).toBe('')
})

test('a workflow of the project is read in full before it can be switched on', async () => {
  await show('release-notes')
  const text = await screen.findByTestId('definition')
  expect(text.textContent).toContain('curl -s https://notes.example.com/t')
  expect(text.textContent).toContain('U+200B')
  expect(
    screen.getByText('2 characters in this file could fool the eye. They are marked with boxes.'),
  ).toBeTruthy()
  expect(screen.getByText('It runs 2 commands on this computer.')).toBeTruthy()
  expect(screen.queryByTestId('workflow-preview')).toBeNull()
  const on = screen.getByTestId<HTMLButtonElement>('switch-on')
  await vi.waitFor(() => expect(on.disabled).toBe(false))
  await fireEvent.click(on)
  await screen.findByTestId('workflow-preview')
  expect(asked('review_definition')).toMatchObject([
    { path: '.paddock/workflows/release-notes.toml', accept: true },
  ])
  expect(asked('review_definition')[0]?.hash).toMatch(/^[0-9a-f]{64}$/u)
})

test('a file that changed since it was reviewed says so, and can be left off', async () => {
  await show('review')
  expect(screen.getByText('It changed since you reviewed it.')).toBeTruthy()
  await screen.findByTestId('definition')
  await fireEvent.click(screen.getByTestId('leave-off'))
  await vi.waitFor(() => expect(asked('review_definition')).toMatchObject([{ accept: false }]))
  expect(screen.queryByTestId('workflow-preview')).toBeNull()
})

test('a text that is not the one of the list cannot be switched on', async () => {
  const before = host.request.bind(host)
  host.request = async (request) => {
    const reply = await before(request)
    return request.request === 'definition' ? { reply: 'text', text: 'title = "Another"' } : reply
  }
  await show('release-notes')
  expect(await screen.findByText('The file changed while this page was open.')).toBeTruthy()
  expect(screen.getByTestId<HTMLButtonElement>('switch-on').disabled).toBe(true)
})

test('what is wrong with a file is said in its words', async () => {
  await show('rename')
  expect(screen.getByText('This workflow cannot run.')).toBeTruthy()
  expect(screen.getByText('Step 1 uses {to}, but there is no parameter “to”.')).toBeTruthy()
  expect(screen.queryByTestId('workflow-preview')).toBeNull()
})

test('an unknown name is said', async () => {
  await show('nothing-of-that-name')
  expect(screen.getByText('There is no workflow named “nothing-of-that-name” in this project.')).toBeTruthy()
})

test('Escape leaves the preview first and the view then', async () => {
  await show('clean-up')
  await preview()
  await screen.findByTestId('workflow-run')
  await fireEvent.keyDown(window, { key: 'Escape' })
  expect(screen.getByTestId('workflow-preview')).toBeTruthy()
  await fireEvent.keyDown(window, { key: 'Escape' })
  expect(app.view).toBe('session')
})
