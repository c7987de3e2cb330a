/**
 * What an approval says. Sentences and buttons come from the typed request only: nothing the model wrote can become
 * a button, and its words stand in quotation marks.
 */
import type {
  AnswerScope,
  ApprovalRequest,
  FileChange,
  RiskClass,
  SandboxSummary,
  UndoFact,
  Verb,
} from '$lib/protocol'
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
  switch (body.body) {
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

/** The main button: always the narrowest grant, and it says what will happen. */
export function mainButton(request: ApprovalRequest, edited: boolean): string {
  const { body } = request
  switch (body.body) {
    case 'command':
      return edited ? 'Run edited command' : 'Run once'
    case 'delete':
      return `Delete ${counted(body.files.length, 'file', 'files')}`
    case 'change':
      return changeButton(body.change, edited)
    case 'changes':
      return `Change ${counted(body.changes.length, 'file', 'files')}`
    case 'other':
      return otherButton(request)
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

function otherButton(request: ApprovalRequest): string {
  if (has(request, 'external')) return 'Use once'
  if (has(request, 'network')) return 'Connect once'
  const writes = request.verb === 'edit' || request.verb === 'create' || request.verb === 'move'
  if (request.verb === 'delete') return 'Delete once'
  if (writes) return 'Allow writing once'
  return request.verb === 'read' || request.verb === 'list' || request.verb === 'search'
    ? 'Allow reading once'
    : 'Allow once'
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
}

/** Facts of the sandbox in one line. */
export function sandboxSentence(sandbox: SandboxSummary): string {
  if (!sandbox.confined) return 'Not confined on this machine'
  const reach = sandbox.read_only ? 'on, nothing can be written' : 'on, writes only in the project'
  return sandbox.tier === 'reduced' ? `${reach} (reduced)` : reach
}

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
    networkOn: 'open',
    networkOff: 'off in the sandbox',
    networkAsks: 'not confined',
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

  remember: {
    button: 'Remember',
    title: 'Approve now, and do not ask again for',
    exactly: 'calls of this shape',
    projectTitle: 'Remember for this project',
    projectBody: (shape: string): string =>
      `From now on, in every session of this project, Paddock will not ask for: ${shape}.`,
    projectNote: 'The rule is kept by Paddock, not in the project folder.',
    projectConfirm: 'Remember and approve',
    cancel: 'Cancel',
  },

  reject: {
    button: 'Reject',
    menu: 'More ways to reject',
    plain: 'Reject',
    withReason: 'Reject and say why…',
    andPause: 'Reject and pause',
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
