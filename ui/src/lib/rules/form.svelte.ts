/**
 * A rule while the person makes it: what it covers, how it answers, for how long. Every change of it asks the core what
 * it would mean; until that is known the rule cannot be kept.
 */
import type { LastingScope } from '$lib/approvals/openings'
import type { ClientError, RuleAnswer, RuleDraft, RulePreview, RuleShape } from '$lib/protocol'
import { hostError } from '$lib/host/host'
import { chipsAs, chipsOf, chipsOfShape, shapeOf, type Chips } from './chips'
import type { RuleDoor } from './door'
import { endOf, endsFor, type EndChoice } from './ends'
import { sameShape } from './targets'

/** For whom a rule holds; `everywhere` is offered in the settings only. */
export type FormScope = Exclude<LastingScope, 'once'> | 'everywhere'

/** So long typing and clicking may go on before the core is asked, in milliseconds. */
const SETTLE = 150

interface Beginning {
  shape: RuleShape | undefined
  /** The parts of the command line that the words come from. */
  parts?: readonly string[]
  scopes: readonly FormScope[]
  answer?: RuleAnswer
}

export class RuleForm {
  chips = $state.raw<Chips | undefined>()
  /** The shape when it is not a command. */
  #other = $state.raw<RuleShape | undefined>()
  answer = $state<RuleAnswer>('allow')
  /** Scopes in which it may allow; other answers are kept for the project or for all. */
  readonly scopes: readonly FormScope[]
  #scope = $state<FormScope>('project')
  #end = $state<EndChoice>('unused')
  preview = $state.raw<RulePreview | undefined>()
  problem = $state.raw<ClientError | undefined>()
  /** What the preview was made of. */
  #previewed = $state.raw<string>('')
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #door: RuleDoor

  readonly shape: RuleShape | undefined = $derived(
    this.chips === undefined ? this.#other : { shape: 'command', words: shapeOf(this.chips) },
  )
  readonly offered: readonly FormScope[] = $derived.by(() => {
    if (this.answer === 'allow') return this.scopes
    return this.scopes.includes('everywhere') ? ['project', 'everywhere'] : ['project']
  })
  readonly scope: FormScope = $derived(
    this.offered.includes(this.#scope) ? this.#scope : (this.offered[0] ?? 'project'),
  )
  readonly ends: readonly EndChoice[] = $derived(endsFor(this.scope, this.answer))
  readonly end: EndChoice = $derived(this.ends.includes(this.#end) ? this.#end : (this.ends[0] ?? 'none'))
  readonly #key: string = $derived(JSON.stringify([this.shape, this.answer]))
  /** Whether the preview is about the rule as it is now. */
  readonly current: boolean = $derived(this.preview !== undefined && this.#previewed === this.#key)
  /** Whether the rule may be kept. */
  readonly keepable: boolean = $derived(
    this.current &&
      this.preview?.refused === undefined &&
      this.offered.length > 0 &&
      this.shape !== undefined,
  )

  constructor(door: RuleDoor, beginning: Beginning) {
    this.#door = door
    this.scopes = beginning.scopes
    this.answer = beginning.answer ?? (beginning.scopes.length === 0 ? 'ask' : 'allow')
    this.#scope = beginning.scopes.find((scope) => scope === 'session') ?? beginning.scopes[0] ?? 'project'
    this.begin(beginning.shape, beginning.parts)
  }

  /** Begins anew with another shape or another line. */
  begin(shape: RuleShape | undefined, parts: readonly string[] = []): void {
    const line = chipsOf(parts)
    if (shape?.shape === 'command') {
      this.chips = (line && chipsAs(line, shape.words)) ?? chipsOfShape(shape.words)
      this.#other = undefined
    } else {
      this.chips = shape === undefined ? line : undefined
      this.#other = shape
    }
  }

  set(shape: RuleShape): void {
    if (!sameShape(shape, this.#other)) this.#other = shape
  }

  setScope(scope: FormScope): void {
    this.#scope = scope
  }

  setEnd(end: EndChoice): void {
    this.#end = end
  }

  /** The rule as it would be kept now. */
  draft(now: number): RuleDraft | undefined {
    const { shape, scope } = this
    if (shape === undefined || scope === 'turn') return undefined
    return { shape, answer: this.answer, scope: { scope }, end: endOf(this.end, now) }
  }

  /** Asks the core what the rule would mean; call it in an effect. Returns the way to drop the question. */
  watch(): () => void {
    const { shape, answer } = this
    const key = this.#key
    this.problem = undefined
    if (shape === undefined) return () => undefined
    let dropped = false
    this.#timer = setTimeout(() => {
      this.#door.preview(shape, answer).then(
        (preview) => {
          if (dropped) return
          this.preview = preview
          this.#previewed = key
        },
        (thrown: unknown) => {
          if (!dropped) this.problem = hostError(thrown).error
        },
      )
    }, SETTLE)
    return () => {
      dropped = true
      clearTimeout(this.#timer)
    }
  }
}
