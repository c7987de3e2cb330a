/** Roles and autonomy: what exists in a session, and how much is asked. */
import type { Autonomy, Role } from '$lib/protocol'

/** A choice of a menu with the sentence that explains it. */
export interface ChoiceWords {
  name: string
  explains: string
}

export const roleWords: Record<Role, ChoiceWords> = {
  plan: { name: 'Plan', explains: 'Reads and searches, changes nothing. Commands see the folder read-only.' },
  act: { name: 'Act', explains: 'Reads, writes and runs commands inside the project.' },
  admin: {
    name: 'Admin',
    explains: 'All tools, higher ceilings, and folders outside that you allow. Ends with the session.',
  },
}

export const autonomyWords: Record<Autonomy, ChoiceWords> = {
  careful: { name: 'Careful', explains: 'Asks before every change and every command.' },
  balanced: {
    name: 'Balanced',
    explains: 'Changes files that can be undone and runs safe commands without asking. Asks for the rest.',
  },
  hands_off: {
    name: 'Hands-off',
    explains: 'Runs commands in the sandbox without asking. Still asks for network, outside and protected.',
  },
}

export const modes = {
  role: 'Role',
  autonomy: 'Autonomy',
  model: 'Model',
  noModel: 'No model',
  handsOffUnavailable: 'Not available: commands are not confined on this computer.',
  raise: {
    title: (role: Role): string => `Switch to ${roleWords[role].name}`,
    body: {
      plan: '',
      act: 'The agent will be able to write files and run commands inside the project. What is asked stays as it is set.',
      admin:
        'The agent will have all tools and higher ceilings. Folders outside open only where you allow them.',
    } satisfies Record<Role, string>,
    confirm: (role: Role): string => `Switch to ${roleWords[role].name}`,
    cancel: 'Stay',
  },
  handsOff: {
    title: 'Switch to Hands-off',
    body: 'Commands run in the sandbox without asking until the session ends. You can go back at any moment.',
    confirm: 'Switch to Hands-off',
    cancel: 'Stay',
  },
  rules: (n: number): string => `Rules of this session (${n})…`,
  rulesWhy: 'What you have allowed for this turn and this session',
  handsOffLine: 'Hands-off until the session ends',
} as const
