/** The models that can be chosen: of every configured server that answers, the ones already in use first. */
import type { ModelChoice } from '$lib/protocol'
import type { App } from '$lib/app.svelte'
import { sameModel } from './models'

/** A model with the name of its server. */
export interface ModelOffer {
  choice: ModelChoice
  label: string
}

/** So many models of one server are offered in a menu; the rest is reachable through the settings. */
const MOST = 12

export class ModelCatalogue {
  #listed = $state.raw<readonly ModelChoice[]>([])
  #asked = false
  readonly #app: App

  constructor(app: App) {
    this.#app = app
  }

  /** Asks every server once; one that does not answer is left out. */
  async load(): Promise<void> {
    if (this.#asked) return
    this.#asked = true
    const providers = (this.#app.settings?.providers ?? []).filter((provider) => provider.kind !== 'demo')
    const lists = await Promise.all(
      providers.map((provider) =>
        this.#app.client.models(provider.id).then(
          (models) => models.slice(0, MOST).map((model) => ({ provider: provider.id, model })),
          () => [],
        ),
      ),
    )
    this.#listed = lists.flat()
  }

  /** The model in use, others that are known by name, and those that the servers listed. */
  offers(current: ModelChoice | undefined, ...more: readonly (ModelChoice | undefined)[]): ModelOffer[] {
    const settings = this.#app.settings
    const known = [current, settings?.model ?? undefined, ...more].filter((choice) => choice !== undefined)
    const all: ModelChoice[] = []
    for (const choice of [...known, ...this.#listed])
      if (choice.model !== '' && !all.some((other) => sameModel(other, choice))) all.push(choice)
    return all.map((choice) => ({
      choice,
      label:
        settings?.providers.find((provider) => provider.id === choice.provider)?.label ?? choice.provider,
    }))
  }

  /** The models to switch to, without the one in use. */
  others(current: ModelChoice | undefined, ...more: readonly (ModelChoice | undefined)[]): ModelOffer[] {
    return this.offers(current, ...more).filter(
      ({ choice }) => current === undefined || !sameModel(choice, current),
    )
  }
}
