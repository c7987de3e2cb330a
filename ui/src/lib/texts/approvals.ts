/**
 * What an approval says. Sentences and buttons come from the typed request only: nothing the model wrote can become
 * a button, and its words stand in quotation marks.
 */
import type {
  Access,
  AnswerScope,
  ApprovalRequest,
  FileChange,
  HostReach,
  NetworkLevel,
  RiskClass,
  SandboxSummary,
  UndoFact,
  Verb,
} from '$lib/protocol'
import type { LastingScope } from '$lib/approvals/openings'
import { grantOffer, outsideOf, type Grant } from '$lib/approvals/grants'
import { shownHost } from '$lib/approvals/hosts'
import { counted, duration, type Piece } from './words'

export const className: Record<RiskClass, string> = {
  read: 'Read',
  write: 'Write',
  command: 'Command',
  external: 'External tool',
  network: 'Network',
  outside: 'Outside',
  delete: 'Delete',
  protected: 'Protected',
}

export const verbName: Record<Verb, string> = {
  read: 'Read',
  list: 'List',
  search: 'Search',
  edit: 'Edit',
  create: 'Create',
  move: 'Move',
  delete: 'Delete',
  run: 'Run',
  fetch: 'Fetch',
  ask: 'Ask',
  finish: 'Finish',
  say: 'Say',
  plan: 'Set tasks',
  note: 'Remember',
  delegate: 'Start a sub-agent',
  end: 'End',
  use: 'Use',
}

const has = (request: ApprovalRequest, risk: RiskClass): boolean => request.classes.includes(risk)

/** The sentence on top of a card. */
export function sentence(request: ApprovalRequest): Piece[] {
  const { body } = request
  if (request.again !== undefined) return refusedSentence(request.again.refused)
  switch (body.body) {
    case 'connect':
      return ['Connect to ', { name: shownHost(body.host).plain }]
    case 'command':
      return body.folder === '.'
        ? ['Run a command in the project folder']
        : ['Run a command in ', { name: body.folder }]
    case 'change':
      return changeSentence(body.change)
    case 'changes':
      return [`Change ${counted(body.changes.length, 'file', 'files')} together`]
    case 'delete': {
      const [first] = body.files
      return body.files.length === 1 && first !== undefined
        ? ['Delete ', { name: first.path }]
        : [`Delete ${counted(body.files.length, 'file', 'files')}`]
    }
    case 'other':
      return otherSentence(request)
  }
}

function refusedSentence(refused: readonly Access[]): Piece[] {
  const [only] = refused
  if (only === undefined || refused.length > 1) return ['The sandbox blocked parts of a command']
  return ['Blocked by the sandbox: ', ...accessWords(only)]
}

/** One thing that a call reaches for. */
export function accessWords(access: Access): Piece[] {
  switch (access.access) {
    case 'read':
      return ['reading ', { name: access.path }]
    case 'write':
      return ['writing to ', { name: access.path }]
    case 'delete':
      return ['deleting ', { name: access.path }]
    case 'exec':
      return ['running ', { name: access.command }]
    case 'network':
      return ['connecting to ', { name: access.host }]
    case 'outside':
      return [access.write ? 'writing to ' : 'reading ', { name: access.path }]
    case 'protected':
      return [access.write ? 'changing the protected ' : 'reading the protected ', { name: access.path }]
    case 'external':
      return ['using ', { name: access.tool }, ' of ', { name: access.server }]
  }
}

const plain = (pieces: readonly Piece[]): string =>
  pieces.map((piece) => (typeof piece === 'string' ? piece : piece.name)).join('')

/** The same as plain text, for a line that is cut. */
export const accessText = (access: Access): string => plain(accessWords(access))

/** What waits, as the screen reader says it: the call itself, or what a call that has begun wants besides. */
export function spoken(request: ApprovalRequest): string {
  const besides = request.again !== undefined || request.body.body === 'connect'
  return besides ? plain(sentence(request)) : `${verbName[request.verb]} ${request.target}`
}

function changeSentence(change: FileChange): Piece[] {
  switch (change.kind.change) {
    case 'created':
      return ['Create ', { name: change.path }]
    case 'deleted':
      return ['Delete ', { name: change.path }]
    case 'moved':
      return ['Move ', { name: change.kind.from }, ' to ', { name: change.path }]
    case 'edited':
      return ['Edit ', { name: change.path }]
  }
}

function otherSentence(request: ApprovalRequest): Piece[] {
  const target = { name: request.target }
  if (has(request, 'external')) return ['Use the tool ', { name: request.tool }, ' of a connected server']
  if (has(request, 'network')) return ['Connect to ', target]
  if (has(request, 'outside')) return [`${verbName[request.verb]} outside the project: `, target]
  if (has(request, 'protected')) return [`${verbName[request.verb]} a protected place: `, target]
  return [`${verbName[request.verb]} `, target]
}

/** The main button: the narrowest grant, or the one that was chosen on the card, and it says what will happen. */
export function mainButton(request: ApprovalRequest, edited: boolean, grant?: Grant): string {
  const { body } = request
  if (request.again !== undefined)
    return `${againButton(request)}${grantEnd(request, grant, '')} and run again`
  switch (body.body) {
    case 'connect':
      return `Allow ${shownHost(body.host).short}${grantEnd(request, grant, ' once')}`
    case 'command':
      return edited ? 'Run edited command' : 'Run once'
    case 'delete':
      return `Delete ${counted(body.files.length, 'file', 'files')}`
    case 'change':
      return changeButton(body.change, edited)
    case 'changes':
      return `Change ${counted(body.changes.length, 'file', 'files')}`
    case 'other':
      return otherButton(request, grantEnd(request, grant, ' once'))
  }
}

function changeButton(change: FileChange, edited: boolean): string {
  switch (change.kind.change) {
    case 'deleted':
      return 'Delete file'
    case 'moved':
      return 'Move file'
    case 'created':
      return edited ? 'Create with your text' : 'Create file'
    case 'edited':
      return edited ? 'Write your text' : 'Write file'
  }
}

function againButton(request: ApprovalRequest): string {
  const refused = request.again?.refused ?? []
  const [only] = refused
  if (only === undefined || refused.length > 1) return `Allow these ${refused.length}`
  if (only.access === 'network') return `Allow ${shownHost(only.host).short}`
  const writes = only.access === 'write' || (only.access === 'outside' && only.write)
  return writes
    ? 'Allow writing'
    : only.access === 'outside' || only.access === 'read'
      ? 'Allow reading'
      : 'Allow'
}

/** For how long a chosen grant holds, as the end of a button. */
function grantEnd(request: ApprovalRequest, grant: Grant | undefined, once: string): string {
  if (grant === undefined || grant.scope === 'once' || grantOffer(request) === undefined) return once
  return `${grant.wholeFolder ? ' in its folder' : ''} ${scopeName[grant.scope].toLowerCase()}`
}

function otherButton(request: ApprovalRequest, end: string): string {
  if (has(request, 'external')) return 'Use once'
  if (has(request, 'network')) return `Connect${end}`
  if (request.verb === 'delete') return 'Delete once'
  const changes = request.verb === 'edit' || request.verb === 'create' || request.verb === 'move'
  const reads = request.verb === 'read' || request.verb === 'list' || request.verb === 'search'
  if (changes || outsideOf(request).some(({ write }) => write)) return `Allow writing${end}`
  return reads ? `Allow reading${end}` : `Allow${end}`
}

/** What undo can do about it, said before the decision. */
export function undoSentence(fact: UndoFact): string {
  switch (fact.undo) {
    case 'nothing':
      return 'Changes no files.'
    case 'covered':
      return 'Can be undone: what is there now is kept.'
    case 'not_covered':
      return `Cannot be undone: ${fact.why}`
  }
}

export const scopeName: Record<AnswerScope, string> = {
  once: 'Once',
  turn: 'For this turn',
  session: 'For this session',
  project: 'For this project',
  once_open_network: 'Once, with the network of this computer',
  once_unconfined: 'Once, without the sandbox',
}

/** Facts of the sandbox in one line. */
export function sandboxSentence(sandbox: SandboxSummary): string {
  if (!sandbox.confined) return 'Not confined on this machine'
  const reach = sandbox.read_only ? 'on, nothing can be written' : 'on, writes only in the project'
  return sandbox.tier === 'reduced' ? `${reach} (reduced)` : reach
}

/** Where a host is, when that is worth a mark. */
export const reachWords: Record<HostReach, { mark: string | undefined; says: string }> = {
  public: { mark: undefined, says: 'A public address on the internet' },
  private: { mark: 'own network', says: 'In your own network: home or company' },
  loopback: { mark: 'this computer', says: 'A service on this computer, outside of the sandbox' },
  unknown: { mark: 'not looked up', says: 'Where it leads is not known yet' },
}

const firstRun = (exit: number | undefined): string =>
  exit === undefined ? 'The first run did not end by itself' : `The first run ended with exit code ${exit}`

export const approvals = {
  region: 'Waiting for you',
  of: (index: number, total: number): string => `${index} of ${total}`,
  iteration: (n: number): string => `iteration ${n}`,
  origin: (name: string | undefined): string => (name === undefined ? 'main' : `main › ${name}`),
  agentSays: 'Agent says',
  undo: 'Undo',
  whyAsked: 'Why asked',
  why: 'Why?',
  whyTitle: 'Why was this asked?',
  asked: 'asked',
  becauseOf: (about: string, says: string): string => `${about}: ${says}`,
  moment: 'One moment',
  renewed: 'The file changed after this was proposed – diff renewed',
  beforeRestart: 'From before the restart',
  next: 'Next',
  edited: 'Edited by you',
  sending: 'Sending…',
  writeSome: (n: number, of: number): string =>
    n === 0 ? 'Nothing left – reject instead' : `Write ${n} of ${of} changes`,
  refused: 'The decision did not count',
  waitingMore: (n: number): string => counted(n, 'more waits', 'more wait'),

  command: {
    title: 'Command',
    hint: (n: number): string => counted(n, 'line', 'lines'),
    folder: 'In',
    projectFolder: 'project folder',
    timeLimit: 'Time limit',
    background: 'none, it goes on in the background',
    time: (millis: number): string => duration(millis),
    network: 'Network',
    networkNow: { off: 'off in the sandbox', asks: 'asks per host', open: 'open' } satisfies Record<
      NetworkLevel,
      string
    >,
    networkFree: 'not confined',
    sandbox: 'Sandbox',
    gaps: 'Not enforced here',
    asOneLine: 'Show as one line',
    inParts: 'Show in parts',
    copy: 'Copy command',
    copied: 'Copied',
    partsUnknown: 'This command cannot be checked in parts',
    hidden: (n: number): string => `${counted(n, 'hidden character', 'hidden characters')} marked`,
    lookalike: (n: number): string => `${counted(n, 'look-alike letter', 'look-alike letters')} marked`,
    blanks: (n: number): string => `${n} blanks`,
    joint: {
      '': 'first',
      '|': 'its output goes into',
      '&&': 'then, if it worked',
      '||': 'then, if it failed',
      ';': 'then',
      '$(': 'inside of it',
    } as Readonly<Record<string, string>>,
  },

  mark: {
    invisible: 'invisible character',
    direction: 'changes the reading direction',
    control: 'control character',
    lookalike: (letter: string): string => `looks like the letter ${letter}, but is another one`,
  },

  change: {
    added: (n: number): string => `+${n}`,
    removed: (n: number): string => `−${n}`,
    counts: (added: number, removed: number): string =>
      `${counted(added, 'line', 'lines')} added, ${counted(removed, 'line', 'lines')} removed`,
    onlyWhitespace: 'Only white space or line ends differ.',
  },

  remove: {
    title: (n: number): string => counted(n, 'file', 'files'),
    undoable: 'can be restored',
    notUndoable: 'Cannot be restored',
    lines: (n: number): string => counted(n, 'line', 'lines'),
    more: (n: number): string => `and ${n} more`,
  },

  other: {
    tool: 'Tool',
    none: 'No arguments.',
    raw: 'Raw',
    table: 'Table',
    name: 'Argument',
    value: 'Value',
  },

  edit: {
    button: 'Edit',
    command: 'Command',
    content: 'Proposed text',
    replacement: 'New text',
    arguments: 'Arguments (JSON)',
    raw: 'Raw arguments',
    checked: 'What you change is checked and classified again before it runs.',
    broken: 'This is not valid JSON yet.',
    done: 'Back to the card',
    reset: 'Restore the proposal',
  },

  remember: 'Remember…',
  review: { title: 'Review', open: 'Open in the full window', key: 'O' },
  suggestion: {
    line: (n: number): string => `You have allowed this ${n} times in this session:`,
    keep: 'Allow it in this project',
    keepWide: 'Keep the wide rule',
    wide: 'From now on this would be possible without asking:',
    later: 'Not now',
    never: 'Do not suggest rules',
  },
  runs: 'running, waits for you',

  connect: {
    address: 'Host',
    leads: 'Leads to',
    leadsTo: (where: string, port: number): string => `${where} · port ${port}`,
    ascii: 'as it is sent',
    mixed: 'The name is not plain Latin. Compare both forms.',
    request: 'Request',
    unknownRequest: 'What is sent is encrypted: Paddock sees the host alone.',
    command: 'From',
    byPaddock: 'Paddock itself, for this call',
  },

  outside: {
    title: 'Outside the project',
    reads: 'Reading',
    writes: 'Writing',
    through: (place: string): Piece[] => ['leaves the project through ', { name: place }],
    apart: 'Reading does not allow writing.',
    writeNote: 'Writing there is not covered by undo unless the card says so.',
  },

  grant: {
    scope: 'Allow',
    place: 'Where',
    file: 'This file',
    folder: 'Its folder',
    folderIs: 'Folder and all below it: ',
    scopes: { once: 'Once', turn: 'Turn', session: 'Session', project: 'Project' } satisfies Record<
      LastingScope,
      string
    >,
  },

  openings: {
    menu: 'More ways to run it once',
    means: 'For this one run:',
    once: 'It holds for this run alone and makes no rule. The agent cannot ask for it.',
    cancel: 'Back',
    once_open_network: {
      entry: 'Run once with the network of this computer…',
      title: 'Run with the network of this computer?',
      means: [
        'The command reaches every host, without asking for each one.',
        'It reaches services on this computer and in your own network too.',
        'What it sends is not seen by Paddock.',
        'Files stay confined as before.',
      ],
      confirm: 'Run once with open network',
    },
    once_unconfined: {
      entry: 'Run once without the sandbox…',
      title: 'Run without the sandbox?',
      means: [
        'The command can read and change everything that your account can: other projects, keys, settings.',
        'It reaches every host and every service of this computer.',
        'What it leaves behind in the project is still looked at; elsewhere it is not.',
      ],
      confirm: 'Run once without the sandbox',
    },
  },

  again: {
    title: 'What was refused',
    runWith: (exit: number | undefined, lines: number): string =>
      `${firstRun(exit)} · last ${counted(lines, 'line', 'lines')} of its output`,
    runSilent: (exit: number | undefined): string => `${firstRun(exit)}. It printed nothing.`,
    output: 'Output of the first run',
    all: 'Show all output',
    failed: 'The whole output could not be read.',
    rest: 'If you reject this, the agent gets the result of the first run.',
    twice: 'The command runs from its beginning. What the first run did stays done.',
  },

  group: {
    open: (n: number, of: string): string => `Review together: ${n} × ${of}`,
  },

  covered: {
    line: (n: number): string => `${counted(n, 'more was', 'more were')} covered by this rule and started`,
    undo: 'Undo rule',
    undone: 'Rule removed. What has started goes on.',
    dismiss: 'Dismiss',
  },

  reject: {
    button: 'Reject',
    menu: 'More ways to reject',
    plain: 'Reject',
    withReason: 'Reject and say why…',
    andPause: 'Reject and pause',
    all: (n: number): string => `Reject all ${n} that wait`,
    title: 'Why not?',
    field: 'Your words to the agent',
    placeholder: 'The text goes to the agent as you write it.',
    quick: ['wrong file', 'too broad', 'do it another way', 'not now', 'ask me first'],
    send: 'Reject and continue',
    sendAndPause: 'Reject and pause',
    cancel: 'Back',
  },
} as const

export const question = {
  title: 'The agent asks',
  options: 'Options',
  own: 'Own answer',
  ownField: 'Your own answer',
  skip: 'Skip, decide yourself',
  skipWhy: 'The agent goes on with its own judgement.',
  send: 'Answer',
  unreadable: 'The agent asked in a form that could not be read. You can still answer in your own words.',
} as const
