/** Tests of the way to servers and of models, and what the last one of each found. */
import { SvelteMap } from 'svelte/reactivity'
import type { ClientError, LinkTest, ModelChoice, ModelTest, ProviderId } from '$lib/protocol'
import type { App } from '$lib/app.svelte'
import { hostError } from '$lib/host/host'
import { nameOf } from './models'

/** A test that runs, what it found, or why it could not be made. */
export type Trial<T> =
  { state: 'runs' } | { state: 'done'; found: T } | { state: 'failed'; error: ClientError }

export class Trials {
  readonly #ways = new SvelteMap<ProviderId, Trial<readonly LinkTest[]>>()
  readonly #models = new SvelteMap<string, Trial<ModelTest>>()
  readonly #app: App

  constructor(app: App) {
    this.#app = app
  }

  /** The way to a server. */
  way(provider: ProviderId): Trial<readonly LinkTest[]> | undefined {
    return this.#ways.get(provider)
  }

  model(model: ModelChoice): Trial<ModelTest> | undefined {
    return this.#models.get(nameOf(model))
  }

  async tryWay(provider: ProviderId): Promise<void> {
    await this.#try(this.#ways, provider, () => this.#app.client.testConnection(provider))
  }

  /** Tries a model; the core keeps the call format it found, so the settings are read again. */
  async tryModel(model: ModelChoice): Promise<void> {
    await this.#try(this.#models, nameOf(model), () => this.#app.client.testModel(model))
    this.#app.settings = await this.#app.client.settings().catch(() => this.#app.settings)
  }

  async #try<T>(kept: Map<string, Trial<T>>, key: string, work: () => Promise<T>): Promise<void> {
    if (kept.get(key)?.state === 'runs') return
    kept.set(key, { state: 'runs' })
    try {
      kept.set(key, { state: 'done', found: await work() })
    } catch (thrown) {
      kept.set(key, { state: 'failed', error: hostError(thrown).error })
    }
  }
}
