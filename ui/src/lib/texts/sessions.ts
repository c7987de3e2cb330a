/** The session list, the header of a session and what is asked before one is deleted. */
import { counted } from './words'

export const sessions = {
  region: 'Sessions',
  title: 'Sessions',
  new: 'New session',
  search: 'Search sessions',
  searchPlaceholder: 'Search…',
  nothing: (query: string): string => `Nothing found for “${query}”.`,
  empty: 'No sessions yet.',
  untitled: 'New session',
  waiting: (n: number): string => `${counted(n, 'thing waits', 'things wait')} for you`,
  iteration: (n: number): string => `iteration ${n}`,
  menu: (title: string): string => `Actions for ${title}`,
  rename: 'Rename',
  renameField: 'Title of the session',
  delete: 'Delete…',
  deleteTitle: 'Delete this session?',
  deleteBody: (title: string): string =>
    `“${title}” goes for good: its record, the outputs of its commands and its undo data. Files in the project stay as they are.`,
  deleteConfirm: 'Delete session',
  cancel: 'Cancel',
  workflows: 'Workflows',
  metrics: 'Metrics',
  settings: 'Settings',
  otherProject: 'Open another folder',
  project: 'Project',
  loading: 'Loading sessions…',
} as const

export const header = {
  title: 'Session title',
  rename: 'Rename the session',
  role: (name: string): string => `Role ${name}`,
  roleLabel: (name: string): string => `Role: ${name}`,
  autonomyLabel: (name: string): string => `Autonomy: ${name}`,
  modelLabel: (name: string): string => `Model: ${name}`,
  manageModels: 'Models and providers…',
  demo: 'Demo',
} as const

export const health = {
  region: 'Health',
  good: 'Sandbox on',
  reduced: 'Sandbox on, reduced',
  missing: 'Commands are not confined',
  keyring: 'Keyring does not answer',
  worst: { warning: 'Something to know', bad: 'Something does not work' },
  several: (n: number): string => counted(n, 'thing to know', 'things to know'),
} as const
