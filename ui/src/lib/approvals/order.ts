/** The order of the dock: oldest first, but what is dangerous comes before the rest of its iteration. */
import { lastingScopes } from './openings'
import type { ApprovalRequest, RiskClass } from '$lib/protocol'

const FIRST: readonly RiskClass[] = ['protected', 'delete', 'outside']

const rank = (request: ApprovalRequest): number => {
  const place = FIRST.findIndex((risk) => request.classes.includes(risk))
  return place === -1 ? FIRST.length : place
}

/** Approvals in the order in which they are offered. */
export function inOrder(approvals: readonly ApprovalRequest[]): ApprovalRequest[] {
  return [...approvals].sort(
    (one, other) =>
      one.turn - other.turn ||
      one.iteration - other.iteration ||
      rank(one) - rank(other) ||
      one.requested - other.requested,
  )
}

/** The class that decides order, buttons and what can be remembered. */
export const strictest = (request: ApprovalRequest): RiskClass => request.classes.at(-1) ?? 'read'

/** Whether the main button is red: deletion, or an effect outside that nothing can take back. */
export function isDangerous(request: ApprovalRequest): boolean {
  if (request.classes.includes('delete')) return true
  const reachesOut = request.classes.some((risk) => risk === 'outside' || risk === 'external')
  return reachesOut && request.undo.undo === 'not_covered'
}

/** Whether its arguments can be changed first: not once the command has begun. */
export const canEdit = (request: ApprovalRequest): boolean =>
  request.ask === undefined && request.again === undefined && request.body.body !== 'connect'

/** Whether a rule may be made from it: never for protected places and sub-agents, else for what may hold longer. */
export function canRemember(request: ApprovalRequest): boolean {
  if (request.origin !== undefined || request.classes.includes('protected')) return false
  const wider = lastingScopes(request).some((scope) => scope !== 'once')
  return wider || (request.body.body === 'command' && !request.classes.includes('delete'))
}
