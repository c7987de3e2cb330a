/** Ways to run a command once with more than it would get. They make no rule, and ask a second time. */
import type { AnswerScope, ApprovalRequest } from '$lib/protocol'

const openings = ['once_open_network', 'once_unconfined'] as const
export type Opening = (typeof openings)[number]
export type LastingScope = Exclude<AnswerScope, Opening>

export const isOpening = (scope: AnswerScope): scope is Opening => openings.some((one) => one === scope)

export const openingsOf = ({ scopes }: ApprovalRequest): Opening[] => scopes.filter(isOpening)

/** The other scopes: for how long the same holds. */
export const lastingScopes = ({ scopes }: ApprovalRequest): LastingScope[] =>
  scopes.filter((scope): scope is LastingScope => !isOpening(scope))
