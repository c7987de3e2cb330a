/** Rules in words: what they cover, how they answer, how long they hold; and the pages on which they are made. */
import type { LastingScope } from '$lib/approvals/openings'
import type {
  ProtectedPlace,
  Rule,
  RuleAnswer,
  RuleEnd,
  RuleScope,
  RuleShape,
  WordShape,
} from '$lib/protocol'
import type { EndChoice } from '$lib/rules/ends'
import { count, counted, duration, listed, moment } from './words'

const DAY = 86_400_000

/** A word as a person would write it: in quotes when it holds a blank or nothing. */
const shown = (word: string): string => (word === '' || /\s/u.test(word) ? `“${word}”` : word)

function commandWords(words: readonly WordShape[]): string {
  const fixed = words.flatMap((word) => {
    if (word.word === 'exact') return [shown(word.text)]
    if (word.word === 'one_of') return [`(${word.texts.map(shown).join(' or ')})`]
    return word.word === 'any' ? ['(any word)'] : []
  })
  return words.some((word) => word.word === 'rest') ? `${fixed.join(' ')}, any arguments` : fixed.join(' ')
}

/** A place, or what is in a folder: `docs`, `docs and below`. */
const placeWords = (path: string): string => (path.endsWith('/') ? `${path.slice(0, -1)} and below` : path)

/** What a shape covers. The core says it with the same words; these stand where it was not asked. */
export function shapeWords(shape: RuleShape): string {
  switch (shape.shape) {
    case 'command':
      return commandWords(shape.words)
    case 'write_path':
      return shape.path.endsWith('/')
        ? `changes in ${placeWords(shape.path)}`
        : `changes to ${placeWords(shape.path)}`
    case 'host':
      return shape.host.startsWith('*.')
        ? `connections to all hosts below ${shape.host.slice(2)}`
        : `connections to ${shape.host}`
    case 'outside':
      return `${shape.write ? 'reading and changing' : 'reading'} ${placeWords(shape.path)}`
    case 'external_tool':
      return `${shape.tool} of ${shape.server}`
  }
}

export const answerWords: Record<RuleAnswer, string> = { allow: 'allow', ask: 'always ask', never: 'never' }

export const scopeWords: Record<RuleScope['scope'], string> = {
  turn: 'this turn',
  session: 'this session',
  project: 'project',
  everywhere: 'all projects',
}

/** When a rule ends, for a line of a list. */
export function endWords(rule: Rule, now: number): string {
  const end: RuleEnd = rule.end
  switch (end.end) {
    case 'at':
      return end.at <= now
        ? 'ended'
        : end.at - now < DAY
          ? `in ${duration(end.at - now)}`
          : moment(end.at, now)
    case 'unused':
      return `${counted(end.days, 'day', 'days')} unused`
    case 'never':
      if (rule.scope.scope === 'turn') return 'turn end'
      return rule.scope.scope === 'session' ? 'session end' : 'no end'
  }
}

/** When a rule was last used: `today`, `5 weeks ago`. */
export function lastWords(rule: Rule, now: number): string {
  if (rule.last_used === undefined) return '–'
  const days = Math.floor((now - rule.last_used) / DAY)
  if (days < 2) return moment(rule.last_used, now)
  return days < 14 ? `${count(days)} days ago` : `${count(Math.round(days / 7))} weeks ago`
}

export const form = {
  kind: 'Kind',
  kinds: { command: 'Command', host: 'Host', outside: 'Outside', write_path: 'Writing' } as const,
  command: 'Command',
  covers: 'Covers',
  chip: (place: number): string => `Word ${place}`,
  chipLabel: (place: number, word: string, kind: string): string => `Word ${place}: ${word}, ${kind}`,
  chipKind: { exact: 'exactly this', one_of: 'one of these', any: 'any value' },
  chipWhat: {
    exact: (value: string): string => `Exactly ${value}`,
    one_of: (values: readonly string[]): string => `One of ${listed(values)}`,
    any: 'Any value',
  },
  anyValue: 'any value',
  blank: '(empty)',
  rest: 'Any number of words from here on',
  restChip: 'any further words',
  noRest: 'Nothing more',
  noRestChip: 'nothing more',
  end: 'End of the line',
  readsAs: 'Reads as',
  reading: 'Looking at what it would cover…',
  answer: 'Answer',
  answers: { allow: 'allow', ask: 'always ask', never: 'never allow' } satisfies Record<RuleAnswer, string>,
  answerNotes: {
    allow: undefined,
    ask: 'Asks every time, whatever the autonomy is. Kept for the project.',
    never: 'Refused without asking. Kept for the project.',
  } satisfies Record<RuleAnswer, string | undefined>,
  noAllow: 'No rule can allow this call: it can only be allowed once.',
  scope: 'For',
  scopes: { turn: 'this turn', session: 'this session', project: 'this project', everywhere: 'all projects' },
  until: 'Until',
  ends: {
    scope: 'session end',
    hour: '1 hour from now',
    today: 'the end of today',
    week: '7 days from now',
    unused: '30 days without use',
    none: 'no end',
  } satisfies Record<EndChoice, string>,
  turnEnd: 'turn end',
  covered: 'Would have covered in this project',
  coveredNone: 'No past call. It is kept for calls to come.',
  coveredCount: (n: number): string =>
    n >= 50 ? '50 or more past calls' : counted(n, 'past call', 'past calls'),
  near: 'Nearly the same, not covered',
  all: (n: number): string => `Show all ${count(n)}`,
  expert: 'Stored form',
  refusedTitle: 'No rule can be kept for this',
  onceOnly: 'You can still allow it once.',
  unchecked: 'What this rule would cover could not be checked.',
  again: 'Try again',
  kept: 'The rule is kept by Paddock, not in the project folder.',
} as const

export const remember = {
  title: 'Remember this kind of call',
  titleCommand: 'Remember this kind of command',
  notSplit:
    'The words of this command cannot be told apart, or it runs code that a rule could not see. It can be allowed once.',
  cancel: 'Cancel',
  back: 'Back',
  allow: (main: string): string => `Remember and ${main.charAt(0).toLowerCase()}${main.slice(1)}`,
  ask: 'Remember: always ask',
  never: 'Remember and reject',
  wideTitle: 'This rule is wide',
  wideBody: 'From now on this would be possible without asking:',
  wideConfirm: (main: string): string =>
    `Keep the wide rule and ${main.charAt(0).toLowerCase()}${main.slice(1)}`,
} as const

/** The scopes of an approval in the words of the form. */
export const formScope = (scope: LastingScope | 'everywhere'): string =>
  scope === 'once' ? 'once' : form.scopes[scope]

export const review = {
  title: (of: string): string => `Review together: ${of}`,
  what: 'What',
  facts: 'Facts',
  from: 'From',
  tick: (target: string): string => `Approve ${target}`,
  all: 'All',
  show: 'Show all of it',
  hide: 'Show less',
  approve: (n: number, of: number): string => `Approve ${count(n)} of ${count(of)}`,
  none: 'Nothing is ticked',
  cancel: 'Close',
  stays: 'What is not ticked stays in the queue.',
  fresh: 'new',
  sending: (done: number, of: number): string => `Sending ${count(done)} of ${count(of)}…`,
  problems: (n: number): string => `${counted(n, 'decision', 'decisions')} did not count`,
} as const

export const session = {
  title: 'Rules of this session',
  none: 'No rules for this turn or this session. You can make one from any approval.',
  remove: 'Remove',
  removeOf: (words: string): string => `Remove the rule ${words}`,
  all: 'All rules…',
  beyond: (n: number): string =>
    `${counted(n, 'further rule holds', 'further rules hold')} in the whole project.`,
  close: 'Close',
} as const

export const page = {
  order: 'Looked at in this order: protected → never → ask → allow → autonomy. The strictest answer wins.',
  noProject: 'Open a project to see its rules.',
  loading: 'Reading rules…',
  again: 'Try again',
  empty: 'No rules yet. You can make one from any approval.',
  nothing: (query: string): string => `Nothing found for “${query}”.`,
  search: 'Search rules',
  searchHint: 'Search…',
  counts: (allow: number, ask: number, never: number): string =>
    `allow ${count(allow)} · ask ${count(ask)} · never ${count(never)}`,
  add: 'Add rule',
  export: 'Export',
  import: 'Import…',
  table: 'Rules of this project and of all projects',
  columns: { rule: 'Rule', answer: 'Answer', scope: 'Scope', used: 'Used', last: 'Last', ends: 'Ends' },
  used: (n: number): string => `${count(n)} ×`,
  asleep: 'asleep',
  asleepWhy: 'Not used for long: the next match asks once.',
  details: (words: string): string => `Details of ${words}`,
  matched: 'Past calls it covers',
  edit: 'Edit…',
  remove: 'Remove',
  removed: (words: string): string => `Removed: ${words}. It is asked again from now on.`,
  removedAsk: (words: string): string => `Removed: ${words}. The autonomy decides again.`,
  removedNever: (words: string): string => `Removed: ${words}. It is no longer refused.`,
  undo: 'Undo',
  safeTitle: 'Safe list',
  safeIntro: 'Commands that Balanced runs without asking. The list is fixed.',
  safe: [
    'git status, log, diff, show, and the list of branches',
    'ls, tree, du, stat, file: what is there and how large',
    'cat, head, tail, grep, wc: what stands in files of the project',
    'pwd, echo, true',
    'the version of any program: --version, -V, version',
  ],
  safeNever: 'Never anything that takes a script, a hook, an editor, a pager or an output file.',
  builtIn:
    'Always refused, whatever the rules say: sudo and the like, disks, power, reading keys, deleting root or home.',
  testTitle: 'Test a command',
  testHint: 'Nothing runs. It shows what would be said to it now.',
  test: 'Test',
  verdicts: {
    allow: 'would run without asking',
    ask: 'would be asked',
    never: 'would be refused',
  } satisfies Record<RuleAnswer, string>,
  parts: 'Parts',
  trace: 'Reasons, in the order they were looked at',
} as const

export const add = {
  title: 'Add a rule',
  editTitle: 'Edit a rule',
  field: {
    command: { label: 'An example of the command', hint: 'Each word becomes a chip that you can widen.' },
    host: { label: 'Host', hint: 'For example api.example.com, or *.example.com for all below it.' },
    outside: { label: 'Path outside of the project', hint: 'The whole path. A folder ends in /.' },
    write_path: { label: 'Path in the project', hint: 'For example docs/notes.md. A folder ends in /.' },
  },
  notSplit: 'This cannot be told apart into words.',
  write: 'Allow writing there as well',
  save: 'Keep rule',
  saveWide: 'Keep the wide rule',
  back: 'Back',
  cancel: 'Cancel',
} as const

export const transfer = {
  title: 'Import rules',
  lead: 'Nothing is added before you choose it. Rules that cannot be kept are left out.',
  unreadable: 'This file holds no rules of Paddock.',
  tick: (words: string): string => `Add ${words}`,
  refused: (why: string): string => `cannot be kept: ${why}`,
  wide: 'wide',
  known: 'is there already',
  add: (n: number): string => `Add ${counted(n, 'rule', 'rules')}`,
  addWide: (n: number): string => `Add ${counted(n, 'rule', 'rules')}, wide ones too`,
  none: 'Nothing is ticked',
  back: 'Back',
  cancel: 'Cancel',
} as const

export const presets = {
  title: 'Package registries and git hosts',
  lead: 'Hosts that belong together, as rules for this project. Each stays in the list above and can be removed there.',
  kinds: { packages: 'Package registries', git: 'Git hosts' },
  notes: {
    packages: 'Commands can fetch packages, and whoever may publish there could also receive something.',
    git: 'Commands can fetch repositories. They could also send to any repository that takes it.',
  },
  allowed: 'allowed',
  partly: (n: number, of: number): string => `${count(n)} of ${count(of)} allowed`,
  allow: 'Allow in this project',
  allowOf: (name: string): string => `Allow ${name} in this project`,
  allowFor: (name: string): string => `Allow ${name} for this project`,
  revoke: 'Revoke',
  revokeOf: (name: string): string => `Revoke ${name} for this project`,
  belongs: (name: string): string => `This host belongs to ${name}:`,
} as const

export const setAside = {
  heading: 'Set aside after commands',
  lead: 'Files that commands left here and that would have run later outside of the sandbox. Nothing of it runs while it waits.',
  none: 'Nothing waits.',
  look: 'Look…',
  lookAt: (path: string): string => `Look at ${path}`,
  decided: 'no longer waits',
  title: (path: string): string => `Set aside: ${path}`,
  isNew: 'nothing lies there now',
  replaces: 'would replace what lies there now',
  executable: 'can be executed',
  noText: 'no text that could be shown',
  notKept: 'It was a link or too large, so it was not kept. It can only be thrown away.',
  places: {
    git_internals: 'Git runs what stands here by itself. Put it back only when you know what it does.',
    paddock_settings: 'Paddock takes settings from it.',
    agent_instructions: 'Agents go by what stands here, also other ones than this.',
    login_script: 'Shells run what stands here when they start.',
    secret_file: 'Such files usually hold keys or passwords.',
    editor_tasks: 'Editors run what stands here when the project is opened.',
  } satisfies Record<ProtectedPlace, string>,
  later: 'Decide later',
  discard: 'Throw away',
  back: 'Put back as shown',
} as const

export const grants = {
  hosts: 'Hosts',
  hostsNone: 'No host is allowed beforehand. Each one is asked for.',
  places: 'Places outside the project',
  placesNone: 'None. Each one is asked for.',
  revoke: 'Revoke',
  revokeOf: (words: string): string => `Revoke ${words}`,
} as const
