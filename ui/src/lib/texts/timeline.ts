/** Words of the timeline: verbs, facts at the end of a row, and the sentences of what is not a call. */
import type {
  CallItem,
  CallVerdict,
  ChangeKind,
  FileChange,
  GuardPattern,
  ItemStatus,
  LimitReached,
  OutputFacts,
  ProcessEnd,
  TurnReport,
  UndoResult,
  Usage,
  Verb,
  WorkflowEnd,
} from '$lib/protocol'
import { money } from '$lib/format/money'
import { tokensOf } from '$lib/turn/usage'
import { processes, subAgents } from './beside'
import { clock, count, counted, duration, listed, tokens } from './words'

const MINUS = '−'

export const verbs: Record<Verb, string> = {
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
  plan: 'Tasks',
  note: 'Remember',
  delegate: 'Sub-agent',
  end: 'End',
  use: 'Use',
}

/** State of a row as the screen reader says it and the tooltip of the mark shows it. */
export const statusWords: Record<ItemStatus, string> = {
  waiting: 'waiting',
  running: 'running',
  done: 'done',
  failed: 'failed',
  rejected: 'rejected',
  stopped: 'stopped',
  outcome_unknown: 'outcome unknown',
  undone: 'undone',
}

export const changeWords: Record<ChangeKind['change'], string> = {
  created: 'new',
  edited: 'changed',
  deleted: 'deleted',
  moved: 'moved',
}

const undoWords: Record<UndoResult, string> = {
  restored: 'restored',
  removed: 'removed again',
  kept_newer: 'left as it is: changed since',
  failed: 'could not be restored',
}

const guardWords: Record<GuardPattern, string> = {
  same_call: 'Same call, same result',
  rotation: 'The same few calls in rotation',
  back_and_forth: 'The same lines changed back and forth',
  no_progress: 'Nothing new for many iterations',
}

const guardTimes = (n: number): string => (n > 1 ? `, ${count(n)} times` : '')

export const timeline = {
  region: 'Timeline',
  feed: 'Conversation',
  you: 'You',
  agent: 'Agent',
  actions: {
    menu: 'Actions',
    copy: 'Copy',
    copyTarget: 'Copy target',
    copyOutput: 'Copy output',
    undo: 'Undo this change',
    redo: 'Redo this change',
    end: 'End this call',
    toBackground: 'To background',
    keepWaiting: 'Keep waiting',
    raw: 'Show raw',
    rawOf: (iteration: number): string => `Show raw data of iteration ${count(iteration)}`,
  },
  copied: 'Copied',
  added: (n: number): string => `+${count(n)}`,
  removed: (n: number): string => `${MINUS}${count(n)}`,
  spokenChange: (added: number, removed: number): string =>
    `${counted(added, 'line', 'lines')} added, ${counted(removed, 'line', 'lines')} removed`,
  changeKind: changeWords,
  exit: (code: number): string => `exit ${code}`,
  timedOut: 'timed out',
  inBackground: 'in the background',
  outside: 'outside',
  nameless: 'a call without a name',
  check: (attempt: number, of: number): string => `Check ${count(attempt)} of ${count(of)}`,
  again: 'again, with more allowed',
  masked: (n: number): string => counted(n, 'secret hidden', 'secrets hidden'),
  rule: 'rule',
  took: (millis: number): string => duration(millis),
  ticking: (millis: number): string => `${count(Math.floor(millis / 1000))} s`,
  jump: 'Jump to latest',
  jumpNew: (n: number): string => `Jump to latest · ${count(n)} new`,
  loadingOlder: 'Loading older items…',
  toMessage: 'Go to your message',
  iteration: (n: number): string => `Iteration ${count(n)}`,
  sideBySide: (n: number, millis: number | undefined): string =>
    millis === undefined
      ? `${count(n)} calls side by side`
      : `${count(n)} calls side by side · ${duration(millis)}`,
  after: (verb: string, target: string): string => `after ${verb} ${target}`,
  lastAction: 'last action',
  showMore: 'Show all',
  showLess: 'Show less',
  unknownOutcome: 'Paddock was closed while this ran. Whether it had an effect is not known.',
  undone: 'undone',
  editedByYou: 'edited by you',
  leftOut: (n: number): string => `${n} left out by you`,
  thinking: 'Thinking…',
  thought: (millis: number): string => `Thought for ${duration(millis)}`,
  thoughtShort: 'Thought',
  effort: (effort: string): string => `effort ${effort}`,
  steered: (iteration: number): string => `You, during iteration ${count(iteration)}`,
  note: 'You, before going on',
  usedFrom: (iteration: number): string => `used from iteration ${count(iteration)}`,
  notUsedYet: 'waits for the next iteration',
  result: 'Result',
  question: 'The agent asks',
  youAnswered: (answer: string): string => `You answered: ${answer}`,
  skipped: 'You let the agent decide.',
  image: (name: string): string => (name === '' ? 'Image, not loaded' : `Image, not loaded: ${name}`),
  linkTo: (address: string): string => `Opens ${address}`,
  done: 'done',
  toDo: 'to do',
} as const

/** Who wrote the message that began a turn. */
export const writerOf = (ofAgent: boolean): string => (ofAgent ? subAgents.taskFromMain : timeline.you)

/** Short text at the end of a row, by kind of tool. */
export function factWords(facts: OutputFacts): string | undefined {
  switch (facts.facts) {
    case 'lines':
      return facts.first === 1 && facts.last === facts.of
        ? counted(facts.of, 'line', 'lines')
        : `lines ${count(facts.first)}–${count(facts.last)} of ${count(facts.of)}`
    case 'hits':
      return facts.more ? `${count(facts.hits)}+ hits` : counted(facts.hits, 'hit', 'hits')
    case 'entries':
      return facts.more ? `${count(facts.entries)}+ entries` : counted(facts.entries, 'entry', 'entries')
    case 'command':
      return facts.timed_out ? timeline.timedOut : undefined
    case 'answer':
      return undefined
    case 'background':
      return timeline.inBackground
  }
}

/** Second line of a row: who let it run or refused it, and in which words. Nothing when it simply ran. */
export function verdictWords(verdict: CallVerdict | undefined): string | undefined {
  if (verdict === undefined) return undefined
  const by = verdict.by.by
  if (!verdict.allowed) {
    const reason = verdict.reason === undefined || verdict.reason === '' ? '' : `: ${verdict.reason}`
    return by === 'person' ? `Rejected by you${reason}` : `Refused by Paddock${reason}`
  }
  if (by === 'rule') return 'Allowed by a rule'
  if (by !== 'person') return undefined
  switch (verdict.scope) {
    case 'turn':
      return 'Approved for this turn by you'
    case 'session':
      return 'Approved for this session by you'
    case 'project':
      return 'Approved for this project by you'
    default:
      return 'Approved once by you'
  }
}

/** What a row names: the target, else the tool; a call that could not be read may have neither. */
export function targetOf({ target, tool }: CallItem): string {
  if (target.trim() !== '') return target
  return tool.trim() === '' ? timeline.nameless : tool
}

/** The word with which a call's row begins; a check of Paddock's own says which one it is. */
export const verbOf = ({ verb, check }: CallItem): string =>
  check === undefined ? verbs[verb] : timeline.check(check.attempt, check.of)

/** The row as one sentence for the screen reader. */
export function rowName(
  call: CallItem,
  status: ItemStatus,
  iteration: number,
  took: number | undefined,
): string {
  const parts = [
    `${verbOf(call)}${call.check === undefined ? '' : ':'} ${targetOf(call)}`,
    statusWords[status],
    call.output?.exit_code === undefined ? undefined : timeline.exit(call.output.exit_code),
    took === undefined ? undefined : duration(took),
    timeline.iteration(iteration).toLowerCase(),
  ]
  return parts.filter((part) => part !== undefined).join(', ')
}

export const changes = {
  title: 'Changes',
  thisTurn: 'This turn',
  session: 'Session',
  scope: 'Scope',
  empty: 'No changes yet. Files the agent changes appear here, with undo.',
  total: (files: number): string => counted(files, 'file', 'files'),
  undoCall: 'Undo',
  redoCall: 'Redo',
  undoOf: (path: string, iteration: number): string =>
    `Undo the change of ${path} in iteration ${count(iteration)}`,
  byCall: (iteration: number, tool: string | undefined): string =>
    tool === undefined
      ? `iteration ${count(iteration)}`
      : `iteration ${count(iteration)} · by command “${tool}”`,
  notCovered: 'Cannot be undone by Paddock',
  show: 'Show in the timeline',
} as const

export const diffWords = {
  table: (path: string): string => `Changes of ${path}`,
  added: (line: number): string => `added, line ${count(line)}`,
  removed: (line: number): string => `removed, line ${count(line)}`,
  same: (line: number): string => `line ${count(line)}`,
  onlyWhitespace: 'Only white space or line endings changed.',
  none: 'No text to compare: the file is binary or very large.',
  deleted: 'The file was deleted.',
  moved: (from: string, to: string): string => `Moved from ${from} to ${to}.`,
  showAll: (lines: number): string => `Show ${counted(lines, 'more line', 'more lines')}`,
  gap: (lines: number): string => `${counted(lines, 'unchanged line', 'unchanged lines')}`,
} as const

export const output = {
  hidden: (lines: number): string => `… ${counted(lines, 'line', 'lines')} not shown`,
  open: 'Show all output',
  loading: 'Loading output…',
  none: 'No output.',
  command: 'Command',
  folder: 'Folder',
  sandbox: 'Sandbox',
  sandboxTier: (tier: string): string =>
    ({ full: 'on', reduced: 'on, with gaps', none: 'off: not confined' })[tier] ?? tier,
  denials: 'The sandbox refused',
  refusedFirst: 'The first run was refused',
  maskedWhy: 'they are hidden here and from the model.',
  quarantined: 'Set aside, because they would have run later',
  filesChanged: 'Files changed',
  arguments: 'Arguments',
  answer: 'Answer',
  live: 'Live output',
} as const

/** A row that is not a call: its verb, its sentence and what it says when opened. */
export interface NoteWords {
  tone: 'neutral' | 'info' | 'warn' | 'danger'
  title: string
  text?: string | undefined
}

export const notes = {
  retry: (attempt: number, of: number, reason: string, hint: string | undefined): NoteWords => ({
    tone: 'warn',
    title: `${reason} Trying again (${count(attempt)} of ${count(of)})`,
    text: hint,
  }),
  retryIn: (millis: number): string =>
    millis < 60_000 ? `in ${count(Math.ceil(millis / 1_000))} s` : `in ${clock(millis)}`,
  spent: (usage: Usage): string =>
    `This try used ${tokens(tokensOf(usage))} tokens${usage.cost > 0 ? ` · ${money(usage.cost)}` : ''}.`,
  malformed: (attempt: number, of: number): NoteWords => ({
    tone: 'neutral',
    title: `The call was not well formed, asked again (${count(attempt)} of ${count(of)})`,
  }),
  guard: (pattern: GuardPattern, calls: number, paused: boolean): NoteWords => ({
    tone: 'warn',
    title: `${guardWords[pattern]}${guardTimes(pattern === 'same_call' ? calls : 0)}`,
    text: paused ? 'The turn paused: it may be going in circles.' : 'Told the agent that it repeats itself.',
  }),
  breaker: (tool: string, calls: number): NoteWords => ({
    tone: 'warn',
    title: `${tool} failed ${count(calls)} times in a row`,
    text: 'The turn paused, so that it does not go on in vain.',
  }),
  limit: (reached: LimitReached): NoteWords => ({ tone: 'warn', title: limitTitle(reached) }),
  recovery: (targets: readonly string[]): NoteWords => ({
    tone: 'warn',
    title: 'Paddock was closed while a turn was going',
    text: targets.length === 0 ? undefined : `The outcome of ${listed(targets)} is unknown.`,
  }),
  roleChange: (from: string, to: string): NoteWords => ({
    tone: 'neutral',
    title: `Role ${from} → ${to} by you`,
  }),
  modelChange: (from: string, to: string): NoteWords => ({
    tone: 'neutral',
    title: `Model ${from} → ${to}`,
  }),
  error: (message: string, hint: string | undefined): NoteWords => ({
    tone: 'danger',
    title: message,
    text: hint,
  }),
  promptCut: (model: string, read: number, sent: number, remedy: string): NoteWords => ({
    tone: 'warn',
    title: `${model} read only ${tokens(read)} of about ${tokens(sent)} tokens`,
    text: `Its window is probably smaller than set, and what does not fit is cut off without a word: rules and tools may be gone. ${remedy}`,
  }),
  undo: (redo: boolean, files: number): NoteWords => ({
    tone: 'neutral',
    title: `${redo ? 'Done again' : 'Undone'}: ${counted(files, 'file', 'files')}`,
  }),
  hostAdmitted: (host: string, rule: string): NoteWords => ({
    tone: 'neutral',
    title: `Connected to ${host} without asking`,
    text: `Allowed by the rule “${rule}”`,
  }),
  setAside: (path: string, back: boolean): NoteWords => ({
    tone: 'neutral',
    title: back ? `You put ${path} back` : `You threw away what was set aside: ${path}`,
  }),
  workflow: (title: string, step: number, of: number, end: WorkflowEnd | undefined): NoteWords => ({
    tone: end === 'failed' ? 'danger' : 'neutral',
    title: `Workflow ${title}: ${workflowState(step, of, end)}`,
  }),
  processEnded: (command: string, end: ProcessEnd, ran: number): NoteWords => ({
    tone: end.how === 'exited' && end.code !== 0 ? 'warn' : 'neutral',
    title: processes.ended(command.split('\n', 1)[0] ?? ''),
    text: `${processes.how(end)} · ${processes.ran(ran)}`,
  }),
  undoneFile: (result: UndoResult): string => undoWords[result],
  status: (status: number): string => `HTTP status ${status}`,
} as const

function workflowState(step: number, of: number, end: WorkflowEnd | undefined): string {
  switch (end) {
    case 'completed':
      return 'done'
    case 'failed':
      return `failed at step ${count(step)} of ${count(of)}`
    case 'stopped':
      return `stopped at step ${count(step)} of ${count(of)}`
    case undefined:
      return `step ${count(step)} of ${count(of)}`
  }
}

function limitTitle(reached: LimitReached): string {
  switch (reached.limit) {
    case 'iterations':
      return `Iteration limit reached (${count(reached.allowed)})`
    case 'active_time':
      return `Time limit reached (${duration(reached.allowed)} of work)`
    case 'session_tokens':
      return `Token limit of the session reached (${tokens(reached.allowed)})`
    case 'turn_money':
      return `Budget of the turn reached (${money(reached.allowed)})`
    case 'session_money':
      return `Budget of the session reached (${money(reached.allowed)})`
    case 'day_money':
      return `Budget of the day reached (${money(reached.allowed)})`
  }
}

/** The facts of a finished turn, in one line. */
export function turnWords(report: TurnReport): string {
  const worked = {
    completed: 'Worked',
    stopped: 'Stopped after',
    failed: 'Failed after',
  }[report.end]
  const used = tokensOf(report.usage)
  return [
    `${worked} ${duration(report.active)}`,
    counted(report.calls, 'call', 'calls'),
    report.files_changed === 0 ? undefined : `${counted(report.files_changed, 'file', 'files')} changed`,
    used === 0 ? undefined : `${tokens(used)} tokens`,
    report.usage.cost === 0
      ? undefined
      : `${report.usage.unpriced ? 'at least ' : ''}${money(report.usage.cost)}`,
  ]
    .filter((part) => part !== undefined)
    .join(' · ')
}

/** `+11 −6` of several files. */
export function sumOfChanges(files: readonly FileChange[]): { added: number; removed: number } {
  return files.reduce(
    (sum, file) => ({ added: sum.added + file.added, removed: sum.removed + file.removed }),
    { added: 0, removed: 0 },
  )
}

export const code = {
  wrap: 'Wrap long lines',
  copy: 'Copy code',
  copied: 'Copied',
} as const
