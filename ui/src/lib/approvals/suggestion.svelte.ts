/**
 * After many approvals of one shape in a session a rule is offered, quietly and once. What no rule may cover has no shape
 * in its request, so it is never offered: shells and interpreters with code in the line among it.
 */
import type { ApprovalRequest, Decision, RuleDraft, RuleShape } from '$lib/protocol'

/** So many approvals of the same shape. */
export const LIKE = 10
const OFF = 'rules:no-suggestions'

export interface Suggestion {
  shape: RuleShape
  words: string
  count: number
}

export class Suggestions {
  current = $state.raw<Suggestion>()
  readonly #counts: Record<string, number> = {}
  readonly #storage: Storage

  constructor(storage: Storage = localStorage) {
    this.#storage = storage
  }

  get off(): boolean {
    return this.#storage.getItem(OFF) !== null
  }

  /** A decision that counted. One that was edited, or made a rule already, says nothing about the shape. */
  note({ rule, remembered_as: words }: ApprovalRequest, decision: Decision): void {
    if (decision.answer !== 'approve' || decision.edited_arguments !== undefined) return
    if (decision.left_out !== undefined) return
    if (rule === undefined || words === undefined || this.off) return
    const key = JSON.stringify(rule)
    if (decision.scope !== 'once') {
      this.#counts[key] = -Infinity
      if (this.current?.words === words) this.current = undefined
      return
    }
    const count = (this.#counts[key] ?? 0) + 1
    this.#counts[key] = count
    if (count >= LIKE) this.current = { shape: rule, words, count }
  }

  /** Not for this shape again in this session. */
  dismiss(): void {
    if (this.current !== undefined) this.#counts[JSON.stringify(this.current.shape)] = -Infinity
    this.current = undefined
  }

  /** Never again, until the data of the window is cleared. */
  switchOff(): void {
    this.#storage.setItem(OFF, '1')
    this.current = undefined
  }
}

/** The rule that is offered: for this project, until it is not used for a while. */
export const suggested = ({ shape }: Suggestion): RuleDraft => ({
  shape,
  answer: 'allow',
  scope: { scope: 'project' },
  end: { end: 'unused', days: 30 },
})
