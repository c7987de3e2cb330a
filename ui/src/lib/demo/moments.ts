/** Which moment of the demo is on screen, read from the session alone: the script and the hints share nothing else. */
import type { ApprovalRequest, Item, TurnStatus } from '$lib/protocol'
import type { DemoMoment } from '$lib/texts/demo'

export const demoMoments: readonly DemoMoment[] = ['reads', 'edit', 'command', 'network', 'circles', 'limit']

export interface DemoScene {
  status: TurnStatus | undefined
  approvals: readonly ApprovalRequest[]
  items: readonly Item[]
}

/** The hint that fits what is on screen; a waiting decision is closer to the person than what ran before. */
export function momentOf({ status, approvals, items }: DemoScene): DemoMoment | undefined {
  const request = approvals[0]
  if (request !== undefined) {
    if (request.classes.includes('network')) return 'network'
    if (request.body.body === 'change') return 'edit'
    return request.body.body === 'command' ? 'command' : undefined
  }
  if (status?.state === 'paused') {
    switch (status.cause.cause) {
      case 'limits':
        return 'limit'
      case 'guard':
      case 'breaker':
        return 'circles'
      default:
        return undefined
    }
  }
  const calls = items.flatMap((item) => (item.kind.type === 'call' ? [item.kind] : []))
  if (calls.length === 0) return undefined
  return calls.every((call) => call.classes.every((risk) => risk === 'read')) ? 'reads' : undefined
}
