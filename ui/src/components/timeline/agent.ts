/** What a sub-agent's row and its full view say about it. */
import type { SubAgent } from '$lib/protocol'
import { subAgents as words } from '$lib/texts/beside'
import { shortStateWords } from '$lib/texts/turn'
import { tokensOf } from '$lib/turn/usage'

export interface AgentFacts {
  /** State, iteration, tokens, what it may do. */
  words: string[]
  /** It waits for the person. */
  waits: boolean
}

export function agentFacts(agent: SubAgent): AgentFacts {
  const state = shortStateWords(agent.status)
  const used = tokensOf(agent.usage)
  return {
    words: [
      state.text,
      words.iteration(agent.iteration, agent.iteration_limit),
      ...(used === 0 ? [] : [words.tokens(used, agent.token_limit)]),
      ...(agent.writes ? [words.writes] : []),
    ],
    waits: state.mark === 'waiting' || state.mark === 'paused',
  }
}
