/**
 * The workflows of one project, from the form to the run: what is chosen, what is typed, what the preview showed.
 * A run is only ever that of the preview on screen.
 */
import type {
  ClientError,
  SessionId,
  WorkflowEffect,
  WorkflowEffectKind,
  WorkflowInfo,
  WorkflowPreview,
} from '$lib/protocol'
import type { App } from '$lib/app.svelte'
import type { DefinitionFile, ParameterValues } from '$lib/host/client'
import { hostError } from '$lib/host/host'
import type { WorkflowOrigin } from '$lib/texts/workflows'
import { forgetDraft, keepDraft, keptDraft } from './kept'
import { faultsOf, startDraft, valuesOf, type Draft, type Fault, type Typed } from './values'

/** A name that is unique over all sources; names alone are unique within theirs. */
export const keyOf = (info: WorkflowInfo): string => `${info.source.from}:${info.name}`

/** The file that has to be read first; nothing when the workflow may run. */
export function fileToReview(info: WorkflowInfo): (DefinitionFile & { changed: boolean }) | undefined {
  const { source } = info
  return source.from === 'project' && !source.reviewed
    ? { path: source.path, hash: source.hash, changed: source.changed }
    : undefined
}

const ORDER: readonly WorkflowOrigin[] = ['project', 'person', 'built_in']

/** The list in its groups; a query looks in name, title and description. */
export function grouped(
  all: readonly WorkflowInfo[],
  query: string,
): { origin: WorkflowOrigin; workflows: WorkflowInfo[] }[] {
  const wanted = query.trim().toLowerCase()
  const found = all.filter(({ name, title, description }) =>
    `${name} ${title} ${description}`.toLowerCase().includes(wanted),
  )
  return ORDER.map((origin) => ({
    origin,
    workflows: found
      .filter((info) => info.source.from === origin)
      .sort((one, other) => one.title.localeCompare(other.title)),
  })).filter(({ workflows }) => workflows.length > 0)
}

const EFFECTS: readonly WorkflowEffectKind[] = ['delete', 'move', 'restore', 'write', 'run', 'message', 'ask']

/** The core lists so many effects of a preview. */
export const MOST_EFFECTS = 500

/** The kinds of effects whose targets are files of the project. */
export const onFiles = (kind: WorkflowEffectKind): boolean => EFFECTS.indexOf(kind) < 4

/** The effects of a preview by kind, what reaches furthest first. */
export const effectGroups = (
  effects: readonly WorkflowEffect[],
): { kind: WorkflowEffectKind; effects: WorkflowEffect[] }[] =>
  EFFECTS.map((kind) => ({ kind, effects: effects.filter((effect) => effect.kind === kind) })).filter(
    (group) => group.effects.length > 0,
  )

export class WorkflowDesk {
  all = $state.raw<readonly WorkflowInfo[]>()
  draft = $state.raw<Draft>({})
  faults = $state.raw<readonly Fault[]>([])
  preview = $state.raw<WorkflowPreview>()
  busy = $state<'preview' | 'run'>()
  /** Why the last thing that was asked for did not happen. */
  problem = $state.raw<ClientError>()
  /** The form began with what was filled in last time. */
  kept = $state(false)
  #values: ParameterValues = {}
  readonly #app: App
  readonly #project: string
  readonly chosen: WorkflowInfo | undefined = $derived.by(() => {
    const wanted = this.#app.workflow
    return this.all?.find((info) => keyOf(info) === wanted) ?? this.all?.find((info) => info.name === wanted)
  })

  constructor(app: App, project: string) {
    this.#app = app
    this.#project = project
  }

  async load(): Promise<void> {
    this.problem = undefined
    try {
      this.all = await this.#app.client.workflows(this.#project)
    } catch (thrown) {
      this.problem = hostError(thrown).error
      return
    }
    this.begin()
  }

  /** Shows a workflow from its beginning. */
  choose(info: WorkflowInfo): void {
    this.#app.workflow = keyOf(info)
    this.begin()
  }

  /** Fills the form of the chosen workflow: with the last values, else with its defaults. */
  begin(): void {
    this.#clear()
    if (this.chosen === undefined) return
    const kept = keptDraft(this.#project, keyOf(this.chosen))
    this.kept = kept !== undefined && this.chosen.parameters.length > 0
    this.draft = startDraft(this.chosen.parameters, kept)
  }

  /** Puts the form back to its defaults. */
  reset(): void {
    this.#clear()
    if (this.chosen === undefined) return
    forgetDraft(this.#project, keyOf(this.chosen))
    this.kept = false
    this.draft = startDraft(this.chosen.parameters)
  }

  type(name: string, value: Typed): void {
    this.draft = { ...this.draft, [name]: value }
    this.faults = this.faults.filter((fault) => fault.name !== name)
  }

  faultOf(name: string): string | undefined {
    return this.faults.find((fault) => fault.name === name)?.problem
  }

  /** Asks what a run would do. False when the form needs another look. */
  async askPreview(): Promise<boolean> {
    const { chosen } = this
    if (chosen === undefined || this.busy !== undefined) return false
    this.problem = undefined
    this.faults = faultsOf(chosen.parameters, this.draft)
    if (this.faults.length > 0) return false
    const values = valuesOf(chosen.parameters, this.draft)
    keepDraft(this.#project, keyOf(chosen), this.draft)
    const preview = await this.#work('preview', () =>
      this.#app.client.previewWorkflow(this.#project, chosen.name, values),
    )
    if (preview === undefined || this.chosen !== chosen) return false
    this.faults = this.#named(chosen, preview)
    if (this.faults.length > 0) return false
    this.#values = values
    this.preview = preview
    return true
  }

  /** Back to the form, with everything as it was typed. */
  leavePreview(): void {
    this.preview = undefined
    this.problem = undefined
  }

  /** Runs what the preview showed, in a session or in a new one, and goes there. */
  async run(session: SessionId | undefined): Promise<boolean> {
    const { chosen, preview } = this
    if (chosen === undefined || preview === undefined || this.busy !== undefined) return false
    this.problem = undefined
    const done = await this.#work('run', async () => {
      const { client } = this.#app
      const target = session ?? (await client.createSession(this.#project)).session
      await client.runWorkflow(target, chosen.name, this.#values, preview.token)
      await this.#app.openSession(target)
      await this.#app.refreshSessions()
      return true
    })
    if (done === true) this.preview = undefined
    return done === true
  }

  #named({ parameters }: WorkflowInfo, { problems }: WorkflowPreview): Fault[] {
    return problems.map(({ parameter, problem }) => ({
      name: parameter,
      label: parameters.find(({ name }) => name === parameter)?.label ?? parameter,
      problem,
    }))
  }

  #clear(): void {
    this.faults = []
    this.preview = undefined
    this.problem = undefined
    this.draft = {}
  }

  async #work<T>(kind: 'preview' | 'run', work: () => Promise<T>): Promise<T | undefined> {
    this.busy = kind
    try {
      return await work()
    } catch (thrown) {
      this.problem = hostError(thrown).error
      return undefined
    } finally {
      this.busy = undefined
    }
  }
}
