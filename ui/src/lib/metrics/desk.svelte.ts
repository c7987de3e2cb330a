/** What is asked about: range and scope; and the answers, of which only the last asked for counts. */
import type { ClientError, DecisionLine, Metrics, MetricsQuery } from '$lib/protocol'
import type { App } from '$lib/app.svelte'
import { hostError } from '$lib/host/host'
import type { MetricsRange, MetricsScope } from '$lib/texts/metrics'

/** So many lines of the log are asked for. */
export const MOST_DECISIONS = 500

export class MetricsDesk {
  range = $state<MetricsRange>('30')
  scope = $state<MetricsScope>('project')
  metrics = $state.raw<Metrics>()
  decisions = $state.raw<readonly DecisionLine[]>()
  problem = $state.raw<ClientError>()
  readonly #app: App
  #asked = 0

  constructor(app: App) {
    this.#app = app
  }

  get query(): MetricsQuery {
    return {
      project: this.#app.project?.path ?? null,
      session: this.scope === 'session' ? (this.#app.session?.id ?? null) : null,
      days: this.range === 'all' ? null : Number(this.range),
    }
  }

  /** Asks for figures and decisions; an answer that comes after a newer question is dropped. */
  async load(): Promise<void> {
    const asked = ++this.#asked
    const { query } = this
    this.problem = undefined
    try {
      const [metrics, decisions] = await Promise.all([
        this.#app.client.metrics(query),
        this.#app.client.decisions(query, MOST_DECISIONS),
      ])
      if (asked !== this.#asked) return
      this.metrics = metrics
      this.decisions = decisions
    } catch (thrown) {
      if (asked === this.#asked) this.problem = hostError(thrown).error
    }
  }
}
