/**
 * Setting up one model server, step by step: what kind, its address, its key, its model, and a real question to see
 * that it answers. Used on the start screen and in the settings.
 */
import type { ClientError, Millis, ModelChoice, ProviderConfig } from '$lib/protocol'
import type { App } from '$lib/app.svelte'
import { hostError } from '$lib/host/host'
import type { SettingsDesk } from '$lib/settings.svelte'
import type { PresetName } from '$lib/texts/start'
import { freeId, isAddress, presets } from './presets'

export class Connection {
  preset = $state<PresetName>('cloud')
  label = $state('')
  address = $state('')
  needsKey = $state(false)
  /** Typed, never shown again, and gone as soon as the core has it. */
  key = $state('')
  window = $state('')
  model = $state('')
  models = $state.raw<readonly string[]>()
  busy = $state<'list' | 'check'>()
  problem = $state.raw<ClientError>()
  /** Time to the first byte, once the model answered. */
  works = $state<Millis>()
  /** The server that is being changed; absent for a new one. */
  #known = $state.raw<ProviderConfig>()
  readonly #app: App
  readonly #desk: SettingsDesk
  readonly complete: boolean = $derived.by(() => isAddress(this.address) && this.label.trim() !== '')

  constructor(app: App, desk: SettingsDesk, known?: ProviderConfig) {
    this.#app = app
    this.#desk = desk
    if (known === undefined) this.choose('cloud')
    else this.#fill(known)
  }

  get isNew(): boolean {
    return this.#known === undefined
  }

  /** Takes the address and name of a preset. */
  choose(preset: PresetName): void {
    const { label, base_url, needs_key } = presets[preset]
    this.preset = preset
    this.label = label
    this.address = base_url
    this.needsKey = needs_key
    this.models = undefined
    this.works = undefined
    this.problem = undefined
  }

  /** Asks the server for its models. */
  async list(): Promise<void> {
    await this.#work('list', async (provider) => {
      this.models = await this.#app.client.models(provider.id)
      if (this.model === '') this.model = this.models[0] ?? ''
    })
  }

  /** Saves the server and asks the model for a word; the model becomes the one of new sessions when it answers. */
  async check(): Promise<boolean> {
    const model = this.model.trim()
    if (model === '') return false
    return this.#work('check', async (provider) => {
      const choice: ModelChoice = { provider: provider.id, model }
      this.works = await this.#app.client.checkModel(choice)
      await this.#desk.change({ model: choice })
    })
  }

  /** Saves what was typed without asking the server. */
  async save(): Promise<boolean> {
    return (await this.#save()) !== undefined
  }

  #fill(known: ProviderConfig): void {
    this.#known = known
    this.preset = 'own'
    this.label = known.label
    this.address = known.base_url
    this.needsKey = known.needs_key
    this.window = known.window === undefined ? '' : String(known.window)
    const chosen = this.#app.settings?.model
    if (chosen?.provider === known.id) this.model = chosen.model
  }

  async #work(kind: 'list' | 'check', ask: (provider: ProviderConfig) => Promise<void>): Promise<boolean> {
    if (this.busy !== undefined || !this.complete) return false
    this.busy = kind
    this.problem = undefined
    this.works = undefined
    try {
      const provider = await this.#save()
      if (provider === undefined) return false
      await ask(provider)
      return true
    } catch (thrown) {
      this.problem = hostError(thrown).error
      return false
    } finally {
      this.busy = undefined
    }
  }

  async #save(): Promise<ProviderConfig | undefined> {
    const window = /^\d+$/u.test(this.window.trim()) ? Number(this.window) : undefined
    const provider: ProviderConfig = {
      id: this.#known?.id ?? freeId(presets[this.preset].id, this.#app.settings?.providers ?? []),
      kind: 'chat',
      label: this.label.trim(),
      base_url: this.address.trim().replace(/\/+$/u, ''),
      needs_key: this.needsKey,
      ...(window === undefined ? {} : { window }),
    }
    if (!(await this.#desk.putProvider(provider))) {
      const notice = this.#desk.notice
      if (notice?.kind === 'failed') this.problem = notice.error
      return undefined
    }
    this.#known = provider
    if (this.key !== '') {
      this.#desk.keys.set(provider.id, await this.#app.client.setKey(provider.id, this.key))
      this.key = ''
    }
    return provider
  }
}
