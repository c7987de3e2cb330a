/** The message field, its send modes, its commands, and the queue above it. */
import type { SendMode } from '$lib/protocol'
import { counted } from './words'

/** A command that can be typed after `/`. */
export type CommandName = 'stop' | 'pause' | 'continue' | 'finish'

export const composer = {
  region: 'Message',
  field: 'Message the agent',
  placeholder: 'Message the agent…',
  placeholderWorking: 'Tell the agent something…',
  placeholderLimit: 'Tell the agent something for when it goes on…',
  placeholderPaused: 'Add a note, it continues the turn…',
  send: 'Send',
  attach: 'Attach images',
  sendKey: { enter: 'Enter sends · Shift+Enter makes a line', mod_enter: 'sends · Enter makes a line' },
  commands: 'Commands',
  commandHint: '/ commands',
  command: {
    stop: 'Stop now',
    pause: 'Pause after this iteration',
    continue: 'Continue',
    finish: 'Finish up without more tools',
  } satisfies Record<CommandName, string>,
  workflow: (title: string): string => `${title}…`,
  commandNotNow: 'Not possible right now',
  unknownCommand: (typed: string): string =>
    `There is no command ${typed}. Known: /stop, /pause, /continue, /finish.`,
  modeLabel: 'When to deliver',
  mode: {
    next_iteration: 'At next iteration',
    after_turn: 'After this turn',
    interrupt: 'Interrupt now',
    when_free: 'When the folder is free',
  } satisfies Record<SendMode, string>,
  modeWhy: {
    next_iteration: 'The agent reads it before its next request.',
    after_turn: 'It waits in the queue and starts the next turn.',
    interrupt: 'Ends the call that runs, then the agent reads it.',
    when_free: 'It waits until no other session changes this folder.',
  } satisfies Record<SendMode, string>,
  notSent: 'Not sent. Your text is kept.',
  dismiss: 'Dismiss',
  noModel: {
    title: 'Connect a model to begin.',
    body: 'Nothing is sent anywhere before you do.',
    choose: 'Choose a model',
    use: (model: string): string => `Use ${model}`,
    demo: 'Try the demo',
  },
  doneWhen: {
    label: 'When a turn is done',
    unset: 'Done when…',
    prefix: 'Done when:',
    is: (command: string): string => `Done when: ${command} succeeds`,
    field: 'A turn is done when this command succeeds',
    placeholder: 'npm test',
    why: 'Paddock runs it when the agent says that it is done with changes, and tells the agent what failed. After several failures it asks you.',
    set: 'Set',
    remove: 'No check',
  },
} as const

/** What the empty field says: it depends on what a message would do now. */
export function placeholderOf(working: boolean, paused: 'continues' | 'waits' | undefined): string {
  if (paused === 'continues') return composer.placeholderPaused
  if (paused === 'waits') return composer.placeholderLimit
  return working ? composer.placeholderWorking : composer.placeholder
}

export const queue = {
  region: 'Queued messages',
  title: (n: number): string => counted(n, 'message waits', 'messages wait'),
  until: 'for the end of this turn',
  untilFree: 'until the folder is free',
  held: '· held until you release them',
  release: 'Release',
  clear: 'Remove all',
  message: (text: string, images: number): string =>
    images === 0 ? `Queued: ${text}` : `Queued with ${counted(images, 'image', 'images')}: ${text}`,
  images: (n: number): string => counted(n, 'image', 'images'),
  keys: 'Alt+↑ and Alt+↓ move · Enter edits · Delete removes',
  edit: 'Edit',
  field: 'Queued message',
  save: 'Save',
  cancel: 'Cancel',
  up: 'Move up',
  down: 'Move down',
  sendNow: 'Send now',
  remove: 'Remove',
} as const
