import { fireEvent, render, screen } from '@testing-library/svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import { App, appContext } from '$lib/app.svelte'
import { recordedHost } from '$lib/host/fixture'
import { HostError } from '$lib/host/host'
import { loadFixture } from '../fixtures'
import { brokenLinks } from '../fixtures/models'
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

/** Opens the list of models of a use and takes one. */
async function chooseModel(use: string, model: string): Promise<void> {
  await fireEvent.click(screen.getByTestId(`use-${use}`))
  const option = await screen.findByRole('option', { name: new RegExp(`^${model}`, 'u') })
  await fireEvent.click(option)
}

test('a second model is offered first and used without asking only when that is chosen', async () => {
  show('models')
  await chooseModel('second', 'gpt-oss:20b')
  await vi.waitFor(() =>
    expect(app.settings?.fallback).toEqual({
      model: { provider: 'local', model: 'gpt-oss:20b' },
      automatic: false,
    }),
  )
  await fireEvent.click(await screen.findByLabelText('used without asking'))
  await vi.waitFor(() => expect(app.settings?.fallback?.automatic).toBe(true))
})

test('a model for small work is chosen by search, and taken back', async () => {
  show('models')
  await fireEvent.click(screen.getByTestId('use-small'))
  const field = await screen.findByTestId('model-search')
  await screen.findByRole('option', { name: /^model-small/u })
  await fireEvent.input(field, { target: { value: 'openai small' } })
  expect(screen.getAllByRole('option')).toHaveLength(1)
  await fireEvent.keyDown(field, { key: 'Enter' })
  await vi.waitFor(() => expect(app.settings?.small).toEqual({ provider: 'openai', model: 'model-small' }))
  await fireEvent.click(screen.getByLabelText('Small work: none'))
  await vi.waitFor(() => expect(app.settings?.small).toBeNull())
})

async function openModel(provider: string, model: string): Promise<void> {
  await fireEvent.click(screen.getByTestId(`models-of-${provider}`))
  await fireEvent.click(await screen.findByRole('button', { name: new RegExp(`^${model}`, 'u') }))
  await screen.findByTestId('correct-save')
}

test('the call format of a model is kept until it is native again', async () => {
  show('models')
  await openModel('local', 'qwen3-coder:30b')
  await choose('Call format of qwen3-coder:30b', 'XML')
  await vi.waitFor(() =>
    expect(app.settings?.formats).toEqual([
      { model: { provider: 'local', model: 'qwen3-coder:30b' }, format: 'xml' },
    ]),
  )
  await choose('Call format of qwen3-coder:30b', 'Native')
  await vi.waitFor(() => expect(app.settings?.formats).toEqual([]))
})

test('a window that is too small for the tools is said, and can be corrected', async () => {
  show('models')
  await openModel('local', 'llama3.3:70b')
  expect(screen.getByText(/window is 4\.1 k\. Paddock needs about 16\.4 k/u)).toBeTruthy()
  await fireEvent.input(screen.getByTestId('correct-window'), { target: { value: 'large' } })
  await fireEvent.click(screen.getByTestId('correct-save'))
  expect(await screen.findByText('Use a whole number above 0.')).toBeTruthy()
  await fireEvent.input(screen.getByTestId('correct-window'), { target: { value: '32768' } })
  await fireEvent.click(screen.getByTestId('correct-save'))
  await vi.waitFor(() =>
    expect(app.settings?.overrides).toEqual([
      { model: { provider: 'local', model: 'llama3.3:70b' }, window: 32_768 },
    ]),
  )
})

test('a self-test says link by link what works and which format is used', async () => {
  show('models')
  await openModel('openai', 'model-large')
  const [button] = screen.getAllByTestId('test-model')
  if (button === undefined) throw new Error('no test')
  await fireEvent.click(button)
  expect(
    await screen.findByText(/It answers\. First word after 0\.4 s\. Paddock uses its own tool calls/u),
  ).toBeTruthy()
  const links = screen.getByRole('list', { name: 'Self-test of model-large' })
  expect(links.textContent).toContain('Two calls at once')
})

test('the way to a server names the link that fails, with its remedy', async () => {
  const fixture = await loadFixture('settings')
  fixture.answers = (request) =>
    request.request === 'test_connection' ? { reply: 'connection', links: brokenLinks } : undefined
  app = new App(recordedHost(fixture))
  await app.start()
  show('models')
  await fireEvent.click(screen.getByTestId('test-openai'))
  expect(await screen.findByText('It fails at: Encryption')).toBeTruthy()
  expect(await screen.findByText(/Company networks often need an extra certificate/u)).toBeTruthy()
})

test('the state of each key is said in words', async () => {
  show('models')
  expect(await screen.findAllByText(/key in the keyring, ends with 4f2a/u)).toHaveLength(2)
})

test('a bound on money is switched on, typed, and refused in words when it is none', async () => {
  show('budget')
  const field = screen.getByLabelText<HTMLInputElement>('One session')
  expect(field.disabled).toBe(true)
  await fireEvent.click(screen.getByLabelText('No limit: One session'))
  await vi.waitFor(() => expect(app.settings?.budget).toEqual({ ask_expensive: true, session: 2_000_000 }))
  await fireEvent.input(field, { target: { value: 'much' } })
  await fireEvent.blur(field)
  expect(screen.getByRole('alert').textContent).toContain('Use an amount above 0')
  await fireEvent.input(field, { target: { value: '7.5' } })
  await fireEvent.blur(field)
  await vi.waitFor(() => expect(app.settings?.budget.session).toBe(7_500_000))
  await fireEvent.click(screen.getByLabelText('No limit: One session'))
  await vi.waitFor(() => expect(app.settings?.budget).toEqual({ ask_expensive: true }))
})

test('what was used today is said, and expensive requests need not be asked for', async () => {
  show('budget')
  expect((await screen.findByTestId('spent-today')).textContent).toContain('$1.30')
  await fireEvent.click(screen.getByLabelText('Ask before expensive requests'))
  await vi.waitFor(() => expect(app.settings?.budget.ask_expensive).toBe(false))
})

test('an own proxy is kept once it has an address that can be one', async () => {
  show('network')
  await choose('Proxy', 'Own address')
  const address = await screen.findByTestId('proxy-address')
  expect(app.settings?.network.proxy).toEqual({ proxy: 'system' })
  vi.spyOn(app.client, 'saveSettings').mockRejectedValueOnce(
    new HostError({ code: 'bad_request', message: 'No such proxy.', hint: 'Write it so.' }),
  )
  await fireEvent.input(address, { target: { value: 'socks4://proxy.example.com' } })
  await fireEvent.click(screen.getByTestId('proxy-save'))
  expect(await screen.findByText('No such proxy. Write it so.')).toBeTruthy()
  expect(app.settings?.network.proxy).toEqual({ proxy: 'system' })
  await fireEvent.input(address, { target: { value: 'proxy.example.com:3128' } })
  await fireEvent.input(screen.getByTestId('proxy-except'), { target: { value: '.example.com' } })
  await fireEvent.click(screen.getByTestId('proxy-save'))
  await vi.waitFor(() =>
    expect(app.settings?.network.proxy).toEqual({
      proxy: 'own',
      address: 'proxy.example.com:3128',
      except: '.example.com',
      login: false,
    }),
  )
})

test('a login at the proxy is set, shown as kept, and forgotten', async () => {
  show('network')
  await choose('Proxy', 'Own address')
  await fireEvent.input(await screen.findByTestId('proxy-address'), { target: { value: 'proxy:3128' } })
  await fireEvent.click(screen.getByTestId('proxy-save'))
  await fireEvent.click(await screen.findByTestId('change-login'))
  await fireEvent.input(screen.getByTestId('proxy-user'), { target: { value: 'anna' } })
  await fireEvent.input(screen.getByTestId('proxy-password'), { target: { value: 'geheim' } })
  const set = vi.spyOn(app.client, 'setProxyLogin')
  await fireEvent.click(screen.getByTestId('keep-login'))
  expect(await screen.findByText('A login is kept in the keyring.')).toBeTruthy()
  expect(set).toHaveBeenCalledWith('anna', 'geheim')
  expect(screen.queryByTestId('proxy-password')).toBeNull()
  await fireEvent.click(screen.getByTestId('forget-login'))
  expect(await screen.findByText('None.')).toBeTruthy()
})

test('a certificate file and being offline are kept', async () => {
  show('network')
  await fireEvent.input(screen.getByTestId('certificate'), { target: { value: '/etc/ssl/company.pem' } })
  await fireEvent.click(screen.getByTestId('certificate-save'))
  await vi.waitFor(() => expect(app.settings?.network.certificate).toBe('/etc/ssl/company.pem'))
  await fireEvent.click(screen.getByLabelText('Offline'))
  await vi.waitFor(() => expect(app.settings?.network.offline).toBe(true))
  await fireEvent.click(screen.getByText('Remove'))
  await vi.waitFor(() => expect('certificate' in (app.settings?.network ?? {})).toBe(false))
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
