/** The cards above the composer while a turn is paused: a limit is a question, not a wall. */
import type { GuardPattern, LimitKind, LimitReached } from '$lib/protocol'
import { money } from '$lib/format/money'
import { count, counted, duration, tokens } from './words'

/** What was reached, in the unit of its kind. */
export function reachedSentence(reached: LimitReached): string {
  switch (reached.limit) {
    case 'iterations':
      return `Paused after ${counted(reached.used, 'iteration', 'iterations')}.`
    case 'active_time':
      return `Paused after ${duration(reached.used)} of work.`
    case 'session_tokens':
      return `Paused after ${tokens(reached.used)} tokens in this session.`
    case 'turn_money':
      return `Paused: this turn has used ${money(reached.used)} of ${money(reached.allowed)}.`
    case 'session_money':
      return `Paused: this session has used ${money(reached.used)} of ${money(reached.allowed)}.`
    case 'day_money':
      return `Paused: ${money(reached.used)} of ${money(reached.allowed)} are used today, in all sessions.`
  }
}

/** What a button adds to a limit. */
export function extension(limit: LimitKind, by: number): string {
  switch (limit) {
    case 'iterations':
      return `Add ${counted(by, 'iteration', 'iterations')}`
    case 'active_time':
      return `Add ${duration(by)}`
    case 'session_tokens':
      return `Add ${tokens(by)} tokens`
    case 'turn_money':
    case 'session_money':
    case 'day_money':
      return `Add ${money(by)}`
  }
}

/** The same where the unit was just named. */
export function shortExtension(limit: LimitKind, by: number): string {
  return limit === 'iterations' ? `Add ${count(by)}` : extension(limit, by)
}

const DOLLAR = 1_000_000
const TEN_MINUTES = 600_000
const THIRTY_MINUTES = 1_800_000

/** The two offers of each limit, in its unit; the first is the main one. */
export const offers: Record<LimitKind, readonly [number, number]> = {
  iterations: [10, 25],
  active_time: [TEN_MINUTES, THIRTY_MINUTES],
  session_tokens: [250_000, 1_000_000],
  turn_money: [DOLLAR, 5 * DOLLAR],
  session_money: [DOLLAR, 5 * DOLLAR],
  day_money: [2 * DOLLAR, 10 * DOLLAR],
}

export const guardSentence: Record<GuardPattern, string> = {
  same_call: 'The same call gave the same result again and again.',
  rotation: 'The same few calls came round again and again.',
  back_and_forth: 'The same lines were changed back and forth.',
  no_progress: 'Many iterations changed no file and found nothing new.',
}

export const paused = {
  region: 'Paused',
  limit: {
    doneSoFar: (calls: number, files: number): string =>
      `Done so far: ${counted(calls, 'call', 'calls')}, ${counted(files, 'file changed', 'files changed')}.`,
    money: 'No request was sent that would have passed it. Amounts are estimates.',
    nothingLost: 'Nothing is lost. You can decide later, also after closing Paddock.',
    own: 'Own number…',
    ownField: {
      iterations: 'Iterations to add',
      active_time: 'Minutes to add',
      session_tokens: 'Thousand tokens to add',
      turn_money: 'Dollars to add',
      session_money: 'Dollars to add',
      day_money: 'Dollars to add',
    } satisfies Record<LimitKind, string>,
    add: 'Add',
  },
  guard: {
    title: 'It may be going in circles',
    times: (n: number): string => `${count(n)} times`,
    iterations: (numbers: readonly number[]): string =>
      `${numbers.length === 1 ? 'iteration' : 'iterations'} ${numbers.join(', ')}`,
    hint: 'Your hint to the agent',
    hintPlaceholder: 'For example: the clock is faked in setup.ts, look there.',
    withHint: 'Continue with hint',
    fine: 'Continue, it is fine in this turn',
    fineWhy: 'Paddock stops watching for this pattern until the turn ends.',
  },
  breaker: {
    title: (tool: string, times: number): string =>
      times === 0 ? `${tool} failed several times in a row` : `${tool} failed ${count(times)} times in a row`,
    attempt: (n: number): string => `Try ${count(n)}`,
    iteration: (n: number): string => `iteration ${count(n)}`,
    noReason: 'No reason was given.',
    retry: 'Retry',
    more: 'Allow this tool more tries',
    moreWhy: 'Failures of this tool do not pause the turn again.',
    tell: 'Tell the agent…',
    tellField: 'Your words to the agent',
    tellPlaceholder: 'For example: use another tool for this.',
    tellSend: 'Tell and continue',
  },
  model: {
    retry: 'Try again',
    other: 'Other model',
    goOnWith: (model: string): string => `Go on with ${model}`,
    details: 'Details',
    changeKey: 'Change key',
  },
  person: {
    title: (iteration: number): string => `Paused after iteration ${count(iteration)}.`,
    body: 'Nothing is sent while the turn is paused.',
  },
  interrupted: {
    title: (iteration: number): string => `Paddock was closed during iteration ${count(iteration)}.`,
    unknown: 'The outcome of these calls is unknown:',
    none: 'No call was running. Everything up to here is recorded.',
    told: 'When you continue, the agent is told that the outcome is unknown. Nothing runs a second time by itself.',
  },
  check: {
    title: (times: number): string =>
      times === 1 ? 'The check says that the work is not done.' : `The check failed ${count(times)} times.`,
    attempt: (n: number): string => `Check ${count(n)}`,
    exit: (code: number): string => `exit ${code}`,
    noReason: 'It printed nothing.',
    hint: 'Your hint to the agent',
    hintPlaceholder: 'For example: the database has to be started first.',
    withHint: 'Continue with hint',
    fine: 'Fine without the check in this turn',
    fineWhy: 'The turn may end although the check fails. It is asked again in the next turn.',
  },
  retry: {
    in: (time: string, attempt: number, of: number): string =>
      `Trying again in ${time} (${count(attempt)} of ${count(of)})`,
    now: 'Retry now',
    pause: 'Do not wait: pause',
    nothingRuns: 'Nothing runs until then, and nothing is spent.',
  },
  continue: 'Continue',
  withNote: 'Continue with a note…',
  note: 'Your note to the agent',
  notePlaceholder: 'What should the agent know before it goes on?',
  sendNote: 'Continue with this note',
  finish: 'Finish up',
  stop: 'Stop',
  back: 'Back',
} as const
