/**
 * Changes of the settings: each applies at once and can be taken back once. Also the states of the keys, which are
 * asked for because a keyring may be slow or locked.
 */
import { SvelteMap } from 'svelte/reactivity'
import type { ClientError, KeyState, ModelChoice, ProviderConfig, ProviderId, Settings } from '$lib/protocol'
import type { App } from './app.svelte'
import { hostError } from './host/host'

/** What stands in the notice after a change. */
export type ChangeNotice = { kind: 'changed'; before: Settings } | { kind: 'failed'; error: ClientError }

/** How long the offer to undo stands, in milliseconds. */
const NOTICE = 8_000

export class SettingsDesk {
  notice = $state.raw<ChangeNotice>()
  readonly keys = new SvelteMap<ProviderId, KeyState>()
  readonly #app: App
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(app: App) {
    this.#app = app
  }

  get current(): Settings | undefined {
    return this.#app.settings
  }

  /** Changes some fields; says so, with the way back. */
  async change(part: Partial<Settings>): Promise<boolean> {
    const before = this.#app.settings
    if (before === undefined) return false
    const saved = await this.#save({ ...before, ...part })
    if (saved) this.#show({ kind: 'changed', before })
    return saved
  }

  /** Takes the last change back. */
  async undo(): Promise<void> {
    if (this.notice?.kind !== 'changed') return
    const { before } = this.notice
    this.dismiss()
    await this.#save(before)
  }

  dismiss(): void {
    clearTimeout(this.#timer)
    this.notice = undefined
  }

  /** Adds a server or replaces the one with the same id. */
  async putProvider(provider: ProviderConfig): Promise<boolean> {
    const others = this.current?.providers ?? []
    const known = others.some((other) => other.id === provider.id)
    return this.change({
      providers: known
        ? others.map((other) => (other.id === provider.id ? provider : other))
        : [...others, provider],
    })
  }

  /** Removes a server; its models are no longer used for anything. */
  async removeProvider(id: ProviderId): Promise<boolean> {
    const settings = this.current
    if (settings === undefined) return false
    await this.#ask(async () => {
      this.keys.set(id, await this.#app.client.forgetKey(id))
    })
    const ofIt = (choice: ModelChoice | undefined | null): boolean => choice?.provider === id
    return this.change({
      providers: settings.providers.filter((provider) => provider.id !== id),
      model: ofIt(settings.model) ? null : settings.model,
      small: ofIt(settings.small) ? null : settings.small,
      fallback: ofIt(settings.fallback?.model) ? null : settings.fallback,
      formats: settings.formats.filter(({ model }) => !ofIt(model)),
      overrides: settings.overrides.filter(({ model }) => !ofIt(model)),
    })
  }

  async loadKeys(): Promise<void> {
    const providers = this.current?.providers ?? []
    await Promise.all(providers.map((provider) => this.loadKey(provider.id)))
  }

  async loadKey(id: ProviderId): Promise<void> {
    await this.#ask(async () => {
      this.keys.set(id, await this.#app.client.keyState(id))
    })
  }

  async forgetKey(id: ProviderId): Promise<void> {
    await this.#ask(async () => {
      this.keys.set(id, await this.#app.client.forgetKey(id))
    })
  }

  async #save(settings: Settings): Promise<boolean> {
    return this.#ask(() => this.#app.saveSettings(settings))
  }

  async #ask(work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (thrown) {
      this.#show({ kind: 'failed', error: hostError(thrown).error })
      return false
    }
  }

  #show(notice: ChangeNotice): void {
    clearTimeout(this.#timer)
    this.notice = notice
    if (notice.kind === 'changed') this.#timer = setTimeout(() => this.dismiss(), NOTICE)
  }
}
