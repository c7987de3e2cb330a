/** The name of an entry for the screen reader: its row in one sentence. */
import type { ItemCell } from '$lib/timeline/timeline.svelte'
import { rowName, timeline, turnWords } from '$lib/texts/timeline'
import { noteOf } from './notes'

const SHORT = 120

const shortened = (text: string): string => (text.length > SHORT ? `${text.slice(0, SHORT)}…` : text)

export function rowLabel(cell: ItemCell): string {
  const { kind, status, iteration } = cell.item
  switch (kind.type) {
    case 'user_message':
      return `${timeline.you}: ${shortened(kind.text)}`
    case 'agent_text':
      return timeline.agent
    case 'reasoning':
      return cell.item.ended === undefined ? timeline.thinking : timeline.thoughtShort
    case 'turn_summary':
      return turnWords(kind.report)
    case 'call':
      if (kind.verb === 'finish') return timeline.result
      if (kind.verb === 'say') return timeline.agent
      return rowName(kind, status, iteration, kind.output?.duration)
    default:
      return noteOf(kind, () => undefined)?.words.title ?? ''
  }
}
