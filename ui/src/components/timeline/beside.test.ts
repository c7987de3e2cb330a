import { configure, fireEvent, render, screen, within } from '@testing-library/svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import AppView from '../../App.svelte'
import { loadFixture } from '../../fixtures'
import type { Op, Verb } from '$lib/protocol'
import { App, appContext } from '$lib/app.svelte'
import { recordedHost, type RecordedHost } from '$lib/host/fixture'
import SessionScreen from '../shell/SessionScreen.svelte'
import OverdueCard from '../limits/OverdueCard.svelte'
import Row from './Row.svelte'
import { OpenSession } from '$lib/timeline/timeline.svelte'
import { TimelineView } from '$lib/timeline/view.svelte'

configure({ asyncUtilTimeout: 8_000 })

let host: RecordedHost
let app: App
let view: TimelineView

/** Opens the recorded session and shows its rows, one below the other: the page of a test has no layout. */
async function rows(name: string, only?: Verb | 'none'): Promise<void> {
  const fixture = await loadFixture(name)
  host = recordedHost(fixture)
  app = new App(host)
  const session = new OpenSession(app.client, fixture.sessions[0]?.session ?? '')
  await session.open()
  view = new TimelineView(session)
  const wanted = view.rows.filter((row) => only === undefined || view.cell(row.id)?.call?.verb === only)
  for (const row of wanted) render(Row, { props: { view, row }, context: appContext(app) })
}

const ops = (): (Op | undefined)[] =>
  host.requests.flatMap((request) => (request.request === 'submit' ? [request.op] : []))

beforeEach(() => localStorage.clear())

test('a task list names how far it is, what goes on now, and what the last update changed', async () => {
  await rows('tasks')
  const list = screen.getByRole('button', { name: /Tasks 3 of 6/u })
  expect(list.textContent).toContain('now: Add a fake clock for tests')
  await fireEvent.click(list)
  const marked = screen.getAllByText('changed').map((mark) => mark.closest('li')?.textContent)
  expect(marked).toHaveLength(4)
  expect(marked[0]).toContain('Find out why the login test is flaky')
  expect(screen.getByText('Add a fake clock for tests').closest('li')?.getAttribute('aria-current')).toBe(
    'step',
  )
})

test('a call that waits for another one says for which', async () => {
  await rows('tasks')
  expect(screen.getByText('after Edit src/login.ts')).toBeTruthy()
})

test('a sub-agent opens with its own rows; its keys do not move the rows around it', async () => {
  await rows('agents', 'delegate')
  await fireEvent.click(screen.getByRole('button', { name: /Sub-agent tests/u }))
  const feed = within(await screen.findByRole('feed', { name: 'Sub-agent tests' }))
  const search = await feed.findByRole('article', { name: /Search setTimeout/u })
  expect(feed.getByText('Task from main')).toBeTruthy()
  let heard = 0
  const listen = (): number => heard++
  document.addEventListener('keydown', listen)
  search.focus()
  await fireEvent.keyDown(search, { key: 'ArrowRight' })
  await fireEvent.keyDown(search, { key: 'x' })
  document.removeEventListener('keydown', listen)
  expect(heard).toBe(0)
  expect(search.querySelector('[aria-expanded="true"]')).toBeTruthy()
})

test('a sub-agent is stopped by ending its call', async () => {
  await rows('agents', 'delegate')
  await fireEvent.click(screen.getByRole('button', { name: /Sub-agent tests/u }))
  await fireEvent.click(screen.getByRole('button', { name: 'Stop it' }))
  expect(ops()).toContainEqual({ op: 'end_call', call: 't1.i4.c1' })
})

test('an ended background process says how', async () => {
  await rows('background')
  expect(screen.getByText(/exit 2/u)).toBeTruthy()
  expect(screen.getByText(/ended by the agent/u)).toBeTruthy()
})

test.each([
  ['overdue-keep', 'keep_waiting'],
  ['overdue-background', 'to_background'],
  ['overdue-end', 'end_call'],
])('a late command asks: %s', async (button, op) => {
  await rows('overdue', 'run')
  const call = view.session.order.at(-1)?.call
  if (call === undefined) throw new Error('no call')
  expect(screen.getByText('Did not end within 120 seconds. It is still running.')).toBeTruthy()
  const sent: Op[] = []
  render(OverdueCard, {
    late: { call, began: Date.now() - 131_000 },
    limit: 120_000,
    all: 1,
    onop: (one: Op) => sent.push(one),
  })
  expect(screen.getByText('The command did not end within 120 seconds.')).toBeTruthy()
  await fireEvent.click(screen.getByTestId(button))
  expect(sent).toEqual([{ op, call: call.call }])
})

async function window(name: string): Promise<void> {
  const fixture = await loadFixture(name)
  host = recordedHost(fixture)
  app = new App(host)
  render(AppView, { context: appContext(app) })
  await app.start()
  if (fixture.project !== undefined) await app.openProject(fixture.project.path)
}

test('the full view of a sub-agent has a path back and nothing to write with', async () => {
  await rows('agents', 'none')
  app.session = view.session
  view.inside = 't1.i4.c1'
  render(SessionScreen, { props: { session: view.session, view }, context: appContext(app) })
  const path = await screen.findByLabelText('Path to this sub-agent')
  expect(path.textContent).toContain('tests')
  expect(screen.queryByTestId('composer-input')).toBeNull()
  expect(document.querySelector('[data-region="approvals"]')?.textContent).toContain('main › tests')
  await fireEvent.click(within(path).getByText('main'))
  expect(await screen.findByTestId('composer-input')).toBeTruthy()
  expect(screen.queryByLabelText('Path to this sub-agent')).toBeNull()
})

test('deciding one of two approvals leaves the other', async () => {
  await window('agents')
  const dock = await vi.waitUntil(() => document.querySelector('[data-region="approvals"]'))
  expect(dock.textContent).toContain('main › tests')
  host.emit([
    {
      session: 's-login',
      seq: 101,
      at: Date.now(),
      msg: {
        type: 'approval_resolved',
        approval: 'sub-1',
        outcome: { outcome: 'withdrawn', why: 'sub_agent_ended' },
      },
    },
  ])
  await screen.findByText('npm test -- login', { selector: '[data-card] *' })
  expect(dock.textContent).not.toContain('main › tests')
})

test('a busy folder keeps the message and offers to wait or to run read-only', async () => {
  await window('busy')
  const field = await screen.findByTestId<HTMLTextAreaElement>('composer-input')
  await fireEvent.input(field, { target: { value: 'Fix it' } })
  await fireEvent.click(screen.getByTestId('composer-send'))
  expect(await screen.findByText('Another session is changing this folder.')).toBeTruthy()
  expect(field.value).toBe('Fix it')
  await fireEvent.click(screen.getByTestId('folder-wait'))
  expect(ops()).toContainEqual({ op: 'send', text: 'Fix it', mode: 'when_free' })
})

test('while the folder is awaited, the waiting can be ended', async () => {
  await window('waiting')
  await fireEvent.click(await screen.findByTestId('stop-waiting'))
  expect(ops()).toContainEqual({ op: 'stop_waiting' })
})

test('a background process shows its output and is ended from the panel', async () => {
  await window('background')
  await fireEvent.click(await screen.findByRole('tab', { name: /Processes/u }))
  const panel = within(await screen.findByRole('tabpanel', { name: 'Processes' }))
  await fireEvent.click(await panel.findByRole('button', { name: /^npm run dev/u }))
  expect(await panel.findByText(/Local: http/u)).toBeTruthy()
  await fireEvent.click(panel.getByRole('button', { name: /^End npm run dev/u }))
  expect(ops()).toContainEqual({ op: 'end_process', process: 'p1' })
})

test('a second model is the first thing offered when the model failed', async () => {
  await window('second-model')
  await fireEvent.click(await screen.findByTestId('use-fallback'))
  expect(ops()).toEqual([
    { op: 'set_model', model: { provider: 'openai', model: 'gpt-5.2' } },
    { op: 'continue', allow_cause: false },
  ])
})
