import { fireEvent, render, screen, within } from '@testing-library/svelte'
import { beforeEach, describe, expect, test } from 'vitest'
import AppView from './App.svelte'
import { loadFixture } from './fixtures'
import { App, appContext } from '$lib/app.svelte'
import { recordedHost, type RecordedHost } from '$lib/host/fixture'

let host: RecordedHost
let app: App

async function show(name: string): Promise<void> {
  const fixture = await loadFixture(name)
  host = recordedHost(fixture)
  app = new App(host)
  render(AppView, { context: appContext(app) })
  await app.start()
  if (fixture.opens === true && fixture.project !== undefined) await app.openProject(fixture.project.path)
}

beforeEach(() => localStorage.clear())

test('a core that does not answer is said with what to do', async () => {
  await show('start')
  host.request = () =>
    Promise.reject({ code: 'internal', message: 'The core is gone.', hint: 'Start Paddock again.' })
  await app.start()
  const alert = await screen.findByText('The core is gone.')
  expect(alert.parentElement?.textContent).toContain('Start Paddock again.')
})

test('notices stand in a landmark of their own, which is gone with the last of them', async () => {
  await show('finished')
  app.toast('Something happened')
  const notices = await screen.findByRole('region', { name: 'Notices' })
  expect(within(notices).getByText('Something happened')).toBeTruthy()
  await fireEvent.click(within(notices).getByLabelText('Dismiss'))
  expect(screen.queryByRole('region', { name: 'Notices' })).toBeNull()
})

describe('an open session', () => {
  test('has its landmarks', async () => {
    await show('finished')
    expect(await screen.findByRole('main')).toBeTruthy()
    expect(screen.getByRole('banner')).toBeTruthy()
    expect(screen.getByRole('feed')).toBeTruthy()
    expect(screen.getByRole('complementary')).toBeTruthy()
    expect(screen.getByRole('navigation')).toBeTruthy()
  })

  test('lists the changes of the turn and asks the core to undo one', async () => {
    await show('finished')
    const panel = within(await screen.findByRole('complementary'))
    await fireEvent.click(await panel.findByRole('button', { name: /login\.ts/ }))
    await fireEvent.click(await panel.findByRole('button', { name: /Undo the change of src\/login.ts/ }))
    expect(host.requests).toContainEqual({
      request: 'submit',
      session: 's-login',
      op: { op: 'undo', call: 't1.i3.c1' },
    })
  })

  test('F6 goes from region to region', async () => {
    await show('finished')
    await screen.findByRole('main')
    // The test page has no layout: every region counts as on screen.
    Element.prototype.getClientRects = () => [{}] as unknown as DOMRectList
    const seen: (string | undefined)[] = []
    for (let step = 0; step < 5; step++) {
      await fireEvent.keyDown(window, { key: 'F6' })
      seen.push(document.activeElement?.closest<HTMLElement>('[data-region]')?.dataset['region'])
    }
    expect(seen).toEqual(['sidebar', 'header', 'timeline', 'composer', 'panel'])
  })
})
