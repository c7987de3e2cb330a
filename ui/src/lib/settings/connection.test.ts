import { beforeEach, expect, test } from 'vitest'
import { App } from '$lib/app.svelte'
import { HostError, type Host } from '$lib/host/host'
import { recordedHost, type RecordedHost } from '$lib/host/fixture'
import type { Request } from '$lib/protocol'
import { SettingsDesk } from '$lib/settings.svelte'
import { loadFixture } from '../../fixtures'
import { Connection } from './connection.svelte'
import { freeId, isAddress } from './presets'

let host: RecordedHost
let app: App
let desk: SettingsDesk
const asked = (kind: Request['request']): Request[] =>
  host.requests.filter((request) => request.request === kind)

beforeEach(async () => {
  host = recordedHost(await loadFixture('empty'))
  app = new App(host)
  await app.start()
  desk = new SettingsDesk(app)
})

test('a preset fills in address and name', () => {
  const connection = new Connection(app, desk)
  connection.choose('ollama')
  expect(connection.address).toBe('http://127.0.0.1:11434/v1')
  expect(connection.needsKey).toBe(false)
  expect(connection.complete).toBe(true)
})

test('a check saves the server, hands over the key once, asks, and makes the model the chosen one', async () => {
  const connection = new Connection(app, desk)
  connection.choose('cloud')
  connection.key = 'sk-secret'
  connection.model = 'model-large'
  expect(await connection.check()).toBe(true)
  expect(asked('set_key')).toEqual([{ request: 'set_key', provider: 'cloud', key: 'sk-secret' }])
  expect(asked('check_model')).toEqual([
    { request: 'check_model', model: { provider: 'cloud', model: 'model-large' } },
  ])
  expect(connection.key).toBe('')
  expect(connection.works).toBe(420)
  expect(app.settings?.model).toEqual({ provider: 'cloud', model: 'model-large' })
  expect(JSON.stringify(asked('save_settings'))).not.toContain('sk-secret')
})

test('a second check does not add a second server', async () => {
  const connection = new Connection(app, desk)
  connection.model = 'a'
  await connection.check()
  await connection.check()
  expect(app.settings?.providers.filter((provider) => provider.label === 'OpenAI')).toHaveLength(1)
})

test('the models of a server can be listed before one is chosen', async () => {
  const connection = new Connection(app, desk)
  connection.choose('ollama')
  await connection.list()
  expect(connection.models).toContain('gpt-oss:20b')
  expect(connection.model).toBe('qwen3-coder:30b')
})

test('a refusal is kept with its remedy and nothing is chosen', async () => {
  const refusing: Host = {
    ...host,
    request: (request) =>
      request.request === 'check_model'
        ? Promise.reject(
            new HostError({ code: 'model', message: 'The provider refused the key.', hint: 'Check it.' }),
          )
        : host.request(request),
  }
  app = new App(refusing)
  await app.start()
  const before = app.settings?.model
  const connection = new Connection(app, new SettingsDesk(app))
  connection.model = 'a'
  expect(await connection.check()).toBe(false)
  expect(connection.problem?.hint).toBe('Check it.')
  expect(app.settings?.model).toEqual(before)
})

test('addresses and ids', () => {
  expect(isAddress('http://127.0.0.1:8080/v1')).toBe(true)
  for (const text of ['', 'localhost', 'ftp://a', 'http://']) expect(isAddress(text)).toBe(false)
  const taken = ['cloud', 'cloud-2'].map((id) => ({
    id,
    kind: 'chat' as const,
    label: '',
    base_url: '',
    needs_key: true,
  }))
  expect(freeId('cloud', taken)).toBe('cloud-3')
  expect(freeId('ollama', taken)).toBe('ollama')
})
