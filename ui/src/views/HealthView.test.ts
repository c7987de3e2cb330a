import { fireEvent, render, screen, waitFor } from '@testing-library/svelte'
import { beforeEach, expect, test } from 'vitest'
import { App, appContext } from '$lib/app.svelte'
import { recordedHost, type RecordedHost } from '$lib/host/fixture'
import { health } from '../fixtures/health'
import HealthView from './HealthView.svelte'

let host: RecordedHost
let app: App

async function show(troubled: boolean): Promise<void> {
  host = recordedHost(health(troubled))
  app = new App(host)
  await app.start()
  render(HealthView, { context: appContext(app) })
}

beforeEach(() => {
  document.body.innerHTML = ''
})

test('it is looked at when the page is opened, and says so until there is an answer', async () => {
  await show(false)
  expect(screen.getByText(/The sandbox is really tried/u)).toBeTruthy()
  expect(await screen.findByText('Everything is as it should be.')).toBeTruthy()
  expect(host.requests.filter((request) => request.request === 'health')).toHaveLength(1)
  expect(app.health.worst).toBe('good')
})

test('what does not work comes with its steps, and what was tried with what was seen', async () => {
  await show(true)
  expect(await screen.findByText('1 thing does not work · 1 thing to know')).toBeTruthy()
  expect(app.health.worst).toBe('bad')
  expect(screen.getByText(/sudo sysctl -w/u)).toBeTruthy()
  const tested = screen.getByText('What was tested (6)').closest('button')
  expect(tested?.getAttribute('aria-expanded')).toBe('false')
  await fireEvent.click(screen.getByText('What was tested (6)'))
  const trials = [...document.querySelectorAll('.trials li')].map((line) => line.textContent)
  expect(trials).toHaveLength(6)
  // What did not hold stands first.
  expect(trials[0]).toContain('Writing a file beside the project did not hold')
  expect(trials[0]).toContain('It went through.')
})

test('Check again looks anew, and only once at a time', async () => {
  await show(false)
  await screen.findByText('Everything is as it should be.')
  await fireEvent.click(screen.getByText('Check again'))
  await waitFor(() => expect(app.health.loading).toBe(false))
  await Promise.all([app.health.check(), app.health.check()])
  expect(host.requests.filter((request) => request.request === 'health')).toHaveLength(3)
})

test('a refusal of the core is shown, and what was known stays', async () => {
  await show(false)
  await screen.findByText('Everything is as it should be.')
  const fail = app.client
  fail.health = () => Promise.reject(new Error('The helper is gone.'))
  await fireEvent.click(screen.getByText('Check again'))
  expect((await screen.findByRole('alert')).textContent).toContain('The helper is gone.')
  expect(screen.getByText('Everything is as it should be.')).toBeTruthy()
})
