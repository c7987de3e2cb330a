/**
 * Typed questions to the core: one method per request, each with the kind of reply that belongs to it. A reply of
 * another kind is an error here and nowhere else.
 */
import type {
  About,
  Attachment as ImageAttachment,
  CallId,
  DecisionLine,
  Event,
  FoundServer,
  HealthItem,
  Item,
  ItemId,
  Judged,
  KeyState,
  LinkTest,
  Metrics,
  MetricsQuery,
  ModelChoice,
  ModelEntry,
  ModelTest,
  Op,
  ParameterValue,
  ProcessId,
  ProjectFacts,
  ProviderId,
  ProviderPreset,
  RawExchange,
  Reply,
  Request,
  RoleInfo,
  RuleAnswer,
  RuleDraft,
  RuleId,
  RuleInfo,
  RulePreview,
  RuleShape,
  SessionId,
  SessionSnapshot,
  SessionSummary,
  SetAsideContent,
  SetAsideEntry,
  Settings,
  TurnId,
  Usage,
  WorkflowInfo,
  WorkflowPreview,
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

/** Values of a workflow's parameters by name. */
export type ParameterValues = Record<string, ParameterValue>

/** An image that is not kept yet; `data` is base64. */
export interface NewImage {
  name: string
  media_type: string
  data: string
}

/** A workflow or role file of a project, in exactly the content that was read. */
export interface DefinitionFile {
  path: string
  /** Hex SHA-256 of the content. */
  hash: string
}

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

  /** What a background process has printed, its last 256 KiB. */
  async processOutput(session: SessionId, process: ProcessId): Promise<string> {
    return (await this.#ask({ request: 'process_output', session, process }, 'text')).text
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

  /** Where the login of the own proxy is. */
  async proxyLogin(): Promise<KeyState> {
    return (await this.#ask({ request: 'proxy_login' }, 'key')).key
  }

  async setProxyLogin(user: string, password: string): Promise<KeyState> {
    return (await this.#ask({ request: 'set_proxy_login', user, password }, 'key')).key
  }

  async forgetProxyLogin(): Promise<KeyState> {
    return (await this.#ask({ request: 'forget_proxy_login' }, 'key')).key
  }

  /** The models of a server with what is known of each. */
  async models(provider: ProviderId): Promise<ModelEntry[]> {
    return (await this.#ask({ request: 'models', provider }, 'models')).models
  }

  /** Tries the way to a server, link by link. */
  async testConnection(provider: ProviderId): Promise<LinkTest[]> {
    return (await this.#ask({ request: 'test_connection', provider }, 'connection')).links
  }

  /** Tries what a model can really do; its call format is kept. */
  async testModel(model: ModelChoice): Promise<ModelTest> {
    return (await this.#ask({ request: 'test_model', model }, 'model_test')).test
  }

  /** Providers that are set up with one click. */
  async presets(): Promise<ProviderPreset[]> {
    return (await this.#ask({ request: 'presets' }, 'presets')).presets
  }

  /** Looks for model servers on this machine. */
  async findServers(): Promise<FoundServer[]> {
    return (await this.#ask({ request: 'find_servers' }, 'servers')).servers
  }

  /** Keeps an image for a message of the session; `data` is base64. */
  async addAttachment(session: SessionId, image: NewImage): Promise<ImageAttachment> {
    return (await this.#ask({ request: 'add_attachment', session, ...image }, 'attachment')).attachment
  }

  /** The bytes of an image in base64. */
  async attachmentData(session: SessionId, attachment: string): Promise<string> {
    return (await this.#ask({ request: 'attachment_data', session, attachment }, 'text')).text
  }

  /** What all sessions used since midnight. */
  async spending(): Promise<Usage> {
    return (await this.#ask({ request: 'spending' }, 'spending')).today
  }

  async workflows(project: string): Promise<WorkflowInfo[]> {
    return (await this.#ask({ request: 'workflows', project }, 'workflows')).workflows
  }

  /** What a run would do; nothing is done. */
  async previewWorkflow(project: string, name: string, values: ParameterValues): Promise<WorkflowPreview> {
    return (await this.#ask({ request: 'preview_workflow', project, name, values }, 'preview')).preview
  }

  /** Runs what the preview with this token showed; refused when the world has changed since. */
  async runWorkflow(session: SessionId, name: string, values: ParameterValues, token: string): Promise<void> {
    await this.#ask({ request: 'run_workflow', session, name, values, token }, 'accepted')
  }

  async roles(project: string): Promise<RoleInfo[]> {
    return (await this.#ask({ request: 'roles', project }, 'roles')).roles
  }

  async useRole(session: SessionId, name: string): Promise<void> {
    await this.#ask({ request: 'use_role', session, name }, 'accepted')
  }

  /** The text of a workflow or role file. */
  async definition(project: string, path: string): Promise<string> {
    return (await this.#ask({ request: 'definition', project, path }, 'text')).text
  }

  async reviewDefinition(project: string, file: DefinitionFile, accept: boolean): Promise<void> {
    await this.#ask({ request: 'review_definition', project, ...file, accept }, 'accepted')
  }

  async metrics(query: MetricsQuery): Promise<Metrics> {
    return (await this.#ask({ request: 'metrics', query }, 'metrics')).metrics
  }

  /** The decision log, newest first. */
  async decisions(query: MetricsQuery, limit: number): Promise<DecisionLine[]> {
    return (await this.#ask({ request: 'decisions', query, limit }, 'decisions')).decisions
  }

  /** Rules of the project and of all projects. */
  async rules(project: string): Promise<RuleInfo[]> {
    return (await this.#ask({ request: 'rules', project }, 'rules')).rules
  }

  async saveRule(project: string, rule: RuleDraft): Promise<RuleInfo[]> {
    return (await this.#ask({ request: 'save_rule', project, rule }, 'rules')).rules
  }

  async removeRule(project: string, rule: RuleId): Promise<RuleInfo[]> {
    return (await this.#ask({ request: 'remove_rule', project, rule }, 'rules')).rules
  }

  /** What such a rule would mean; nothing is kept. */
  async previewRule(project: string, shape: RuleShape, answer: RuleAnswer): Promise<RulePreview> {
    return (await this.#ask({ request: 'preview_rule', project, shape, answer }, 'rule_preview')).preview
  }

  /** What would be said to a command now; nothing runs. */
  async judgeCommand(project: string, command: string): Promise<Judged> {
    return (await this.#ask({ request: 'judge_command', project, command }, 'judged')).judged
  }

  /** What was set aside after commands and waits. */
  async setAside(project: string): Promise<SetAsideEntry[]> {
    return (await this.#ask({ request: 'set_aside', project }, 'set_aside')).entries
  }

  async lookAtSetAside(project: string, id: string): Promise<SetAsideContent> {
    return (await this.#ask({ request: 'look_at_set_aside', project, id }, 'set_aside_content')).content
  }

  async decideSetAside(decision: {
    project: string
    id: string
    hash: string
    back: boolean
    session: SessionId | undefined
  }): Promise<SetAsideEntry[]> {
    const { session, ...rest } = decision
    const of = session === undefined ? {} : { session }
    return (await this.#ask({ request: 'decide_set_aside', ...rest, ...of }, 'set_aside')).entries
  }

  /** What an iteration sent and got, oldest first; empty when it is no longer kept. */
  async raw(session: SessionId, turn: TurnId, iteration: number): Promise<RawExchange[]> {
    return (await this.#ask({ request: 'raw', session, turn, iteration }, 'raw')).exchanges
  }

  /** Looks at this machine and really tries the sandbox; may take seconds. */
  async health(): Promise<HealthItem[]> {
    return (await this.#ask({ request: 'health' }, 'health')).items
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
