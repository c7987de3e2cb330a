/** What can be set up with one click: the known providers, and the model servers found on this machine. */
import type { FoundServer, ProviderPreset } from '$lib/protocol'
import type { App } from '$lib/app.svelte'

export class ServerFinder {
  presets = $state.raw<readonly ProviderPreset[]>([])
  servers = $state.raw<readonly FoundServer[]>([])
  looking = $state(false)
  readonly #app: App
  #asked: Promise<void> | undefined

  constructor(app: App) {
    this.#app = app
  }

  /** Asks once for the presets and looks once for servers. */
  load(): Promise<void> {
    this.#asked ??= Promise.all([this.#loadPresets(), this.look()]).then(() => undefined)
    return this.#asked
  }

  /** Looks for servers on this machine again. */
  async look(): Promise<void> {
    if (this.looking) return
    this.looking = true
    this.servers = await this.#app.client.findServers().catch(() => [])
    this.looking = false
  }

  async #loadPresets(): Promise<void> {
    this.presets = await this.#app.client.presets().catch(() => [])
  }
}
