/** Workflows: their list, the form, the preview of what would be done, and the review of a file of the project. */
import type { WorkflowEffectKind, WorkflowStepKind } from '$lib/protocol'
import { count, counted, listed } from './words'

/** Where a workflow comes from, as the list groups them. */
export type WorkflowOrigin = 'project' | 'person' | 'built_in'

export const workflows = {
  title: 'Workflows',
  intro: 'Procedures you start yourself. The agent cannot start one.',
  close: 'Close workflows',
  all: 'All workflows',
  list: 'Workflows',
  loading: 'Reading workflows…',
  find: 'Find a workflow',
  nothing: (query: string): string => `Nothing found for “${query}”.`,
  groups: { project: 'Project', person: 'Yours', built_in: 'Paddock' } satisfies Record<
    WorkflowOrigin,
    string
  >,
  none: 'No workflows here.',
  choose: 'Choose a workflow on the left. You see what it would do before it does anything.',
  unknown: (name: string): string => `There is no workflow named “${name}” in this project.`,
  marks: {
    review: 'review',
    changed: 'changed',
    broken: 'cannot run',
    destructive: 'deletes or moves files',
  },
  brokenTitle: 'This workflow cannot run.',
  again: 'Try again',
} as const

export const workflowForm = {
  star: 'Fields with * are needed.',
  steps: (commands: number, model: number): string => {
    const parts = [
      commands === 0 ? '' : `${counted(commands, 'step', 'steps')} without the agent`,
      model === 0 ? '' : `${counted(model, 'step', 'steps')} with it`,
    ].filter((part) => part !== '')
    return parts.length === 0 ? 'Runs no steps.' : `Runs ${listed(parts)}.`
  },
  nothingToFill: 'Nothing to fill in.',
  faults: (n: number): string => `${counted(n, 'field needs', 'fields need')} another look`,
  reset: 'Reset',
  preview: 'Preview what it would do',
  previewing: 'Looking…',
  kept: 'Filled in as you left it last time.',
  nothingToChoose: 'There is nothing to choose from in this project.',
  noChoice: 'Choose…',
  notChosen: 'None',
  emptyMeans: (values: readonly string[]): string => `Empty means ${listed(values)}`,
  pathHelp: (folder: boolean): string =>
    folder ? 'A folder inside the project' : 'A file inside the project',
  dateHelp: 'Year-month-day, for example 2026-03-14',
  secretHelp: 'The name of a key in the keyring. Its value is never shown and never leaves it.',
  otherModel: 'provider/model',
  range: (min: number | undefined, max: number | undefined): string | undefined => {
    if (min !== undefined && max !== undefined) return `${count(min)} to ${count(max)}`
    if (min !== undefined) return `at least ${count(min)}`
    return max === undefined ? undefined : `at most ${count(max)}`
  },
  fault: {
    missing: 'Fill this in.',
    missingChoice: 'Choose one.',
    missingChoices: 'Choose at least one.',
    number: 'Use a number, for example 7.',
    range: (range: string): string => `Use a number: ${range}.`,
    date: 'Use a date that exists, as year-month-day.',
    path: 'Use a path inside the project, without a leading slash or “..”.',
    model: 'Choose a model of a server that is set up.',
  },
} as const

const effectTitle: Record<WorkflowEffectKind, (n: number) => string> = {
  delete: (n) => `Delete ${counted(n, 'file', 'files')}`,
  move: (n) => `Move ${counted(n, 'file', 'files')}`,
  restore: (n) => `Restore ${counted(n, 'file', 'files')}`,
  write: (n) => `Write ${counted(n, 'file', 'files')}`,
  run: (n) => `Run ${counted(n, 'command', 'commands')}`,
  message: (n) => `Send ${counted(n, 'message', 'messages')} to the agent`,
  ask: (n) => `Ask you ${counted(n, 'question', 'questions')}`,
}

export const workflowPreview = {
  title: (name: string): string => `What “${name}” would do`,
  nothingYet: 'Nothing has been done yet.',
  empty: 'It would change nothing: there is nothing that fits.',
  group: (kind: WorkflowEffectKind, n: number): string => effectTitle[kind](n),
  showAll: (n: number): string => `Show all ${count(n)}`,
  notListed: (shown: number): string =>
    `Only the first ${count(shown)} lines are listed here. The numbers count all of it.`,
  forGood: 'cannot be undone',
  forGoodTitle: (n: number): string =>
    n === 1 ? '1 of these cannot be taken back.' : `${count(n)} of these cannot be taken back.`,
  forGoodBody: 'Undo brings back everything else. What it cannot bring back is marked below.',
  allBack: 'Undo can bring all of it back.',
  facts: {
    files: 'Files',
    model: 'Steps with the agent',
    hosts: 'Reaches',
    noHosts: 'no other computer, as far as its commands can be read',
    noModel: 'none, no tokens are used',
    tokens: (n: number): string => `${counted(n, 'step', 'steps')}, uses tokens`,
  },
  runIn: 'Run in',
  /** A title that fits on a switch. */
  here: (title: string): string => `Open session “${title.length > 26 ? `${title.slice(0, 25)}…` : title}”`,
  fresh: 'A new session',
  busy: 'The open session is working, so a new one is used.',
  back: 'Back to the form',
  running: 'Starting…',
  stale: 'Preview again',
  started: (title: string): string => `“${title}” started.`,
} as const

const stepName: Record<WorkflowStepKind, string> = {
  message: 'Message to the agent',
  command: 'Command',
  tool: 'Tool',
  confirm: 'Confirm',
  ask: 'Ask you',
}

export const stepWords = (kind: WorkflowStepKind): string => stepName[kind]
