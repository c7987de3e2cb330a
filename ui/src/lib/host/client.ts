/**
 * Typed questions to the core: one method per request, each with the kind of reply that belongs to it. A reply of
 * another kind is an error here and nowhere else.
 */
import type {
  About,
  CallId,
  Event,
  Item,
  ItemId,
  KeyState,
  Millis,
  ModelChoice,
  Op,
  ProjectFacts,
  ProviderId,
  Reply,
  Request,
  SessionId,
  SessionSnapshot,
  SessionSummary,
  Settings,
} from '$lib/protocol'
import {
  hostError,
  HostError,
  type Attachment,
  type Beginning,
  type Destination,
  type Host,
  type MenuCommand,
} from './host'

type ReplyOf<K extends Reply['reply']> = Extract<Reply, { reply: K }>

export class Client {
  constructor(private readonly host: Host) {}

  async #ask<K extends Reply['reply']>(request: Request, kind: K): Promise<ReplyOf<K>> {
    let reply: Reply
    try {
      reply = await this.host.request(request)
    } catch (thrown) {
      throw hostError(thrown)
    }
    if (reply.reply !== kind) {
      const message = `The core answered “${request.request}” with “${reply.reply}” instead of “${kind}”.`
      throw new HostError({ code: 'internal', message })
    }
    return reply as ReplyOf<K>
  }

  async about(): Promise<About> {
    return (await this.#ask({ request: 'about' }, 'about')).about
  }

  async openProject(path: string): Promise<ProjectFacts> {
    return (await this.#ask({ request: 'open_project', path }, 'project')).project
  }

  async openDemo(): Promise<ProjectFacts> {
    return (await this.#ask({ request: 'open_demo' }, 'project')).project
  }

  async createSession(project: string): Promise<SessionSnapshot> {
    return (await this.#ask({ request: 'create_session', project }, 'session')).snapshot
  }

  async sessions(project: string): Promise<SessionSummary[]> {
    return (await this.#ask({ request: 'sessions', project }, 'sessions')).sessions
  }

  async deleteSession(session: SessionId): Promise<void> {
    await this.#ask({ request: 'delete_session', session }, 'accepted')
  }

  /** Items `from` to `to`, `to` not included. */
  async items(session: SessionId, from: ItemId, to: ItemId): Promise<Item[]> {
    return (await this.#ask({ request: 'items', session, from, to }, 'items')).items
  }

  /** The whole output of a call. */
  async output(session: SessionId, call: CallId): Promise<string> {
    return (await this.#ask({ request: 'output', session, call }, 'text')).text
  }

  async submit(session: SessionId, op: Op): Promise<void> {
    await this.#ask({ request: 'submit', session, op }, 'accepted')
  }

  async settings(): Promise<Settings> {
    return (await this.#ask({ request: 'settings' }, 'settings')).settings
  }

  async saveSettings(settings: Settings): Promise<Settings> {
    return (await this.#ask({ request: 'save_settings', settings }, 'settings')).settings
  }

  async setKey(provider: ProviderId, key: string): Promise<KeyState> {
    return (await this.#ask({ request: 'set_key', provider, key }, 'key')).key
  }

  async forgetKey(provider: ProviderId): Promise<KeyState> {
    return (await this.#ask({ request: 'forget_key', provider }, 'key')).key
  }

  async keyState(provider: ProviderId): Promise<KeyState> {
    return (await this.#ask({ request: 'key_state', provider }, 'key')).key
  }

  async models(provider: ProviderId): Promise<string[]> {
    return (await this.#ask({ request: 'models', provider }, 'models')).models
  }

  /** Asks the model for a word; resolves with the time to the first byte. */
  async checkModel(model: ModelChoice): Promise<Millis> {
    return (await this.#ask({ request: 'check_model', model }, 'model_checked')).first_byte
  }

  async attach(session: SessionId, onEvents: (events: Event[]) => void): Promise<Attachment> {
    try {
      return await this.host.attach(session, onEvents)
    } catch (thrown) {
      throw hostError(thrown)
    }
  }

  chooseFolder(): Promise<string | null> {
    return this.host.chooseFolder()
  }

  openLink(address: string): Promise<void> {
    return this.host.openLink(address)
  }

  onNavigate(listener: (destination: Destination) => void): () => void {
    return this.host.onNavigate(listener)
  }

  async beginning(): Promise<Beginning> {
    return (await this.host.beginning?.()) ?? { demo: false }
  }

  onMenu(listener: (command: MenuCommand) => void): () => void {
    return this.host.onMenu?.(listener) ?? (() => undefined)
  }
}
