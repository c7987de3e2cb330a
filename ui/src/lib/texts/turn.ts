/**
 * The words for the state of a turn. Strip, session list, notification and screen reader all take them from here,
 * so that one state never has two names.
 */
import type { LimitReached, PauseCause, TurnStatus } from '$lib/protocol'
import { clock, count, counted } from './words'

/** The shape in front of a state, besides its colour. */
export type StateMark =
  | 'ready'
  | 'working'
  | 'tool'
  | 'waiting'
  | 'clock'
  | 'paused'
  | 'done'
  | 'stopped'
  | 'failed'
  | 'interrupted'

/** The colour family of a state. */
export type StateTone = 'faint' | 'info' | 'warning' | 'success' | 'danger'

/** What the words of a state may name. */
export interface StateFacts {
  iteration: number
  /** Approvals that wait. */
  waiting: number
  /** Tool and target of the call that runs. */
  running?: { tool: string; target: string } | undefined
  /** Seconds until the next try. */
  seconds?: number | undefined
  /** Why the turn failed, one plain sentence. */
  reason?: string | undefined
  /** Working time and tokens of a finished turn, already in words. */
  worked?: string | undefined
  used?: string | undefined
}

/** A state as it is shown. */
export interface StateWords {
  text: string
  mark: StateMark
  tone: StateTone
  /** Whether the mark may move: at most one does, and only while something works. */
  moving: boolean
}

const words = (mark: StateMark, tone: StateTone, text: string, moving = false): StateWords => ({
  text,
  mark,
  tone,
  moving,
})

/** The state in full, as the strip says it. */
export function stateWords(status: TurnStatus | undefined, facts: StateFacts): StateWords {
  if (status === undefined) return words('ready', 'faint', 'Ready')
  switch (status.state) {
    case 'starting':
      return words('working', 'info', 'Starting…', true)
    case 'thinking':
      return words('working', 'info', `Thinking · iteration ${count(facts.iteration)}`, true)
    case 'using_tools':
      return words('tool', 'info', usingTool(facts.running), true)
    case 'waiting_for_approval':
      return words('waiting', 'warning', `Waiting for you: ${count(Math.max(1, facts.waiting))} to decide`)
    case 'waiting_for_answer':
      return words('waiting', 'warning', 'Waiting for you: 1 question')
    case 'waiting_to_retry':
      return words('clock', 'warning', retrying(status.attempt, status.of, facts.seconds))
    case 'making_room':
      return words('working', 'info', 'Shortening the context…', true)
    case 'pausing':
      return words('working', 'info', 'Pausing after this iteration…', true)
    case 'paused':
      return paused(status.cause, facts.iteration)
    case 'finishing_up':
      return words('working', 'info', 'Finishing up (no more tools)', true)
    case 'completed':
      return words('done', 'success', done(facts))
    case 'stopped':
      return words('stopped', 'faint', `Stopped by you at iteration ${count(facts.iteration)}`)
    case 'failed':
      return words('failed', 'danger', facts.reason === undefined ? 'Failed' : `Failed: ${facts.reason}`)
    case 'interrupted':
      return words(
        'interrupted',
        'warning',
        `Interrupted when Paddock closed, iteration ${count(facts.iteration)}`,
      )
  }
}

/** The state in one or two words, for a line of the session list. */
export function shortStateWords(status: TurnStatus | undefined): StateWords {
  const full = stateWords(status, { iteration: 0, waiting: 1 })
  return { ...full, text: shortText(status) }
}

function shortText(status: TurnStatus | undefined): string {
  switch (status?.state) {
    case undefined:
      return 'new'
    case 'waiting_for_approval':
    case 'waiting_for_answer':
      return 'waiting for you'
    case 'waiting_to_retry':
      return 'trying again'
    case 'paused':
      return 'paused'
    case 'completed':
      return 'done'
    case 'stopped':
      return 'stopped'
    case 'failed':
      return 'failed'
    case 'interrupted':
      return 'interrupted'
    case 'finishing_up':
      return 'finishing up'
    case 'pausing':
      return 'pausing'
    default:
      return 'working'
  }
}

function usingTool(running: StateFacts['running']): string {
  if (running === undefined) return 'Using tools'
  return running.target === '' ? `Using ${running.tool}` : `Using ${running.tool}: ${running.target}`
}

function retrying(attempt: number, of: number, seconds: number | undefined): string {
  const tries = `(${count(attempt)} of ${count(of)})`
  if (seconds === undefined) return `Trying again ${tries}`
  return `Trying again in ${seconds < 60 ? `${count(seconds)} s` : clock(seconds * 1_000)} ${tries}`
}

function done(facts: StateFacts): string {
  return ['Done', counted(facts.iteration, 'iteration', 'iterations'), facts.worked, facts.used]
    .filter((part) => part !== undefined)
    .join(' · ')
}

function paused(cause: PauseCause, iteration: number): StateWords {
  switch (cause.cause) {
    case 'person':
      return words('paused', 'faint', `Paused after iteration ${count(iteration)}`)
    case 'limits':
      return words('paused', 'warning', `Paused: ${limitName(cause.reached)}`)
    case 'expensive':
      return words('paused', 'warning', 'Paused: the next request is expensive')
    case 'guard':
      return words('paused', 'warning', 'Paused: it may be going in circles')
    case 'breaker':
      return words('paused', 'warning', `Paused: ${cause.tool} failed several times`)
    case 'model':
      return words('paused', 'warning', 'Paused: the model did not answer')
    case 'check':
      return words('paused', 'warning', 'Paused: the check says that it is not done')
  }
}

function limitName(reached: readonly LimitReached[]): string {
  switch (reached[0]?.limit) {
    case 'active_time':
      return 'time limit'
    case 'session_tokens':
      return 'token limit'
    case 'turn_money':
    case 'session_money':
    case 'day_money':
      return 'budget'
    default:
      return 'iteration limit'
  }
}
