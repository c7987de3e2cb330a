/** The names of the workflows, for the menu after `/`. Asked for when the menu opens; a failure leaves it shorter. */
import type { App } from '$lib/app.svelte'
import type { NamedWorkflow } from '$lib/composer/commands'

export class WorkflowNames {
  all = $state.raw<readonly NamedWorkflow[]>([])
  readonly #app: App

  constructor(app: App) {
    this.#app = app
  }

  async load(): Promise<void> {
    const project = this.#app.project?.path
    if (project === undefined) return
    const found = await this.#app.client.workflows(project).catch(() => undefined)
    if (found !== undefined) this.all = found.filter(({ problems }) => problems.length === 0)
  }
}
