/** Roles of one's own: built-in roles narrowed to some tools, with words, a model and limits of their own. */
import type { OwnRole, RoleInfo } from '$lib/protocol'
import { roleWords } from './modes'
import { count, counted } from './words'

export const roles = {
  unread: 'Own roles could not be read.',
  raiseTitle: (name: string): string => `Switch to ${name}`,
  confirm: (name: string): string => `Switch to ${name}`,
  reviewTitle: (name: string): string => `Review the role “${name}”`,
  /** Said beside the base when it is named in the header. */
  based: (name: string, base: string): string => `${name}, based on ${base}`,
  facts: {
    base: 'Based on',
    tools: 'Tools',
    allTools: (base: string): string => `all of ${base}`,
    prompt: 'Told to the agent',
    noPrompt: 'nothing more',
    model: 'Model',
    sameModel: 'as the session',
    limits: 'Limits',
    sameLimits: 'as the session',
    ownLimits: (iterations: number): string => `its own, ${count(iterations)} iterations per turn`,
  },
} as const

const origin = ({ source }: RoleInfo): string => (source.from === 'project' ? 'from the project' : 'yours')

const based = (role: OwnRole): string =>
  [
    `Based on ${roleWords[role.base].name}`,
    role.tools === undefined ? '' : counted(role.tools.length, 'tool', 'tools'),
    role.model?.model ?? '',
  ]
    .filter((part) => part !== '')
    .join(' · ')

/** The second line of a role in the menu: what it is, or why it cannot be chosen yet. */
export function roleDetail(info: RoleInfo): string {
  const [problem] = info.problems
  if (problem !== undefined) return problem
  const { source, role } = info
  if (source.from === 'project' && !source.reviewed)
    return source.changed
      ? 'Changed since you reviewed it. Read it first.'
      : 'From the project. Read it first.'
  return role === undefined ? origin(info) : `${based(role)} · ${origin(info)}`
}
