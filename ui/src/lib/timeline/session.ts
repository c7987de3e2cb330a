/** The part of the fold that is not about items: the turn with its clocks, what waits, what runs beside it. */
import type { ApprovalOutcome, Event, EventMsg, Rule, Turn, TurnStatus } from '$lib/protocol'
import { noUsage } from '$lib/turn/usage'
import type { Covered, TimelineState } from './reduce'

export function foldSession(state: TimelineState, event: Event): void {
  const message = event.msg
  switch (message.type) {
    case 'session_created':
    case 'session_changed':
      state.config = message.config
      break
    case 'turn_started':
      state.turn = newTurn(message.turn, message.iteration_limit, event.at)
      state.covered = undefined
      break
    case 'turn_changed':
      if (state.turn?.turn === message.turn) state.turn = withStatus(state.turn, message.status, event.at)
      break
    case 'limit_changed':
      if (state.turn?.turn === message.turn && message.limit === 'iterations') {
        state.turn = { ...state.turn, iteration_limit: message.allowed }
      }
      break
    case 'iteration_started':
      if (state.turn?.turn === message.turn) {
        state.turn = { ...state.turn, iteration: message.iteration, iteration_limit: message.limit }
      }
      break
    case 'approval_requested':
      state.approvals = [...state.approvals, message.approval]
      break
    case 'approval_resolved':
      state.approvals = state.approvals.filter((approval) => approval.id !== message.approval)
      state.covered = coveredBy(message.outcome, state.covered)
      break
    case 'queue_changed':
      state.queue = message.queue
      break
    case 'folder_awaited':
      state.waitsForFolder = message.waiting
      break
    case 'plan_changed':
      state.plan = message.tasks
      break
    case 'process_started':
      state.processes = [...state.processes, message.process]
      break
    case 'process_ended':
      state.processes = state.processes.filter((process) => process.id !== message.process)
      break
    default:
      foldRules(state, message)
      foldWorkflow(state, message)
  }
}

function foldRules(state: TimelineState, message: EventMsg): void {
  switch (message.type) {
    case 'rule_added':
      state.rules = [...state.rules.filter(({ id }) => id !== message.rule.id), message.rule]
      break
    case 'rule_removed':
      state.rules = state.rules.filter(({ id }) => id !== message.rule)
      break
    case 'rules_loaded':
      state.rules = [...state.rules.filter(isOfSession), ...message.rules]
      break
  }
  const { covered } = state
  if (covered !== undefined && !state.rules.some(({ id }) => id === covered.rule)) state.covered = undefined
}

/** Whether a rule ends with the session at the latest, and is kept in it. */
export const isOfSession = (rule: Rule): boolean =>
  rule.scope.scope === 'turn' || rule.scope.scope === 'session'

/** A call that waited goes on because of a rule: it counts for that rule. */
function coveredBy(outcome: ApprovalOutcome, before: Covered | undefined): Covered | undefined {
  if (outcome.outcome !== 'decided' || outcome.decision.answer !== 'approve') return before
  if (outcome.by.by !== 'rule') return before
  const { rule } = outcome.by
  return { rule, calls: before?.rule === rule ? before.calls + 1 : 1 }
}

function foldWorkflow(state: TimelineState, message: EventMsg): void {
  const run = state.workflow
  switch (message.type) {
    case 'workflow_started':
      state.workflow = { plan: message.plan, begun: 0, answers: {} }
      break
    case 'workflow_stepped':
      if (run !== undefined) state.workflow = { ...run, begun: message.step }
      break
    case 'workflow_answered':
      if (run !== undefined) {
        state.workflow = { ...run, answers: { ...run.answers, [message.name]: message.answer } }
      }
      break
    case 'workflow_ended':
      state.workflow = undefined
      break
  }
}

function newTurn(turn: number, limit: number, at: number): Turn {
  return {
    turn,
    status: { state: 'starting' },
    iteration: 0,
    iteration_limit: limit,
    started: at,
    active: 0,
    waiting: 0,
    status_since: at,
    usage: noUsage,
  }
}

function withStatus(turn: Turn, status: TurnStatus, at: number): Turn {
  const elapsed = Math.max(0, at - turn.status_since)
  const clock = clockOf(turn.status)
  return {
    ...turn,
    status,
    status_since: at,
    active: turn.active + (clock === 'active' ? elapsed : 0),
    waiting: turn.waiting + (clock === 'waiting' ? elapsed : 0),
  }
}

/** Which clock runs in a status: waiting for the person is not working time. */
export function clockOf(status: TurnStatus): 'active' | 'waiting' | 'none' {
  switch (status.state) {
    case 'waiting_for_approval':
    case 'waiting_for_answer':
    case 'paused':
      return 'waiting'
    case 'completed':
    case 'stopped':
    case 'failed':
    case 'interrupted':
      return 'none'
    default:
      return 'active'
  }
}
