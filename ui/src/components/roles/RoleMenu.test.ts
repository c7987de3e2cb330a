import { fireEvent, render, screen } from '@testing-library/svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import { App, appContext } from '$lib/app.svelte'
import { recordedHost, type RecordedHost } from '$lib/host/fixture'
import type { Op, Request, SessionConfig } from '$lib/protocol'
import { loadFixture } from '../../fixtures'
import RoleMenu from '../sessions/RoleMenu.svelte'

let host: RecordedHost
let app: App
let ops: Op[]

const used = (): string[] =>
  host.requests.flatMap((request: Request) => (request.request === 'use_role' ? [request.name] : []))

beforeEach(async () => {
  ops = []
  host = recordedHost(await loadFixture('workflows'))
  app = new App(host)
  await app.start()
  await app.openProject(app.settings?.recent_projects[0] ?? '')
})

async function open(change: Partial<SessionConfig> = {}): Promise<void> {
  const config = app.session?.config
  if (config === undefined) throw new Error('no session')
  render(RoleMenu, {
    props: { config: { ...config, ...change }, onop: (op: Op) => ops.push(op) },
    context: appContext(app),
  })
  await fireEvent.keyDown(screen.getByRole('button', { name: /^Role: / }), { key: 'ArrowDown' })
  await screen.findByRole('menuitemradio', { name: /^Reviewer/u })
}

const entry = (name: RegExp): HTMLElement => screen.getByRole('menuitemradio', { name })

test('own roles stand under the built-in ones, with their base', async () => {
  await open()
  const names = screen
    .getAllByRole('menuitemradio')
    .map((one) => one.querySelector('.words span')?.textContent)
  expect(names).toEqual(['Plan', 'Act', 'Admin', 'Reviewer', 'Wide', 'Writer of docs', 'half'])
  expect(entry(/^Reviewer/u).textContent).toContain('Based on Plan · yours')
  expect(entry(/^half/u).getAttribute('aria-disabled')).toBe('true')
  expect(entry(/^half/u).textContent).toContain('there is no tool named “fly”')
})

test('a narrower role is used at once, a wider one is asked for once', async () => {
  await open()
  await fireEvent.click(entry(/^Reviewer/u))
  await vi.waitFor(() => expect(used()).toEqual(['Reviewer']))
  await fireEvent.keyDown(screen.getByRole('button', { name: /^Role: / }), { key: 'ArrowDown' })
  await fireEvent.click(await screen.findByRole('menuitemradio', { name: /^Wide/u }))
  expect(used()).toEqual(['Reviewer'])
  await fireEvent.click(await screen.findByRole('button', { name: 'Switch to Wide' }))
  await vi.waitFor(() => expect(used()).toEqual(['Reviewer', 'Wide']))
})

test('a menu that closed leaves the page to the pointer', async () => {
  await open()
  await fireEvent.click(entry(/^Reviewer/u))
  await vi.waitFor(() => expect(screen.queryByRole('menu')).toBeNull())
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(document.body.style.pointerEvents).toBe('')
})

test('a role of the project is read before it is used', async () => {
  await open({ role: 'plan' })
  expect(entry(/^Writer of docs/u).textContent).toContain('From the project. Read it first.')
  await fireEvent.click(entry(/^Writer of docs/u))
  const text = await screen.findByTestId('definition')
  expect(text.textContent).toContain('You only touch files under docs/.')
  expect(used()).toEqual([])
  const on = screen.getByTestId<HTMLButtonElement>('switch-on')
  await vi.waitFor(() => expect(on.disabled).toBe(false))
  await fireEvent.click(on)
  // Act allows more than Plan: the switch is asked for after the review too.
  await fireEvent.click(await screen.findByRole('button', { name: 'Switch to Writer of docs' }))
  await vi.waitFor(() => expect(used()).toEqual(['Writer of docs']))
})

test('a role in use is named with its base, and its base can be chosen again', async () => {
  await open({ own_role: { name: 'Reviewer', base: 'act', prompt: '' } })
  expect(screen.getByRole('button', { name: 'Role: Reviewer, based on Act', hidden: true })).toBeTruthy()
  expect(entry(/^Reviewer/u).getAttribute('aria-checked')).toBe('true')
  expect(entry(/^Act/u).getAttribute('aria-checked')).toBe('false')
  await fireEvent.click(entry(/^Act/u))
  await vi.waitFor(() => expect(ops).toEqual([{ op: 'set_role', role: 'act' }]))
})
