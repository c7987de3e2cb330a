/**
 * Setting up one model server, step by step: what kind, its address, its key, its model, and a real test that it
 * answers and calls tools. Used on the start screen and in the settings.
 */
import type {
  ClientError,
  HeaderLine,
  LinkTest,
  ModelChoice,
  ModelEntry,
  ModelTest,
  ProviderConfig,
  ProviderKind,
  ProviderPreset,
} from '$lib/protocol'
import type { App } from '$lib/app.svelte'
import { hostError } from '$lib/host/host'
import type { SettingsDesk } from '$lib/settings.svelte'
import { brokenLink } from '$lib/texts/models'
import { freeId, isAddress } from './presets'

export class Connection {
  /** Whether it was said where the model runs. */
  picked = $state(false)
  /** The preset it is made from; absent = an own address. */
  preset = $state.raw<ProviderPreset>()
  kind = $state<ProviderKind>('chat')
  label = $state('')
  address = $state('')
  needsKey = $state(false)
  headers = $state<HeaderLine[]>([])
  /** Typed, never shown again, and gone as soon as the core has it. */
  key = $state('')
  model = $state('')
  models = $state.raw<readonly ModelEntry[]>()
  busy = $state<'list' | 'check'>()
  problem = $state.raw<ClientError>()
  /** The way to the server, when it does not lead there. */
  links = $state.raw<readonly LinkTest[]>()
  /** What the self-test of the model found. */
  test = $state.raw<ModelTest>()
  /** The server that is being changed; absent for a new one. */
  #known = $state.raw<ProviderConfig>()
  readonly #app: App
  readonly #desk: SettingsDesk
  readonly complete: boolean = $derived.by(() => isAddress(this.address) && this.label.trim() !== '')

  constructor(app: App, desk: SettingsDesk, known?: ProviderConfig) {
    this.#app = app
    this.#desk = desk
    if (known !== undefined) this.#fill(known)
  }

  get isNew(): boolean {
    return this.#known === undefined
  }

  /** Takes address and name of a preset; nothing stands for an own address. */
  choose(preset: ProviderPreset | undefined, models?: readonly ModelEntry[]): void {
    this.picked = true
    this.preset = preset
    this.kind = preset?.kind ?? 'chat'
    this.label = preset?.label ?? ''
    this.address = preset?.base_url ?? ''
    this.needsKey = preset?.needs_key ?? false
    this.headers = []
    this.models = models
    this.model = models?.[0]?.model ?? ''
    this.#forget()
  }

  /** Asks the server for its models. */
  async list(): Promise<void> {
    await this.#work('list', async (provider) => {
      this.models = await this.#app.client.models(provider.id)
      if (this.model === '') this.model = this.models[0]?.model ?? ''
    })
  }

  /** Saves the server and tries the model; it becomes the one of new sessions when it can call tools. */
  async check(): Promise<boolean> {
    const model = this.model.trim()
    if (model === '') return false
    return this.#work('check', async (provider) => {
      const test = await this.#app.client.testModel({ provider: provider.id, model })
      this.test = test
      if (test.format !== undefined && brokenLink(test.links) === undefined) await this.use()
    })
  }

  /** Makes the tested model the one of new sessions, whatever the test found. */
  async use(): Promise<void> {
    const choice: ModelChoice | undefined = this.test?.model
    if (choice !== undefined) await this.#desk.change({ model: choice })
  }

  #fill(known: ProviderConfig): void {
    this.#known = known
    this.picked = true
    this.kind = known.kind
    this.label = known.label
    this.address = known.base_url
    this.needsKey = known.needs_key
    this.headers = (known.headers ?? []).map((line) => ({ ...line }))
    const chosen = this.#app.settings?.model
    if (chosen?.provider === known.id) this.model = chosen.model
  }

  #forget(): void {
    this.test = undefined
    this.links = undefined
    this.problem = undefined
  }

  async #work(kind: 'list' | 'check', ask: (provider: ProviderConfig) => Promise<void>): Promise<boolean> {
    if (this.busy !== undefined || !this.complete) return false
    this.busy = kind
    this.#forget()
    try {
      const provider = await this.#save()
      if (provider === undefined) return false
      await ask(provider).catch((thrown: unknown) => this.#explain(provider, thrown))
      return this.problem === undefined
    } finally {
      this.busy = undefined
    }
  }

  /** A server that did not answer: which link of the way fails says more than the failure. */
  async #explain(provider: ProviderConfig, thrown: unknown): Promise<void> {
    this.problem = hostError(thrown).error
    const links = await this.#app.client.testConnection(provider.id).catch(() => [])
    if (brokenLink(links) !== undefined) this.links = links
  }

  async #save(): Promise<ProviderConfig | undefined> {
    const headers = this.headers.filter(({ name }) => name.trim() !== '')
    const window = this.#known?.window
    const provider: ProviderConfig = {
      id: this.#known?.id ?? freeId(this.preset?.id ?? 'server', this.#app.settings?.providers ?? []),
      kind: this.kind,
      label: this.label.trim(),
      base_url: this.address.trim().replace(/\/+$/u, ''),
      needs_key: this.needsKey,
      ...(window === undefined ? {} : { window }),
      ...(headers.length === 0 ? {} : { headers: $state.snapshot(headers) }),
    }
    if (!(await this.#desk.putProvider(provider))) {
      const notice = this.#desk.notice
      if (notice?.kind === 'failed') this.problem = notice.error
      return undefined
    }
    this.#known = provider
    if (this.key === '') return provider
    try {
      this.#desk.keys.set(provider.id, await this.#app.client.setKey(provider.id, this.key))
      this.key = ''
      return provider
    } catch (thrown) {
      this.problem = hostError(thrown).error
      return undefined
    }
  }
}
