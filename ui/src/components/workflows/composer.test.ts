import { fireEvent, render, screen } from '@testing-library/svelte'
import { expect, test, vi } from 'vitest'
import AppView from '../../App.svelte'
import { App, appContext } from '$lib/app.svelte'
import { recordedHost, type RecordedHost } from '$lib/host/fixture'
import { loadFixture } from '../../fixtures'

async function show(): Promise<{ app: App; host: RecordedHost; field: HTMLTextAreaElement }> {
  localStorage.clear()
  sessionStorage.clear()
  const host = recordedHost(await loadFixture('workflows'))
  const app = new App(host)
  render(AppView, { context: appContext(app) })
  await app.start()
  await app.openProject(app.settings?.recent_projects[0] ?? '')
  return { app, host, field: await screen.findByTestId<HTMLTextAreaElement>('composer-input') }
}

const write = (field: HTMLTextAreaElement, value: string): Promise<boolean> =>
  fireEvent.input(field, { target: { value } })

test('the menu after / offers workflows and shows the form, without starting anything', async () => {
  const { app, host, field } = await show()
  await write(field, '/')
  await vi.waitFor(() => expect(screen.getAllByRole('option').length).toBeGreaterThan(4))
  const named = screen.getAllByRole('option').map((one) => one.textContent.trim())
  expect(named.some((text) => text.startsWith('/clean-up'))).toBe(true)
  expect(named.some((text) => text.startsWith('/rename'))).toBe(false)
  await write(field, '/clean')
  await fireEvent.keyDown(field, { key: 'Enter' })
  expect(app.view).toBe('workflows')
  expect(
    await screen.findByRole('heading', { name: 'Clean up generated files' }, { timeout: 20_000 }),
  ).toBeTruthy()
  expect(host.requests.filter(({ request }) => request === 'run_workflow' || request === 'submit')).toEqual(
    [],
  )
}, 30_000)
