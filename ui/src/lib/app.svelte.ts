/**
 * What the window shows: the project, the open session, the place the person is at. One instance, handed down by
 * context; components take it with `useApp()`.
 */
import { getContext } from 'svelte'
import type {
  About,
  ClientError,
  ItemId,
  ProjectFacts,
  SessionId,
  SessionSummary,
  Settings,
  TurnId,
} from '$lib/protocol'
import { Client } from './host/client'
import { hostError, type Host, type MenuCommand } from './host/host'
import { HealthDesk } from './health/desk.svelte'
import { layout } from './layout.svelte'
import { OpenSession } from './timeline/timeline.svelte'

export type View = 'start' | 'session' | 'sessions' | 'workflows' | 'metrics' | 'map' | 'health' | 'settings'

export type PanelTab = 'changes' | 'map' | 'tasks' | 'processes'

/** A short message that stands for some seconds; said by the live region as well. */
export interface Toast {
  id: number
  text: string
  detail?: string | undefined
  tone: 'neutral' | 'danger'
}

/** An iteration, or one call of it, whose raw data are looked at. */
export interface RawPlace {
  session: OpenSession
  turn: TurnId
  iteration: number
  item?: ItemId | undefined
}

const KEY = Symbol('app')

export class App {
  readonly client: Client
  readonly health: HealthDesk
  view = $state<View>('start')
  /** Page inside the settings, for a link that goes to a certain place. */
  settingsPage = $state('')
  /** Name of the workflow that is chosen in its view. */
  workflow = $state('')
  project = $state.raw<ProjectFacts | undefined>()
  session = $state.raw<OpenSession | undefined>()
  sessions = $state.raw<readonly SessionSummary[]>([])
  settings = $state.raw<Settings | undefined>()
  about = $state.raw<About | undefined>()
  /** Why the core did not answer at the start. */
  problem = $state.raw<ClientError | undefined>()
  /** The sidebar as a sheet, where it has no column. */
  sidebarOpen = $state(false)
  /** The sidebar's column is folded to the rail. */
  sidebarHidden = $state(false)
  /** The side panel's column. */
  panelOpen = $state(true)
  /** The side panel as a sheet, where it has no column. */
  panelSheetOpen = $state(false)
  /** The page of the side panel. */
  panelTab = $state<PanelTab>('changes')
  /** The item the timeline is asked to show and focus; taken and cleared by the timeline. */
  wantedItem = $state<number | undefined>()
  /** The menu asks for the limits of the turn; taken and cleared by the session's view. */
  limitsWanted = $state(false)
  /** What the raw view shows; closed while there is nothing. */
  raw = $state.raw<RawPlace | undefined>()
  toasts = $state.raw<readonly Toast[]>([])
  #nextToast = 1

  constructor(host: Host) {
    this.client = new Client(host)
    this.health = new HealthDesk(this.client)
    this.client.onNavigate(({ session, item }) => {
      void this.openSession(session).then(() => {
        if (item !== undefined) this.wantedItem = item
      })
    })
    this.client.onMenu((command) => this.#fromMenu(command))
  }

  /** Asks for everything the first screen needs. */
  async start(): Promise<void> {
    try {
      const [about, settings] = await Promise.all([this.client.about(), this.client.settings()])
      this.about = about
      this.settings = settings
      this.problem = undefined
    } catch (thrown) {
      this.problem = hostError(thrown).error
      return
    }
    await this.#begin().catch((thrown: unknown) => this.attempt(Promise.reject(hostError(thrown))))
  }

  /** Goes where the program was started for, or where the window was before the page was loaded again. */
  async #begin(): Promise<void> {
    const { demo, project, session } = await this.client.beginning()
    if (session !== undefined) await this.openSession(session)
    else if (project !== undefined) await this.openProject(project)
    else if (demo) await this.openDemo()
  }

  #fromMenu(command: MenuCommand): void {
    if (command === 'settings') this.view = 'settings'
    else if (command === 'open-folder') this.attempt(this.chooseProject())
    else if (command === 'new-session') this.attempt(this.newSession())
    else if (command === 'extend') this.limitsWanted = this.session !== undefined
    else this.session?.send({ op: command })
  }

  /** Lets the person choose a folder and opens it. */
  async chooseProject(): Promise<void> {
    const folder = await this.client.chooseFolder()
    if (folder !== null) await this.openProject(folder)
  }

  /** Opens a folder as the project; throws with the core's words when it is refused. */
  async openProject(path: string): Promise<void> {
    await this.enterProject(await this.client.openProject(path))
  }

  async openDemo(): Promise<void> {
    await this.enterProject(await this.client.openDemo())
  }

  /** Goes to the newest session of the project, or to a new one. */
  async enterProject(project: ProjectFacts): Promise<void> {
    this.session?.close()
    this.session = undefined
    this.project = project
    this.settings = await this.client.settings()
    await this.refreshSessions()
    const newest = this.sessions[0]
    if (newest === undefined) await this.newSession()
    else await this.openSession(newest.session)
  }

  async newSession(): Promise<void> {
    if (this.project === undefined) return
    const snapshot = await this.client.createSession(this.project.path)
    await this.openSession(snapshot.session)
    await this.refreshSessions()
  }

  async openSession(id: SessionId): Promise<void> {
    this.view = 'session'
    this.sidebarOpen = false
    if (this.session?.id === id) return
    this.session?.close()
    const session = new OpenSession(this.client, id)
    this.session = session
    await session.open()
    const path = session.config?.project
    if (path !== undefined && path !== this.project?.path) {
      this.project = await this.client.openProject(path)
      await this.refreshSessions()
    }
  }

  async deleteSession(id: SessionId): Promise<void> {
    await this.client.deleteSession(id)
    if (this.session?.id === id) {
      this.session.close()
      this.session = undefined
    }
    await this.refreshSessions()
  }

  async refreshSessions(): Promise<void> {
    if (this.project === undefined) return
    this.sessions = await this.client.sessions(this.project.path)
  }

  /** Shows a workflow's form; the way of `/name` in the composer. Nothing is started. */
  showWorkflow(name: string): void {
    this.workflow = name
    this.sidebarOpen = false
    this.view = 'workflows'
  }

  /** Shows a page in place of the session. */
  show(view: View): void {
    this.sidebarOpen = false
    this.view = view
  }

  async saveSettings(settings: Settings): Promise<void> {
    this.settings = await this.client.saveSettings(settings)
  }

  /** For actions without a place of their own for errors: a failure is shown as a notice. */
  attempt(work: Promise<unknown>): void {
    work.catch((thrown: unknown) => {
      const { message, hint } = hostError(thrown).error
      this.toast(message, { detail: hint, tone: 'danger' })
    })
  }

  /** Brings the sidebar in, as a column or as a sheet. */
  showSidebar(): void {
    if (layout.sidebarColumn) this.sidebarHidden = false
    else this.sidebarOpen = true
  }

  toggleSidebar(): void {
    if (layout.sidebarColumn) this.sidebarHidden = !this.sidebarHidden
    else this.sidebarOpen = !this.sidebarOpen
  }

  togglePanel(): void {
    if (layout.panelColumn) this.panelOpen = !this.panelOpen
    else this.panelSheetOpen = !this.panelSheetOpen
  }

  /** Shows a page of the side panel. */
  showPanel(tab: PanelTab): void {
    this.panelTab = tab
    if (layout.panelColumn) this.panelOpen = true
    else this.panelSheetOpen = true
  }

  toast(text: string, options: { detail?: string | undefined; tone?: Toast['tone'] } = {}): void {
    const id = this.#nextToast++
    this.toasts = [...this.toasts, { id, text, detail: options.detail, tone: options.tone ?? 'neutral' }]
    setTimeout(() => this.dismissToast(id), 8000)
  }

  dismissToast(id: number): void {
    this.toasts = this.toasts.filter((toast) => toast.id !== id)
  }
}

/** The context to mount or render a component with. */
export function appContext(app: App): Map<unknown, unknown> {
  // eslint-disable-next-line svelte/prefer-svelte-reactivity -- a context is never changed
  return new Map([[KEY, app]])
}

export function useApp(): App {
  return getContext<App>(KEY)
}
