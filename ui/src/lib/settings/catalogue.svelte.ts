/** The models that can be chosen: of every configured server that answers, the ones already in use first. */
import type { ModelChoice, ModelEntry, ModelFacts, ProviderId } from '$lib/protocol'
import type { App } from '$lib/app.svelte'
import { nameOf, sameModel } from './models'

/** A model with the name of its server. */
export interface ModelOffer {
  choice: ModelChoice
  label: string
  /** What is known of it; absent when no server listed it. */
  facts?: ModelFacts | undefined
}

export class ModelCatalogue {
  #listed = $state.raw<readonly { provider: ProviderId; models: readonly ModelEntry[] }[]>([])
  /** Servers that did not answer. */
  silent = $state.raw<readonly ProviderId[]>([])
  loading = $state(false)
  #asked: Promise<void> | undefined
  readonly #app: App

  constructor(app: App) {
    this.#app = app
  }

  /** Asks every server once; one that does not answer is left out and named. */
  load(): Promise<void> {
    this.#asked ??= this.#ask()
    return this.#asked
  }

  async #ask(): Promise<void> {
    this.loading = true
    const providers = (this.#app.settings?.providers ?? []).filter((provider) => provider.kind !== 'demo')
    await Promise.all(
      providers.map(async ({ id: provider }) => {
        try {
          const models = await this.#app.client.models(provider)
          this.#listed = [...this.#listed, { provider, models }]
        } catch {
          this.silent = [...this.silent, provider]
        }
      }),
    )
    this.loading = false
  }

  /** What is known of a model, as its server's list says. */
  factsOf(choice: ModelChoice): ModelFacts | undefined {
    return this.#listed
      .find(({ provider }) => provider === choice.provider)
      ?.models.find(({ model }) => model === choice.model)?.facts
  }

  /** The name of a server for the person. */
  labelOf(provider: ProviderId): string {
    return this.#app.settings?.providers.find(({ id }) => id === provider)?.label ?? provider
  }

  /** The model in use, others that are known by name, and those that the servers listed. */
  offers(current: ModelChoice | undefined, ...more: readonly (ModelChoice | undefined)[]): ModelOffer[] {
    const settings = this.#app.settings
    const known = [current, settings?.model, settings?.small, settings?.fallback?.model, ...more]
    const listed = this.#listed.flatMap(({ provider, models }) =>
      models.map(({ model, facts }) => ({ choice: { provider, model }, facts })),
    )
    const all: Record<string, ModelOffer> = {}
    for (const choice of known) {
      if (choice === undefined || choice === null || choice.model === '') continue
      all[nameOf(choice)] ??= { choice, label: this.labelOf(choice.provider), facts: this.factsOf(choice) }
    }
    for (const { choice, facts } of listed) {
      all[nameOf(choice)] ??= { choice, label: this.labelOf(choice.provider), facts }
    }
    return Object.values(all)
  }

  /** The models to switch to, without the one in use. */
  others(current: ModelChoice | undefined, ...more: readonly (ModelChoice | undefined)[]): ModelOffer[] {
    return this.offers(current, ...more).filter(
      ({ choice }) => current === undefined || !sameModel(choice, current),
    )
  }
}

/** The offers whose name or server holds every word that was typed. */
export function found<T extends { choice: ModelChoice; label: string }>(
  offers: readonly T[],
  wanted: string,
): T[] {
  const words = wanted.toLowerCase().split(/\s+/u).filter(Boolean)
  return offers.filter(({ choice, label }) => {
    const name = `${choice.model} ${label}`.toLowerCase()
    return words.every((word) => name.includes(word))
  })
}
