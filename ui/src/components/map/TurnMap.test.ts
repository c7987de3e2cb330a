import { fireEvent, render, screen } from '@testing-library/svelte'
import { beforeEach, expect, test } from 'vitest'
import { App, appContext } from '$lib/app.svelte'
import { recordedHost, type RecordedHost } from '$lib/host/fixture'
import { mapDesk } from '$lib/map/map.svelte'
import type { OpenSession } from '$lib/timeline/timeline.svelte'
import { mapped } from '../../fixtures/map'
import TurnMap from './TurnMap.svelte'

let host: RecordedHost
let app: App
let session: OpenSession

beforeEach(async () => {
  document.body.innerHTML = ''
  host = recordedHost(mapped())
  app = new App(host)
  await app.start()
  await app.openSession('s-login')
  if (app.session === undefined) throw new Error('no session')
  session = app.session
  render(TurnMap, { props: { session }, context: appContext(app) })
})

const stage = (): HTMLElement => screen.getByRole('group', { name: /of the turn/u })
const press = (key: string): Promise<boolean> => fireEvent.keyDown(stage(), { key })
const rows = (): (string | null | undefined)[] =>
  [...document.querySelectorAll('tbody tr:not([aria-hidden])')].map((row) =>
    row.querySelector('th')?.textContent.trim(),
  )

test('T shows the table, which names every entry; T again goes back', async () => {
  await press('t')
  expect(rows()).toContain('Run npm install --save-dev fake-clock')
  const { bars } = mapDesk(session)
  expect(screen.getByRole('table').getAttribute('aria-rowcount')).toBe(String(bars.length + 1))
  await press('T')
  expect(screen.queryByRole('table')).toBeNull()
})

test('arrow keys go through the turn, Enter shows all facts, Escape lets go', async () => {
  await press('Home')
  await press('ArrowRight')
  expect(mapDesk(session).bar?.subject).toBe('answer')
  await press('End')
  await press('ArrowUp')
  const bar = mapDesk(session).bar
  expect(bar).toBeDefined()
  await press('Enter')
  expect(mapDesk(session).detailed).toBe(true)
  await press('Escape')
  expect(mapDesk(session).bar).toBeUndefined()
})

test('the same goes by button', async () => {
  await fireEvent.click(screen.getByLabelText('Next entry'))
  expect(mapDesk(session).selected).toBe(mapDesk(session).bars[0]?.key)
  await fireEvent.click(screen.getByLabelText('Zoom in'))
  expect(mapDesk(session).zoom).toBeGreaterThan(1)
  await fireEvent.click(screen.getByLabelText('Earlier'))
  await fireEvent.click(screen.getByLabelText('Fit'))
  expect(mapDesk(session).zoom).toBe(1)
})

test('what is zoomed follows the end until it is moved', async () => {
  const desk = mapDesk(session)
  await press('+')
  expect(desk.start + 1 / desk.zoom).toBeLessThan(1)
  desk.panTo(1)
  expect(desk.pan).toBeUndefined()
  expect(desk.start + 1 / desk.zoom).toBeCloseTo(1)
  desk.panTo(-5)
  expect(desk.start).toBe(0)
})

test('a column sorts the table, pressed again the other way round', async () => {
  await press('t')
  await fireEvent.click(screen.getByTitle('Sort by Waited'))
  await fireEvent.click(screen.getByTitle('Sort by Waited'))
  expect(rows()[0]).toBe('Run npm install --save-dev fake-clock')
  const head = screen.getByTitle('Sort by Waited').closest('th')
  expect(head?.getAttribute('aria-sort')).toBe('descending')
})

test('an entry leads to its row, to its raw data and to its undo', async () => {
  const desk = mapDesk(session)
  const edit = desk.bars.find((bar) => bar.target === 'src/login.ts' && bar.verb === 'edit')
  desk.select(edit?.key)
  await fireEvent.click(await screen.findByText('Undo'))
  expect(host.requests.at(-1)).toMatchObject({ request: 'submit', op: { op: 'undo', call: edit?.call } })
  await fireEvent.click(screen.getByText('Show raw'))
  expect(app.raw).toMatchObject({ turn: 2, iteration: 2, item: edit?.item })
  await fireEvent.click(screen.getByText('Show in the timeline'))
  expect(app.view).toBe('session')
  expect(app.wantedItem).toBe(edit?.item)
})

test('another turn is chosen, and the newest one again', () => {
  const desk = mapDesk(session)
  desk.choose(1)
  expect(desk.bars.filter((bar) => bar.subject === 'call')).toHaveLength(1)
  desk.choose(2)
  expect(desk.chosen).toBeUndefined()
})
