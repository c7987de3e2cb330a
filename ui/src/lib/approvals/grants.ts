/**
 * What an approval lets reach out: places outside of the project and hosts, and how far the person lets it. What is
 * offered follows from the request alone.
 */
import type { Access, ApprovalRequest, Decision, RuleShape } from '$lib/protocol'
import { lastingScopes, type LastingScope } from './openings'
import { folderOf, sameShape } from '$lib/rules/targets'

export type OutsideAccess = Extract<Access, { access: 'outside' }>

const isOutside = (access: Access): access is OutsideAccess => access.access === 'outside'

/** What the grant is about: the refused things of a run, else what the call declared. */
export const reachOf = (request: ApprovalRequest): readonly Access[] =>
  request.again?.refused ?? request.access

export const outsideOf = (request: ApprovalRequest): OutsideAccess[] => reachOf(request).filter(isOutside)

/** The rule for exactly what one reach asks for; nothing when it asks for several things. */
function exactShape(request: ApprovalRequest): RuleShape | undefined {
  if (request.body.body === 'connect') return { shape: 'host', host: request.body.host }
  const [only, ...more] = reachOf(request).filter(({ access }) => access !== 'exec' && access !== 'read')
  if (only?.access !== 'outside' || more.length > 0) return undefined
  return { shape: 'outside', path: only.path, write: only.write }
}

/** How far a reach may be allowed. */
export interface GrantOffer {
  scopes: readonly LastingScope[]
  exact: RuleShape
  /** The folder of an outside file, for scopes beyond once. */
  folder: RuleShape | undefined
}

/** The choice on a card for one host or one place outside; other approvals have none. */
export function grantOffer(request: ApprovalRequest): GrantOffer | undefined {
  const exact = exactShape(request)
  const scopes = lastingScopes(request)
  if (exact === undefined || scopes.length < 2) return undefined
  const above = exact.shape === 'outside' && !exact.path.endsWith('/') ? folderOf(exact.path) : undefined
  const folder = exact.shape === 'outside' && above !== undefined ? { ...exact, path: above } : undefined
  return { scopes, exact, folder }
}

/** What the person has chosen of it. */
export interface Grant {
  scope: LastingScope
  wholeFolder: boolean
}

/** The approval for a grant; the rule is named only where it differs from what the request proposes. */
export function grantDecision(request: ApprovalRequest, grant: Grant): Decision {
  const offer = grantOffer(request)
  const shape = grant.wholeFolder ? offer?.folder : offer?.exact
  const named = grant.scope !== 'once' && shape !== undefined && !sameShape(shape, request.rule)
  return {
    answer: 'approve',
    scope: grant.scope,
    ...(named ? { rule: { shape, end: { end: 'never' } } } : {}),
  }
}
