/**
 * The review of one workflow or role file of a project: its whole text, and the decision for exactly that text.
 *
 * The list and the text are read at two moments. What is switched on is named by the hash of the list, so the text
 * on screen must have that hash too, or the person would agree to something they did not read.
 */
import type { ClientError } from '$lib/protocol'
import type { Client, DefinitionFile } from '$lib/host/client'
import { hostError } from '$lib/host/host'

/** Hex SHA-256 of a text in UTF-8. */
export async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

export class DefinitionReview {
  text = $state.raw<string>()
  /** Whether the text is the one that would be switched on; unknown until it was read. */
  fits = $state<boolean>()
  busy = $state(false)
  problem = $state.raw<ClientError>()
  readonly #client: Client
  readonly #project: string
  readonly #file: DefinitionFile

  constructor(client: Client, project: string, { path, hash }: DefinitionFile) {
    this.#client = client
    this.#project = project
    this.#file = { path, hash }
  }

  async read(): Promise<void> {
    await this.#work(async () => {
      const text = await this.#client.definition(this.#project, this.#file.path)
      this.fits = (await hashOf(text)) === this.#file.hash.toLowerCase()
      this.text = text
    })
  }

  /** Switches the file on, or leaves it off; true when the core has taken the decision. */
  async decide(accept: boolean): Promise<boolean> {
    if (accept && this.fits !== true) return false
    return this.#work(() => this.#client.reviewDefinition(this.#project, this.#file, accept))
  }

  async #work(work: () => Promise<void>): Promise<boolean> {
    if (this.busy) return false
    this.busy = true
    this.problem = undefined
    try {
      await work()
      return true
    } catch (thrown) {
      this.problem = hostError(thrown).error
      return false
    } finally {
      this.busy = false
    }
  }
}
