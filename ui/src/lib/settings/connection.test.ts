import { beforeEach, expect, test } from 'vitest'
import { App } from '$lib/app.svelte'
import { HostError, type Host } from '$lib/host/host'
import { recordedHost, type RecordedHost } from '$lib/host/fixture'
import type { Reply, Request } from '$lib/protocol'
import { SettingsDesk } from '$lib/settings.svelte'
import { loadFixture } from '../../fixtures'
import { brokenLinks, goodTest, presets } from '../../fixtures/models'
import { Connection } from './connection.svelte'
import { freeId, isAddress } from './presets'

let host: RecordedHost
let app: App
let desk: SettingsDesk
const asked = (kind: Request['request']): Request[] =>
  host.requests.filter((request) => request.request === kind)
const preset = (id: string): (typeof presets)[number] | undefined => presets.find((one) => one.id === id)

/** A host that answers some requests in its own way. */
async function answering(own: (request: Request) => Promise<Reply> | undefined): Promise<void> {
  const other: Host = { ...host, request: (request) => own(request) ?? host.request(request) }
  app = new App(other)
  await app.start()
  desk = new SettingsDesk(app)
}

beforeEach(async () => {
  host = recordedHost(await loadFixture('empty'))
  app = new App(host)
  await app.start()
  desk = new SettingsDesk(app)
})

test('a preset fills in protocol, address and name', () => {
  const connection = new Connection(app, desk)
  expect(connection.picked).toBe(false)
  connection.choose(preset('anthropic'))
  expect(connection.kind).toBe('anthropic')
  expect(connection.address).toBe('https://api.anthropic.com')
  expect(connection.needsKey).toBe(true)
  expect(connection.complete).toBe(true)
})

test('a found server brings its models along', () => {
  const connection = new Connection(app, desk)
  connection.choose(preset('ollama'), [
    { model: 'tiny', facts: goodTest({ provider: 'a', model: 'b' }).facts },
  ])
  expect(connection.model).toBe('tiny')
  expect(connection.needsKey).toBe(false)
})

test('a check saves the server, hands over the key once, tests, and makes the model the chosen one', async () => {
  const connection = new Connection(app, desk)
  connection.choose(preset('openai'))
  connection.key = 'sk-secret'
  connection.model = 'model-large'
  expect(await connection.check()).toBe(true)
  expect(asked('set_key')).toEqual([{ request: 'set_key', provider: 'openai', key: 'sk-secret' }])
  expect(asked('test_model')).toEqual([
    { request: 'test_model', model: { provider: 'openai', model: 'model-large' } },
  ])
  expect(connection.key).toBe('')
  expect(connection.test?.format).toBe('native')
  expect(app.settings?.providers[0]?.kind).toBe('responses')
  expect(app.settings?.model).toEqual({ provider: 'openai', model: 'model-large' })
  expect(JSON.stringify(asked('save_settings'))).not.toContain('sk-secret')
})

test('a second check does not add a second server', async () => {
  const connection = new Connection(app, desk)
  connection.choose(preset('openai'))
  connection.model = 'a'
  await connection.check()
  await connection.check()
  expect(app.settings?.providers.filter((provider) => provider.label === 'OpenAI')).toHaveLength(1)
})

test('the models of a server can be listed before one is chosen', async () => {
  const connection = new Connection(app, desk)
  connection.choose(preset('ollama'))
  await connection.list()
  expect(connection.models?.map(({ model }) => model)).toContain('gpt-oss:20b')
  expect(connection.model).toBe('qwen3-coder:30b')
})

test('headers with a name are kept with the server', async () => {
  const connection = new Connection(app, desk)
  connection.choose(undefined)
  connection.label = 'Gateway'
  connection.address = 'https://models.example.com/v1/'
  connection.headers = [
    { name: 'x-team', value: 'orchard' },
    { name: ' ', value: 'lost' },
  ]
  await connection.list()
  expect(app.settings?.providers[0]).toMatchObject({
    id: 'server',
    base_url: 'https://models.example.com/v1',
    headers: [{ name: 'x-team', value: 'orchard' }],
  })
})

test('a model that cannot call tools is not chosen by itself, but may be', async () => {
  await answering((request) => {
    if (request.request !== 'test_model') return undefined
    const { model, links, facts, first_byte } = goodTest(request.model)
    return Promise.resolve({ reply: 'model_test', test: { model, links, facts, first_byte } })
  })
  const connection = new Connection(app, desk)
  connection.choose(preset('ollama'))
  connection.model = 'tiny'
  await connection.check()
  expect(app.settings?.model).toBeNull()
  await connection.use()
  expect(app.settings?.model).toEqual({ provider: 'ollama', model: 'tiny' })
})

test('a failure is kept with its remedy, and the way shows the link that fails', async () => {
  await answering((request) => {
    if (request.request === 'test_model')
      return Promise.reject(new HostError({ code: 'model', message: 'No connection.', hint: 'Check it.' }))
    if (request.request === 'test_connection')
      return Promise.resolve({ reply: 'connection', links: brokenLinks })
    return undefined
  })
  const connection = new Connection(app, desk)
  connection.choose(preset('openai'))
  connection.model = 'a'
  expect(await connection.check()).toBe(false)
  expect(connection.problem?.hint).toBe('Check it.')
  expect(connection.links?.find(({ state }) => state === 'bad')?.link).toBe('tls')
  expect(app.settings?.model).toBeNull()
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
