/** One message field: its text, its send mode, why the last sending failed. The text is only cleared once it arrived. */
import type { Attachment, ClientError, Effort, SendMode, SessionId } from '$lib/protocol'
import type { NewImage } from '$lib/host/client'
import { hostError } from '$lib/host/host'
import { composer as words, type CommandName } from '$lib/texts/composer'
import { matching, matchingWorkflows, namedBy, readTyped, type NamedWorkflow } from './commands'
import type { Drafts } from './drafts'
import { keepEffort, keptEffort } from './efforts'
import type { ImageTray } from './images.svelte'

/** What goes with a message besides its words. */
export interface MessageExtras {
  images?: Attachment[]
  effort?: Effort
}

export interface ComposerWork {
  send: (text: string, mode: SendMode, extras?: MessageExtras) => Promise<void>
  command: (name: CommandName) => Promise<void>
  /** Whether a command does something now. */
  can: (name: CommandName) => boolean
  /** Takes the session to a role that changes no files. */
  readOnly: () => Promise<void>
  /** Workflows that are known by now. */
  workflows?: () => readonly NamedWorkflow[]
  /** Shows the form of a workflow. Nothing is started. */
  openWorkflow?: (name: string) => void
  /** Keeps an image for a message of the session. */
  keepImage?: (image: NewImage) => Promise<Attachment>
  /** The bytes of a kept image in base64. */
  imageData?: (id: string) => Promise<string>
  /** How long the model can be told to think. */
  efforts?: () => readonly Effort[]
}

/** A line of the menu after `/`. */
export type ComposerEntry = CommandName | NamedWorkflow

export class Composer {
  #text = $state('')
  mode = $state<SendMode>('next_iteration')
  sending = $state(false)
  problem = $state.raw<ClientError>()
  /** The place in the command menu. */
  at = $state(0)
  /** Images for the next message, once there were any. */
  tray = $state.raw<ImageTray>()
  #effort = $state<Effort>()
  #menuClosed = $state(false)
  readonly #work: ComposerWork
  readonly #session: SessionId
  readonly #drafts: Drafts
  readonly commands: readonly CommandName[] = $derived.by(() =>
    this.#menuClosed ? [] : matching(this.#text),
  )
  readonly entries: readonly ComposerEntry[] = $derived.by(() =>
    this.#menuClosed
      ? []
      : [...this.commands, ...matchingWorkflows(this.#text, this.#work.workflows?.() ?? [])],
  )

  constructor(session: SessionId, drafts: Drafts, work: ComposerWork) {
    this.#session = session
    this.#drafts = drafts
    this.#work = work
    this.#text = drafts.get(session)
    this.#effort = keptEffort(session)
    const load = work.imageData
    if (load !== undefined && drafts.get(this.#imagesKey) !== '') {
      void this.#openTray().then((tray) => tray?.restore(load))
    }
  }

  /** The images of an unsent message are kept beside its text. */
  get #imagesKey(): string {
    return `images:${this.#session}`
  }

  get text(): string {
    return this.#text
  }

  set text(value: string) {
    this.#text = value
    this.#menuClosed = false
    this.at = 0
    this.#drafts.set(this.#session, value)
  }

  /** How long the model may think, as far as it can be told. */
  get effort(): Effort | undefined {
    const effort = this.#effort
    return effort !== undefined && this.efforts.includes(effort) ? effort : undefined
  }

  set effort(effort: Effort | undefined) {
    this.#effort = effort
    keepEffort(this.#session, effort)
  }

  get efforts(): readonly Effort[] {
    return this.#work.efforts?.() ?? []
  }

  get takesImages(): boolean {
    return this.#work.keepImage !== undefined
  }

  /** Attaches images; what deals with them is loaded with the first one. */
  async attach(files: readonly File[]): Promise<void> {
    if (files.length > 0) await (await this.#openTray())?.add(files)
  }

  async #openTray(): Promise<ImageTray | undefined> {
    const keep = this.#work.keepImage
    if (keep === undefined) return undefined
    const { ImageTray: Tray } = await import('./images.svelte')
    const [drafts, key] = [this.#drafts, this.#imagesKey]
    this.tray ??= new Tray(keep, { get: () => drafts.get(key), set: (kept) => drafts.set(key, kept) })
    return this.tray
  }

  get empty(): boolean {
    return this.#text.trim() === ''
  }

  can(name: CommandName): boolean {
    return this.#work.can(name)
  }

  closeMenu(): void {
    this.#menuClosed = true
  }

  /** Moves in the command menu, round at the ends. */
  move(by: 1 | -1): void {
    const { length } = this.entries
    if (length > 0) this.at = (this.at + by + length) % length
  }

  /** A key while the command menu is open; answers whether it was one of the menu's. */
  menuKey(key: string): boolean {
    const chosen = this.entries[this.at]
    if (chosen === undefined) return false
    switch (key) {
      case 'ArrowDown':
        this.move(1)
        return true
      case 'ArrowUp':
        this.move(-1)
        return true
      case 'Escape':
        this.closeMenu()
        return true
      case 'Tab':
        this.text = `/${typeof chosen === 'string' ? chosen : chosen.name}`
        return true
      case 'Enter':
        void this.choose(chosen)
        return true
      default:
        return false
    }
  }

  /** Sends what stands in the field, or runs it when it is a command. */
  async send(mode = this.mode): Promise<void> {
    if (this.empty || this.sending || this.tray?.busy === true) return
    const typed = readTyped(this.#text)
    const workflow = namedBy(this.#text, this.#work.workflows?.() ?? [])
    if (typed.kind !== 'command' && workflow !== undefined) {
      this.#open(workflow)
    } else if (typed.kind === 'unknown') {
      this.problem = { code: 'bad_request', message: words.unknownCommand(typed.typed) }
    } else if (typed.kind === 'command') {
      await this.run(typed.name)
    } else {
      const text = this.#text
      await this.#try(text, () => this.#deliver(text, mode))
      // To interrupt is meant for one message.
      if (this.problem === undefined && this.mode === 'interrupt') this.mode = 'next_iteration'
    }
  }

  /** Sends the message in a role that changes no files: another session may go on changing them. */
  async sendReadOnly(): Promise<void> {
    if (this.empty || this.sending) return
    const text = this.#text
    await this.#try(text, async () => {
      await this.#work.readOnly()
      await this.#deliver(text, this.mode)
    })
  }

  /** Images leave the tray with the message that took them along. */
  async #deliver(text: string, mode: SendMode): Promise<void> {
    const images = this.tray?.ready ?? []
    const { effort } = this
    const extras = { ...(images.length === 0 ? {} : { images }), ...(effort === undefined ? {} : { effort }) }
    await (Object.keys(extras).length === 0
      ? this.#work.send(text.trim(), mode)
      : this.#work.send(text.trim(), mode, extras))
    this.tray?.sent(images)
  }

  /** Takes a line of the menu: runs the command, or shows the workflow's form. */
  async choose(entry: ComposerEntry): Promise<void> {
    if (typeof entry === 'string') await this.run(entry)
    else this.#open(entry)
  }

  #open({ name }: NamedWorkflow): void {
    this.text = ''
    this.problem = undefined
    this.#work.openWorkflow?.(name)
  }

  /** Runs a command; the typed text goes when it worked. */
  async run(name: CommandName): Promise<void> {
    if (!this.#work.can(name)) {
      this.problem = { code: 'not_now', message: `/${name}: ${words.commandNotNow}.` }
      return
    }
    await this.#try(this.#text, () => this.#work.command(name))
  }

  async #try(text: string, work: () => Promise<void>): Promise<void> {
    this.sending = true
    this.problem = undefined
    try {
      await work()
      // What was typed while it was on its way stays.
      if (this.#text === text) this.text = ''
      else if (this.#text.startsWith(text)) this.text = this.#text.slice(text.length)
    } catch (thrown) {
      this.problem = hostError(thrown).error
    } finally {
      this.sending = false
    }
  }
}
