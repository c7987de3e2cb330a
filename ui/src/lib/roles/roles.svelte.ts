/**
 * The own roles that a session can be switched to. Whether a switch has to be asked for depends on the base alone:
 * a role can only take away from it.
 */
import type { ClientError, Role, RoleInfo } from '$lib/protocol'
import type { App } from '$lib/app.svelte'
import type { DefinitionFile } from '$lib/host/client'
import { hostError } from '$lib/host/host'

const WIDER: readonly Role[] = ['plan', 'act', 'admin']

/** Whether one role allows more than another. */
export const isWider = (role: Role, than: Role): boolean => WIDER.indexOf(role) > WIDER.indexOf(than)

/** The file that has to be read before a role can be used. */
export function fileToReview({ source }: RoleInfo): (DefinitionFile & { changed: boolean }) | undefined {
  return source.from === 'project' && !source.reviewed
    ? { path: source.path, hash: source.hash, changed: source.changed }
    : undefined
}

export class RoleBook {
  all = $state.raw<readonly RoleInfo[]>([])
  problem = $state.raw<ClientError>()
  readonly #app: App

  constructor(app: App) {
    this.#app = app
  }

  async load(): Promise<void> {
    const project = this.#app.project?.path
    if (project === undefined) return
    try {
      this.all = await this.#app.client.roles(project)
      this.problem = undefined
    } catch (thrown) {
      this.problem = hostError(thrown).error
    }
  }

  /** The same role as it is now, after a review. */
  again(info: RoleInfo): RoleInfo | undefined {
    return this.all.find((one) => one.name === info.name && one.source.from === info.source.from)
  }

  use(info: RoleInfo): void {
    const session = this.#app.session?.id
    if (session !== undefined) this.#app.attempt(this.#app.client.useRole(session, info.name))
  }
}
