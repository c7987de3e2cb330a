/** The rules of a project as a page shows them: looked up, removed with a way back, added. */
import type { ClientError, RuleDraft, RuleInfo } from '$lib/protocol'
import { hostError } from '$lib/host/host'
import type { RuleDoor } from './door'

/** How long a removed rule can be put back, in milliseconds. */
const UNDO = 10_000

/** A rule that was taken away a moment ago. */
export interface Removed {
  info: RuleInfo
}

export class RulesDesk {
  rules = $state.raw<readonly RuleInfo[] | undefined>()
  problem = $state.raw<ClientError | undefined>()
  removed = $state.raw<Removed | undefined>()
  query = $state('')
  #timer: ReturnType<typeof setTimeout> | undefined

  readonly found: readonly RuleInfo[] = $derived.by(() => {
    const wanted = this.query.trim().toLowerCase()
    const rules = this.rules ?? []
    return wanted === '' ? rules : rules.filter(({ words }) => words.toLowerCase().includes(wanted))
  })

  constructor(readonly door: RuleDoor) {}

  load(): Promise<boolean> {
    return this.#ask(() => this.door.list())
  }

  async remove(info: RuleInfo): Promise<void> {
    if (!(await this.#ask(() => this.door.remove(info.rule.id)))) return
    clearTimeout(this.#timer)
    this.removed = { info }
    this.#timer = setTimeout(() => (this.removed = undefined), UNDO)
  }

  /** Takes a rule away that belongs to a group: the group brings it back. */
  drop(info: RuleInfo): Promise<boolean> {
    return this.#ask(() => this.door.remove(info.rule.id))
  }

  /** Puts the rule that was removed last back; it counts its uses anew. */
  async undo(): Promise<void> {
    const before = this.removed
    if (before === undefined) return
    this.removed = undefined
    await this.add(draftOf(before.info))
  }

  add(rule: RuleDraft): Promise<boolean> {
    return this.#ask(() => this.door.save(rule))
  }

  /** Keeps the changed rule and takes the old one away; nothing is lost in between. */
  async replace(info: RuleInfo, rule: RuleDraft): Promise<boolean> {
    return (await this.add(rule)) && (await this.#ask(() => this.door.remove(info.rule.id)))
  }

  async #ask(work: () => Promise<RuleInfo[]>): Promise<boolean> {
    try {
      this.rules = await work()
      this.problem = undefined
      return true
    } catch (thrown) {
      this.problem = hostError(thrown).error
      return false
    }
  }
}

/** The rule without its history. */
export function draftOf({ rule }: RuleInfo): RuleDraft {
  const { shape, answer, scope, end } = rule
  return { shape, answer, scope, end }
}
