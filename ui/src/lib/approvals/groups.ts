/** Approvals of one class that can be looked at together. A decision is still sent for each of them alone. */
import type { ApprovalId, ApprovalRequest, RiskClass } from '$lib/protocol'
import { strictest } from './order'

export interface ApprovalGroup {
  risk: RiskClass
  requests: readonly ApprovalRequest[]
}

/** Classes of which every row is ticked by hand. */
const BY_HAND: readonly RiskClass[] = ['delete', 'outside', 'network', 'protected', 'external', 'command']

/** Groups of at least two, in the order of the dock. */
export function groupsOf(ordered: readonly ApprovalRequest[]): ApprovalGroup[] {
  const classes = [...new Set(ordered.map(strictest))]
  return classes
    .map((risk) => ({ risk, requests: ordered.filter((request) => strictest(request) === risk) }))
    .filter((group) => group.requests.length >= 2)
}

/** The rows that are ticked when the group is opened. */
export function tickedAtFirst(group: ApprovalGroup): ApprovalId[] {
  return BY_HAND.includes(group.risk) ? [] : group.requests.map((request) => request.id)
}
