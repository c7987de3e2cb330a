/** The models that can be chosen: of every configured server that answers, the ones already in use first. */
import type { ModelChoice } from '$lib/protocol'
import type { App } from '$lib/app.svelte'

/** A model with the name of its server. */
export interface ModelOffer {
  choice: ModelChoice
  label: string
}

/** So many models of one server are offered in a menu; the rest is reachable through the settings. */
const MOST = 12

const same = (one: ModelChoice, other: ModelChoice): boolean =>
  one.provider === other.provider && one.model === other.model

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

  /** The models to offer beside the one in use. */
  offers(current: ModelChoice | undefined): ModelOffer[] {
    const settings = this.#app.settings
    const known = [current, settings?.model ?? undefined].filter((choice) => choice !== undefined)
    const all: ModelChoice[] = []
    for (const choice of [...known, ...this.#listed])
      if (choice.model !== '' && !all.some((other) => same(other, choice))) all.push(choice)
    return all.map((choice) => ({
      choice,
      label:
        settings?.providers.find((provider) => provider.id === choice.provider)?.label ?? choice.provider,
    }))
  }

  /** The models to switch to, without the one in use. */
  others(current: ModelChoice | undefined): ModelOffer[] {
    return this.offers(current).filter(({ choice }) => current === undefined || !same(choice, current))
  }
}
