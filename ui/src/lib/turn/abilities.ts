/** What can be done in which state of a turn. Strip, composer and paused cards all ask here. */
import type { Op, SendMode, Turn, TurnStatus } from '$lib/protocol'
import type { MessageExtras } from '$lib/composer/composer.svelte'
import type { CommandName } from '$lib/texts/composer'

export interface Abilities {
  /** The agent works: a message steers it. */
  working: boolean
  stop: boolean
  pause: boolean
  cancelPause: boolean
  continue: boolean
  finish: boolean
  retry: boolean
}

const nothing: Abilities = {
  working: false,
  stop: false,
  pause: false,
  cancelPause: false,
  continue: false,
  finish: false,
  retry: false,
}

export function abilities(status: TurnStatus | undefined): Abilities {
  switch (status?.state) {
    case 'starting':
    case 'thinking':
    case 'using_tools':
    case 'making_room':
    case 'waiting_for_approval':
    case 'waiting_for_answer':
      return { ...nothing, working: true, stop: true, pause: true, finish: true }
    case 'waiting_to_retry':
      return { ...nothing, working: true, stop: true, pause: true, finish: true, retry: true }
    case 'pausing':
      return { ...nothing, working: true, stop: true, cancelPause: true }
    case 'finishing_up':
      return { ...nothing, working: true, stop: true }
    case 'paused':
      return { ...nothing, stop: true, continue: true, finish: true }
    case 'interrupted':
      return { ...nothing, stop: true, continue: true }
    default:
      return nothing
  }
}

/** Whether working time passes in this state; waiting for the person does not count. */
export function clockRuns(status: TurnStatus | undefined): boolean {
  return abilities(status).working && !waitsForDecision(status)
}

const waitsForDecision = (status: TurnStatus | undefined): boolean =>
  status?.state === 'waiting_for_approval' || status?.state === 'waiting_for_answer'

/** Working time of a turn at a moment, in milliseconds. */
export function activeTime(turn: Turn, now: number): number {
  return turn.active + (clockRuns(turn.status) ? Math.max(0, now - turn.status_since) : 0)
}

/** Whether a command of the composer makes sense now. */
export function canCommand(name: CommandName, status: TurnStatus | undefined): boolean {
  return abilities(status)[name]
}

/** The op of a command. */
export function commandOp(name: CommandName): Op {
  switch (name) {
    case 'stop':
      return { op: 'stop' }
    case 'pause':
      return { op: 'pause' }
    case 'continue':
      return { op: 'continue', allow_cause: false }
    case 'finish':
      return { op: 'finish_up' }
  }
}

/** What a message does while a turn is paused: it continues the turn, or waits until the limit is extended. */
export function messageWhilePaused(status: TurnStatus | undefined): 'continues' | 'waits' | undefined {
  if (status?.state !== 'paused') return undefined
  return status.cause.cause === 'limits' || status.cause.cause === 'expensive' ? 'waits' : 'continues'
}

/**
 * The op that delivers a message, with all that goes along. A paused turn goes on with it; at a limit it is kept for the
 * moment the limit is extended, because to go on would pause again at once.
 */
export function messageOp(
  status: TurnStatus | undefined,
  text: string,
  mode: SendMode,
  extras: MessageExtras = {},
): Op {
  const fits = abilities(status).working || mode === 'when_free'
  return { op: 'send', text, mode: fits ? mode : 'next_iteration', ...extras }
}
