/** Keys of the timeline: single letters work only while an entry itself has the focus, never inside of a field. */
import type { CallId, ItemId, TurnId } from '$lib/protocol'
import type { ItemCell } from './timeline.svelte'
import type { TimelineView } from './view.svelte'

export type TimelineAction =
  | { do: 'go'; index: number }
  | { do: 'open'; id: ItemId; open: boolean }
  | { do: 'turn'; turn: TurnId }
  | { do: 'copy'; cell: ItemCell }
  | { do: 'undo'; call: CallId }

type Wanted = (cell: ItemCell) => boolean

const isMessage: Wanted = (cell) => cell.item.kind.type === 'user_message'
const isTrouble: Wanted = (cell) =>
  cell.item.status === 'failed' ||
  cell.item.status === 'rejected' ||
  ['limit', 'guard', 'breaker', 'error'].includes(cell.item.kind.type)
const isChange: Wanted = (cell) => (cell.call?.output?.changes?.length ?? 0) > 0

export function timelineKey(event: KeyboardEvent, view: TimelineView): TimelineAction | undefined {
  const mod = event.ctrlKey || event.metaKey
  const onRow = event.target instanceof HTMLElement && event.target.dataset['row'] !== undefined
  const at = view.reachable === undefined ? -1 : view.indexOf(view.reachable)
  if (mod && !event.altKey && !event.shiftKey) {
    if (event.key === 'Home') return go(nextRow(view, -1, 1))
    if (event.key === 'End') return go(nextRow(view, view.rows.length, -1))
  }
  if (
    mod ||
    event.altKey ||
    (event.target instanceof HTMLElement && event.target.closest('input, textarea, pre, [role="group"]'))
  ) {
    return undefined
  }
  if (event.key === 'PageDown') return go(nextRow(view, at, 1))
  if (event.key === 'PageUp') return go(nextRow(view, at, -1))
  return onRow ? rowKey(event, view, at) : undefined
}

function rowKey(event: KeyboardEvent, view: TimelineView, at: number): TimelineAction | undefined {
  const row = view.rows[at]
  const cell = row === undefined ? undefined : view.cell(row.id)
  if (row === undefined || cell === undefined) return undefined
  switch (event.key) {
    case 'j':
      return go(nextRow(view, at, 1))
    case 'k':
      return go(nextRow(view, at, -1))
    case '[':
      return go(nextRow(view, at, -1, isMessage))
    case ']':
      return go(nextRow(view, at, 1, isMessage))
    case 'f':
      return go(nextRow(view, at, 1, isTrouble))
    case 'F':
      return go(nextRow(view, at, -1, isTrouble))
    case 'e':
      return go(nextRow(view, at, 1, isChange))
    case 'E':
      return go(nextRow(view, at, -1, isChange))
    case 'Enter':
    case 'ArrowRight':
    case 'ArrowLeft':
      if (row.type === 'fold') {
        const closes = event.key === 'ArrowLeft' || (event.key === 'Enter' && row.open)
        return row.open === closes ? { do: 'turn', turn: row.turn } : undefined
      }
      return {
        do: 'open',
        id: row.id,
        open: event.key === 'Enter' ? !view.isOpen(row.id) : event.key === 'ArrowRight',
      }
    case 'c':
      return { do: 'copy', cell }
    case 'u':
      return cell.call !== undefined && isChange(cell) && cell.item.status !== 'undone'
        ? { do: 'undo', call: cell.call.call }
        : undefined
    default:
      return undefined
  }
}

function go(index: number | undefined): TimelineAction | undefined {
  return index === undefined ? undefined : { do: 'go', index }
}

/** The next row in a direction that can have the focus and is what is looked for. */
function nextRow(
  view: TimelineView,
  from: number,
  step: 1 | -1,
  wanted: Wanted = () => true,
): number | undefined {
  for (let at = from + step; at >= 0 && at < view.rows.length; at += step) {
    const row = view.rows[at]
    const cell = row === undefined ? undefined : view.cell(row.id)
    if (row !== undefined && row.type !== 'iteration' && cell !== undefined && wanted(cell)) return at
  }
  return undefined
}
