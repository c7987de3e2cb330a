/** The order of the dock: oldest first, but what is dangerous comes before the rest of its iteration. */
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
