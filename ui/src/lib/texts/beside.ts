/** Words for what goes on beside the turn itself: the task list, background processes, sub-agents, late commands. */
import type { ProcessEnd, TaskState } from '$lib/protocol'
import { clock, count, counted, duration, moment, tokens } from './words'

export const taskStates: Record<TaskState, string> = {
  open: 'to do',
  doing: 'now',
  done: 'done',
  dropped: 'dropped',
}

export const tasks = {
  title: 'Tasks',
  progress: (done: number, of: number): string => `${count(done)} of ${count(of)}`,
  short: (done: number, of: number): string => `${count(done)}/${count(of)}`,
  now: (text: string): string => `now: ${text}`,
  finished: 'all done',
  none: 'no tasks',
  changed: 'changed',
  changedWhy: 'Changed with the last update',
  openPanel: 'Open Tasks panel',
  show: 'Show the last update in the timeline',
  empty: 'No tasks yet. When the agent plans its work, its list is here.',
} as const

export const processes = {
  title: 'Processes',
  empty: 'No background processes. A command that goes on beside the turn is listed here, with its output.',
  since: (started: number, now: number): string =>
    `since ${moment(started, now)} · ${clock(Math.max(0, now - started))}`,
  port: (ports: readonly number[]): string =>
    `${ports.length === 1 ? 'port' : 'ports'} ${ports.map(String).join(', ')}`,
  output: 'Output',
  outputOf: (command: string): string => `Output of ${command}`,
  noOutput: 'It has not printed anything yet.',
  end: 'End',
  ending: 'Ending…',
  endOf: (command: string): string => `End ${command}`,
  show: 'Show in the timeline',
  ended: (command: string): string => `Background process ended: ${command}`,
  ran: (millis: number): string => `ran ${duration(millis)}`,
  how: (end: ProcessEnd): string => endWords(end),
} as const

function endWords(end: ProcessEnd): string {
  switch (end.how) {
    case 'exited':
      return end.code === null ? 'ended by a signal' : `exit ${end.code}`
    case 'ended_by_person':
      return 'ended by you'
    case 'ended_by_agent':
      return 'ended by the agent'
    case 'closed':
      return 'ended with the session'
    case 'lost':
      return 'ended when Paddock closed'
  }
}

export const subAgents = {
  main: 'main',
  path: (name: string): string => `main › ${name}`,
  pathLabel: 'Path to this sub-agent',
  iteration: (n: number, of: number): string => `iteration ${count(n)} of ${count(of)}`,
  tokens: (used: number, of: number | undefined): string =>
    of === undefined ? `${tokens(used)} tokens` : `${tokens(used)} of ${tokens(of)} tokens`,
  readOnly: 'read-only',
  writes: 'may change files',
  task: 'Task',
  taskFromMain: 'Task from main',
  open: 'Open as full view',
  back: 'Back to main',
  stop: 'Stop it',
  feed: (name: string): string => `Sub-agent ${name}`,
  opening: 'Opening…',
  earlier: (rows: number): string => `${counted(rows, 'earlier row', 'earlier rows')} in the full view`,
  nothing: 'Nothing yet.',
} as const

export const overdue = {
  title: (limit: number): string => `The command did not end within ${seconds(limit)}.`,
  still: (ran: number): string => `It is still running: ${clock(ran)} so far.`,
  row: (limit: number): string => `Did not end within ${seconds(limit)}. It is still running.`,
  keep: 'Keep waiting',
  toBackground: 'To background',
  end: 'End it',
  of: (n: number, all: number): string => `${count(n)} of ${count(all)}`,
} as const

/** A time limit in the unit in which it is set. */
const seconds = (millis: number): string =>
  millis % 60_000 === 0 && millis > 120_000
    ? counted(millis / 60_000, 'minute', 'minutes')
    : counted(Math.round(millis / 1_000), 'second', 'seconds')

export const stopMenu = {
  label: 'More ways to stop',
  now: 'Stop now',
  nowWhy: 'Ends the request and the calls that run. Background processes go on, the queue is held.',
  everything: 'Stop everything…',
  everythingWhy: 'Also background processes and queued messages. Shows the list first.',
  title: 'Stop everything',
  lead: 'What is checked ends now. Text and output so far are kept.',
  turn: 'Turn',
  turnOf: (title: string): string => `The turn in “${title}”`,
  processes: 'Background processes',
  queue: 'Queued messages',
  nothing: 'Nothing is running.',
  cancel: 'Cancel',
  confirm: (n: number, all: number): string =>
    n === all ? 'Stop everything' : `Stop ${count(n)} of ${count(all)}`,
} as const

export const folder = {
  busy: 'Another session is changing this folder.',
  wait: 'Wait',
  waitWhy: 'Your message is sent when the other session is done.',
  readOnly: 'Run read-only',
  readOnlyWhy: 'Switches to the role Plan, which changes no files, and sends your message.',
  waiting: 'Waits until no other session changes this folder.',
  stopWaiting: 'Stop waiting',
} as const
