/** What the health page shows: asked for when the page is opened, since the sandbox is really tried then. */
import type { ClientError, HealthItem, HealthState } from '$lib/protocol'
import type { Client } from '$lib/host/client'
import { hostError } from '$lib/host/host'

const worse: readonly HealthState[] = ['good', 'warning', 'bad']

export class HealthDesk {
  readonly #client: Client
  items = $state.raw<readonly HealthItem[] | undefined>()
  problem = $state.raw<ClientError | undefined>()
  loading = $state(false)
  /** The worst state of all; nothing before the first look. */
  readonly worst = $derived.by((): HealthState | undefined => {
    if (this.items === undefined) return undefined
    return this.items.reduce<HealthState>(
      (worst, { state }) => (worse.indexOf(state) > worse.indexOf(worst) ? state : worst),
      'good',
    )
  })
  /** When the oldest of the results was made. */
  readonly tested = $derived.by(() =>
    this.items === undefined || this.items.length === 0
      ? undefined
      : Math.min(...this.items.map((item) => item.tested)),
  )

  constructor(client: Client) {
    this.#client = client
  }

  /** Looks at everything; a look that is under way is not begun twice. */
  async check(): Promise<void> {
    if (this.loading) return
    this.loading = true
    try {
      this.items = await this.#client.health()
      this.problem = undefined
    } catch (thrown) {
      this.problem = hostError(thrown).error
    } finally {
      this.loading = false
    }
  }
}
