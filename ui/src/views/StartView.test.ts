import { fireEvent, render, screen } from '@testing-library/svelte'
import { expect, test, vi } from 'vitest'
import { App, appContext } from '$lib/app.svelte'
import { recordedHost } from '$lib/host/fixture'
import { HostError, type Host } from '$lib/host/host'
import type { Request } from '$lib/protocol'
import { loadFixture } from '../fixtures'
import StartView from './StartView.svelte'

async function show(change: (host: Host) => Partial<Host> = () => ({})): Promise<App> {
  const host = recordedHost(await loadFixture('empty'))
  const app = new App({ ...host, ...change(host) })
  await app.start()
  render(StartView, { context: appContext(app) })
  return app
}

const refusing =
  (kind: Request['request']) =>
  (host: Host): Partial<Host> => ({
    request: (request) =>
      request.request === kind
        ? Promise.reject(
            new HostError({
              code: 'folder_refused',
              message: 'The home folder is too much.',
              hint: 'Choose another.',
            }),
          )
        : host.request(request),
  })

test('a refused folder is explained with its remedy and the path stays', async () => {
  await show(refusing('open_project'))
  const field = screen.getByTestId<HTMLInputElement>('open-path')
  await fireEvent.input(field, { target: { value: '/home/mira' } })
  await fireEvent.click(screen.getByTestId('open-path-button'))
  const alert = await screen.findByRole('alert')
  expect(alert.textContent).toContain('This folder cannot be opened.')
  expect(alert.textContent).toContain('Choose another.')
  expect(field.value).toBe('/home/mira')
})

test('the demo opens without a model', async () => {
  const app = await show()
  const openDemo = vi.spyOn(app, 'openDemo').mockResolvedValue()
  await fireEvent.click(screen.getByTestId('start-demo'))
  expect(openDemo).toHaveBeenCalled()
})

test('a folder that was not chosen changes nothing', async () => {
  const app = await show(() => ({ chooseFolder: () => Promise.resolve(null) }))
  const open = vi.spyOn(app, 'openProject').mockResolvedValue()
  await fireEvent.click(screen.getByTestId('open-button'))
  await vi.waitFor(() => expect(screen.getByTestId<HTMLButtonElement>('open-button').disabled).toBe(false))
  expect(open).not.toHaveBeenCalled()
})

test('a model can be connected in place', async () => {
  const app = await show()
  await fireEvent.click(screen.getByTestId('choose-model'))
  await fireEvent.click(await screen.findByLabelText(/^Ollama/u))
  await fireEvent.input(await screen.findByTestId('model-name'), { target: { value: 'gpt-oss:20b' } })
  await fireEvent.click(screen.getByTestId('check-model'))
  await screen.findByText(/It answers\./u)
  expect(app.settings?.model).toEqual({ provider: 'ollama', model: 'gpt-oss:20b' })
})
