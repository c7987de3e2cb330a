import { fireEvent, render, screen } from '@testing-library/svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import { App, appContext } from '$lib/app.svelte'
import { recordedHost } from '$lib/host/fixture'
import { loadFixture } from '../fixtures'
import SettingsView from './SettingsView.svelte'

let app: App

beforeEach(async () => {
  app = new App(recordedHost(await loadFixture('settings')))
  await app.start()
})

function show(page: string): void {
  app.settingsPage = page
  render(SettingsView, { context: appContext(app) })
}

/** Opens a select box by keyboard and takes the option whose words begin with a text. */
async function choose(label: string, option: string): Promise<void> {
  const [trigger] = await screen.findAllByLabelText(new RegExp(`^${label}`, 'u'), { selector: 'button' })
  if (trigger === undefined) throw new Error(`no select ${label}`)
  await fireEvent.keyDown(trigger, { key: 'ArrowDown' })
  const found = (await screen.findAllByRole('option')).find((one) =>
    one.textContent.trim().startsWith(option),
  )
  if (found === undefined) throw new Error(`no option ${option}`)
  await fireEvent.pointerUp(found)
}

test('a change applies at once and can be taken back', async () => {
  show('notifications')
  await fireEvent.click(screen.getByLabelText('A turn is done'))
  await vi.waitFor(() => expect(app.settings?.notifications.done).toBe(false))
  await fireEvent.click(await screen.findByText('Undo'))
  await vi.waitFor(() => expect(app.settings?.notifications.done).toBe(true))
})

test('a limit outside of its range is refused in words and not saved', async () => {
  show('limits')
  const field = screen.getByLabelText('Iterations per turn')
  await fireEvent.input(field, { target: { value: '5000' } })
  await fireEvent.blur(field)
  expect(screen.getByRole('alert').textContent).toContain('Use a number from 1 to 200.')
  expect(app.settings?.limits.iterations).toBe(25)
  await fireEvent.input(field, { target: { value: '40' } })
  await fireEvent.blur(field)
  await vi.waitFor(() => expect(app.settings?.limits.iterations).toBe(40))
})

test('a limit can be switched off and on', async () => {
  show('limits')
  const [first] = screen.getAllByLabelText('No limit')
  if (first === undefined) throw new Error('no switch')
  await fireEvent.click(first)
  await vi.waitFor(() => expect(app.settings?.limits.active_time).toBeNull())
  await fireEvent.click(first)
  await vi.waitFor(() => expect(app.settings?.limits.active_time).toBe(1_800_000))
})

test('a profile brings the numbers that the core reports', async () => {
  show('limits')
  await choose('Profile', 'Complex')
  await vi.waitFor(() => expect(app.settings?.profile).toBe('complex'))
  expect(app.settings?.limits).toEqual(app.about?.profiles.find((one) => one.profile === 'complex')?.limits)
})

test('the loop guard can be softened', async () => {
  show('limits')
  await choose('When the agent repeats itself', 'Hint only')
  await vi.waitFor(() => expect(app.settings?.limits.guard).toBe('hint_only'))
})

test('a second model is offered first and used without asking only when that is chosen', async () => {
  show('models')
  await choose('Second model', 'gpt-oss:20b')
  await vi.waitFor(() =>
    expect(app.settings?.fallback).toEqual({
      model: { provider: 'local', model: 'gpt-oss:20b' },
      automatic: false,
    }),
  )
  await fireEvent.click(await screen.findByLabelText('used without asking'))
  await vi.waitFor(() => expect(app.settings?.fallback?.automatic).toBe(true))
})

test('the call format of a model is kept until it is native again', async () => {
  show('models')
  await choose('Call format of qwen3-coder:30b', 'XML')
  await vi.waitFor(() =>
    expect(app.settings?.formats).toEqual([
      { model: { provider: 'local', model: 'qwen3-coder:30b' }, format: 'xml' },
    ]),
  )
  await choose('Call format of qwen3-coder:30b', 'Native')
  await vi.waitFor(() => expect(app.settings?.formats).toEqual([]))
})

test('the state of each key is said in words', async () => {
  show('models')
  expect(await screen.findAllByText(/key in the keyring, ends with 4f2a/u)).toHaveLength(2)
})

test('the sandbox page says what is confined', () => {
  show('sandbox')
  expect(screen.getByText('Confined to the project folder')).toBeTruthy()
})

test('Escape leaves the settings', async () => {
  app.view = 'settings'
  show('about')
  expect(screen.getByTestId('version').textContent).toContain('0.1.0')
  await fireEvent.keyDown(window, { key: 'Escape' })
  expect(app.view).toBe('start')
})

async function showRules(page: string): Promise<void> {
  app = new App(recordedHost(await loadFixture('rules')))
  await app.start()
  await app.openProject('/home/mira/code/orchard')
  show(page)
}

test('a rule can be removed, and put back for some seconds', async () => {
  await showRules('rules')
  await fireEvent.click(await screen.findByText('git push, any arguments'))
  await fireEvent.click(screen.getByTestId('remove-rule'))
  await screen.findByText(/^Removed: git push, any arguments/u)
  expect(screen.queryByRole('row', { name: /git push/u })).toBeNull()
  await fireEvent.click(screen.getByTestId('undo-remove'))
  expect(await screen.findByRole('row', { name: /git push/u })).toBeTruthy()
})

test('rules are found by their words', async () => {
  await showRules('rules')
  await screen.findByText('npm test, any arguments')
  await fireEvent.input(screen.getByLabelText('Search rules'), { target: { value: 'docker' } })
  expect(screen.queryByText('npm test, any arguments')).toBeNull()
  expect(screen.getByText('asleep')).toBeTruthy()
})

test('a command is tried out and not run', async () => {
  await showRules('rules')
  await fireEvent.input(screen.getByLabelText('Test a command'), { target: { value: 'sudo rm -rf build' } })
  await fireEvent.click(screen.getByTestId('test-command'))
  expect(await screen.findByText('would be refused')).toBeTruthy()
  expect(screen.getByText(/sudo is never run/u)).toBeTruthy()
})

test('a host that is allowed can be revoked', async () => {
  await showRules('sandbox')
  await fireEvent.click(await screen.findByLabelText('Revoke connections to api.github.com'))
  await vi.waitFor(() => expect(screen.queryByLabelText('Revoke connections to api.github.com')).toBeNull())
  expect(screen.getByLabelText('Revoke connections to all hosts below example.com')).toBeTruthy()
})

test('without a project there are no rules to show', () => {
  show('rules')
  expect(screen.getByText('Open a project to see its rules.')).toBeTruthy()
})
