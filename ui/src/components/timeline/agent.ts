/** What a sub-agent's row and its full view say about it. */
import type { SubAgent } from '$lib/protocol'
import { subAgents as words } from '$lib/texts/beside'
import { shortStateWords } from '$lib/texts/turn'

export interface AgentFacts {
  /** State, iteration, tokens, what it may do. */
  words: string[]
  /** It waits for the person. */
  waits: boolean
}

export function agentFacts(agent: SubAgent): AgentFacts {
  const state = shortStateWords(agent.status)
  const { input, cached, output, reasoning } = agent.usage
  const used = input + cached + output + reasoning
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
