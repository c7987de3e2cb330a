/** The name of an entry for the screen reader: its row in one sentence. */
import type { ItemCell } from '$lib/timeline/timeline.svelte'
import type { CallItem, SubAgent } from '$lib/protocol'
import { planOf, progressOf } from '$lib/turn/plan'
import { tasks } from '$lib/texts/beside'
import { rowName, timeline, turnWords, verbs, writerOf } from '$lib/texts/timeline'
import { agentFacts } from './agent'
import { noteOf } from './notes'

const SHORT = 120

const shortened = (text: string): string => (text.length > SHORT ? `${text.slice(0, SHORT)}…` : text)

function planLabel(call: CallItem): string {
  const { done, of, now } = progressOf(planOf(call))
  return [`${verbs.plan} ${tasks.progress(done, of)}`, now === undefined ? undefined : tasks.now(now)]
    .filter((part) => part !== undefined)
    .join(', ')
}

const agentLabel = (agent: SubAgent): string =>
  [`${verbs.delegate} ${agent.name}`, ...agentFacts(agent).words, shortened(agent.task)].join(', ')

export function rowLabel(cell: ItemCell, ofAgent = false): string {
  const { kind, status, iteration } = cell.item
  switch (kind.type) {
    case 'user_message':
      return `${writerOf(ofAgent)}: ${shortened(kind.text)}`
    case 'agent_text':
      return timeline.agent
    case 'reasoning':
      return cell.item.ended === undefined ? timeline.thinking : timeline.thoughtShort
    case 'turn_summary':
      return turnWords(kind.report)
    case 'call':
      if (kind.verb === 'finish') return timeline.result
      if (kind.verb === 'say') return timeline.agent
      if (kind.verb === 'plan') return planLabel(kind)
      if (kind.sub_agent !== undefined) return agentLabel(kind.sub_agent)
      return rowName(kind, status, iteration, kind.output?.duration)
    default:
      return noteOf(cell.item, () => undefined)?.words.title ?? ''
  }
}
