/** What a row offers in its menu and by key. */
import Braces from '@lucide/svelte/icons/braces'
import Copy from '@lucide/svelte/icons/copy'
import Redo2 from '@lucide/svelte/icons/redo-2'
import Square from '@lucide/svelte/icons/square'
import SquareTerminal from '@lucide/svelte/icons/square-terminal'
import Timer from '@lucide/svelte/icons/timer'
import Undo2 from '@lucide/svelte/icons/undo-2'
import { copyText } from '$lib/clipboard'
import { unstyled } from '$lib/format/ansi'
import type { CallItem } from '$lib/protocol'
import type { ItemCell, OpenSession } from '$lib/timeline/timeline.svelte'
import { timeline } from '$lib/texts/timeline'
import type { MenuLine } from '$components/shared/Menu.svelte'

/** Whether the changes of a call can be taken back, or put back. */
export function undoOf(cell: ItemCell, call: CallItem): 'undo' | 'redo' | undefined {
  if (cell.item.status === 'undone') return 'redo'
  const changes = call.output?.changes ?? []
  return changes.some((change) => change.undoable) ? 'undo' : undefined
}

export function callActions(
  session: OpenSession,
  cell: ItemCell,
  call: CallItem,
  onraw: () => void,
): MenuLine[] {
  const entries: MenuLine[] = []
  const undo = undoOf(cell, call)
  const words = timeline.actions
  if (cell.item.status === 'running' && call.verb === 'run') {
    if (call.overdue === true) {
      entries.push({
        label: words.keepWaiting,
        icon: Timer,
        onselect: () => session.send({ op: 'keep_waiting', call: call.call }),
      })
    }
    entries.push({
      label: words.toBackground,
      icon: SquareTerminal,
      onselect: () => session.send({ op: 'to_background', call: call.call }),
    })
  }
  if (cell.item.status === 'running') {
    entries.push({
      label: words.end,
      icon: Square,
      onselect: () => session.send({ op: 'end_call', call: call.call }),
    })
  }
  if (undo === 'undo') {
    entries.push({
      label: words.undo,
      icon: Undo2,
      onselect: () => session.send({ op: 'undo', call: call.call }),
    })
  }
  if (undo === 'redo') {
    entries.push({
      label: words.redo,
      icon: Redo2,
      onselect: () => session.send({ op: 'redo', call: call.call }),
    })
  }
  entries.push({ label: words.copyTarget, icon: Copy, onselect: () => void copyText(call.target) })
  const text = call.output?.text ?? ''
  if (text !== '') {
    entries.push({ label: words.copyOutput, icon: Copy, onselect: () => void copyText(unstyled(text)) })
  }
  entries.push({ label: words.raw, icon: Braces, onselect: onraw })
  return entries
}

/** What the copy key copies of an item. */
export function copyOf(cell: ItemCell): string {
  const kind = cell.item.kind
  switch (kind.type) {
    case 'user_message':
      return kind.text
    case 'agent_text':
    case 'reasoning':
      return cell.text
    case 'call':
      return kind.target
    default:
      return ''
  }
}
