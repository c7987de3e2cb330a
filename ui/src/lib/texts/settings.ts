/** The settings pages. Every change applies at once; one notice offers to take it back. */
import type {
  CallFormat,
  GuardMode,
  KeyState,
  LimitProfile,
  NetworkLevel,
  SandboxSummary,
  SendKey,
  Theme,
} from '$lib/protocol'

/** The pages of the settings, in the order of the list. */
export type SettingsPage =
  'general' | 'models' | 'budget' | 'limits' | 'rules' | 'notifications' | 'sandbox' | 'network' | 'about'

export const settings = {
  title: 'Settings',
  close: 'Close settings',
  pages: 'Pages',
  page: {
    general: 'General',
    models: 'Models',
    budget: 'Budget',
    limits: 'Limits',
    rules: 'Rules',
    notifications: 'Notifications',
    sandbox: 'Sandbox and access',
    network: 'Network',
    about: 'About',
  } satisfies Record<SettingsPage, string>,
  saved: 'Changed.',
  undo: 'Undo',
  undone: 'Back as it was.',
  notSaved: 'The change was not saved.',
  dismiss: 'Dismiss',
  loading: 'Reading settings…',
} as const

export const general = {
  sendKey: 'Send a message with',
  sendKeys: {
    enter: 'Enter (Shift+Enter makes a line)',
    mod_enter: 'Ctrl or ⌘ + Enter (Enter makes a line)',
  } satisfies Record<SendKey, string>,
  theme: 'Theme',
  themes: {
    system: 'As the system',
    light: 'Light',
    dark: 'Dark',
    high_contrast_light: 'High contrast, light',
    high_contrast_dark: 'High contrast, dark',
  } satisfies Record<Theme, string>,
  autonomy: 'New sessions start',
} as const

export const models = {
  intro: 'Servers the agent can use. Keys are kept in the keyring of this computer.',
  add: 'Add a server',
  edit: 'Edit',
  remove: 'Remove',
  removeTitle: (label: string): string => `Remove ${label}?`,
  removeBody: 'Its key is forgotten too. Sessions that used it ask for another model.',
  removeConfirm: 'Remove server',
  cancel: 'Cancel',
  none: 'No server is set up.',
  inUse: (model: string): string => `${model} · new sessions`,
  forget: 'Forget key',
  actions: (label: string): string => `Actions for ${label}`,
  demo: 'Scripted answers of the demo',
} as const

export const secondModel = {
  when: 'The second choice is',
  ways: { offered: 'offered', automatic: 'used without asking' },
  whyAutomatic:
    'The session goes on with it by itself and says so. It may cost more, and it sees the same files.',
} as const

export const callFormats = {
  title: 'How it is asked to call tools',
  label: (model: string): string => `Call format of ${model}`,
  formats: {
    native: { name: 'Native', explains: 'The server’s own tool calls. Right for most models.' },
    json: { name: 'JSON', explains: 'Calls as a JSON block in the text. For models without tool calls.' },
    xml: { name: 'XML', explains: 'Calls as tags in the text. For models that break JSON in long edits.' },
  } satisfies Record<CallFormat, { name: string; explains: string }>,
} as const

/** Where a key is, in words that never hide a problem. */
export function keyWords(key: KeyState): { text: string; good: boolean } {
  switch (key.key) {
    case 'not_needed':
      return { text: 'no key needed', good: true }
    case 'missing':
      return { text: 'key missing', good: false }
    case 'in_keyring':
      return { text: `key in the keyring, ends with ${key.ends_with}`, good: true }
    case 'this_session_only':
      return { text: `key kept until you quit, ends with ${key.ends_with}: ${key.why}`, good: false }
    case 'from_environment':
      return {
        text: `key from the environment variable ${key.variable}, ends with ${key.ends_with}`,
        good: true,
      }
    case 'unavailable':
      return { text: `the keyring did not answer: ${key.why}`, good: false }
  }
}

/** A limit that is a plain number or a time. */
export type LimitField =
  | 'iterations'
  | 'active_time'
  | 'session_tokens'
  | 'tool_time'
  | 'command_time'
  | 'malformed_calls'
  | 'tool_failures'
  | 'same_result'
  | 'model_retries'
  | 'model_silence'
  | 'local_silence'

export const limitSettings = {
  intro:
    'Where a turn pauses and asks you. Nothing is lost at a limit; each can be extended while the turn waits.',
  newSessions: 'New sessions start with these values.',
  profile: 'Profile',
  profiles: {
    standard: { name: 'Standard', explains: 'for most work' },
    quick: { name: 'Quick', explains: 'short tasks' },
    production: { name: 'Production', explains: 'careful, short leash' },
    complex: { name: 'Complex', explains: 'long tasks' },
    development: { name: 'Development', explains: 'builds and tests that take long' },
  } satisfies Record<LimitProfile, { name: string; explains: string }>,
  own: 'Own values',
  groups: { turn: 'A turn', calls: 'Calls', guard: 'Loop guard', model: 'Requests to the model' },
  guard: 'When the agent repeats itself',
  guards: {
    hint_then_ask: {
      name: 'Hint, then ask',
      explains: 'The agent is told first. If it goes on, the turn pauses.',
    },
    hint_only: { name: 'Hint only', explains: 'The agent is told. The turn goes on.' },
    off: { name: 'Off', explains: 'Only the limits end a loop.' },
  } satisfies Record<GuardMode, { name: string; explains: string }>,
  field: {
    iterations: 'Iterations per turn',
    active_time: 'Working time per turn',
    session_tokens: 'Tokens per session',
    tool_time: 'One tool call',
    command_time: 'One command',
    malformed_calls: 'Unreadable calls in a row',
    tool_failures: 'Failures of the same tool in a row',
    same_result: 'Same call with the same result',
    model_retries: 'Further tries of one request',
    model_silence: 'Silence of the server',
    local_silence: 'Silence of a server on this computer',
  } satisfies Record<LimitField, string>,
  seconds: 's',
  minutes: 'min',
  times: '',
  tokens: 'tokens',
  noLimit: 'No limit',
  outOfRange: (low: number, high: number): string => `Use a number from ${low} to ${high}.`,
} as const

export const notifications = {
  intro: 'System notifications while the window is not focused.',
  waiting: 'Something waits for you',
  done: 'A turn is done',
  failed: 'A turn failed or paused',
  details: 'Show details',
  detailsHelp: 'Command, path and host may appear in the text. Otherwise only project and session do.',
} as const

export const sandboxPage = {
  commands: 'Commands',
  confined: 'Confined to the project folder',
  notConfined: 'Not confined on this computer',
  notConfinedBody:
    'Commands are not confined on this computer. Each one will ask, and Hands-off is not available.',
  tier: 'Strength',
  tiers: { full: 'Full', reduced: 'Reduced', none: 'None' } as Readonly<Record<string, string>>,
  network: 'Network inside the sandbox',
  networkNow: { off: 'off', asks: 'each host is asked for', open: 'open' } satisfies Record<
    NetworkLevel,
    string
  >,
  gaps: 'Not enforced here',
  noGaps: 'Nothing is left open.',
  tried: 'Paddock really tried this on this computer.',
  keyring: 'Keyring',
  keyringGood: 'Keys are kept in the keyring of this computer.',
  keyringProblem: (why: string): string => `The keyring did not answer: ${why} Keys are kept until you quit.`,
} as const

/** The strength of the sandbox in one word. */
export const tierWords = (sandbox: SandboxSummary): string => sandboxPage.tiers[sandbox.tier] ?? sandbox.tier

export const aboutPage = {
  version: (version: string): string => `Version ${version}`,
  system: 'System',
  systems: { linux: 'Linux', macos: 'macOS', windows: 'Windows' } as Readonly<Record<string, string>>,
  licence: 'Licence',
  licenceText: 'MIT or Apache-2.0',
  data: 'Paddock sends no usage data. What goes to a model server is the conversation and what the agent read for it.',
} as const
