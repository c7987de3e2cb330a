/**
 * From items to the rows of the timeline: what folds under the summary of a finished turn, where an iteration gets
 * its line, which calls ran side by side. Pure; asks for items, answers with ids.
 */
import type { Item, ItemId, Micros, TurnId, Verb } from '$lib/protocol'
import { sideBySide, type Bracket } from './brackets'

export interface ItemRow extends Bracket {
  type: 'item'
  key: string
  id: ItemId
  /** The row begins a turn. */
  begins: boolean
}

export interface FoldRow {
  type: 'fold'
  key: string
  /** The summary item. */
  id: ItemId
  turn: TurnId
  /** Rows that fold away; 0 when there is nothing to open. */
  hidden: number
  open: boolean
}

export interface IterationRow {
  type: 'iteration'
  key: string
  id: ItemId
  iteration: number
  /** What its request was expected to cost, where that was worth saying. */
  expected?: Micros | undefined
}

export type Row = ItemRow | FoldRow | IterationRow

export interface SelectOptions {
  /** Finished turns whose rows are shown. */
  openTurns: ReadonlySet<TurnId>
  /** Shows every row of every turn and every iteration. */
  full?: boolean
  /** What requests were expected to cost, by iteration. */
  expected?: Readonly<Record<string, Micros>>
}

/** A block of reasoning that only its provider can read has nothing to show. */
const hasRow = ({ kind, ended }: Item): boolean =>
  kind.type !== 'reasoning' || ended === undefined || kind.text.trim() !== ''

export function selectRows(all: readonly Item[], options: SelectOptions): Row[] {
  const rows: Row[] = []
  const items = all.filter(hasRow)
  for (let from = 0; from < items.length;) {
    const turn = items[from]?.turn
    let to = from + 1
    while (to < items.length && items[to]?.turn === turn) to++
    addTurn(rows, items.slice(from, to), options)
    from = to
  }
  return rows
}

const FOLDED: readonly Verb[] = ['read', 'list', 'search', 'run', 'fetch', 'plan', 'delegate', 'end', 'use']

/** Whether a row stays in view after its turn ended. */
export function staysOpen(item: Item): boolean {
  if (item.status === 'failed' || item.status === 'rejected' || item.status === 'outcome_unknown') return true
  const kind = item.kind
  switch (kind.type) {
    case 'reasoning':
    case 'retry':
    case 'malformed':
      return false
    case 'call':
      return !FOLDED.includes(kind.verb)
    case 'process_ended':
      return false
    default:
      return true
  }
}

function addTurn(rows: Row[], items: readonly Item[], options: SelectOptions): void {
  const summary = items.find((item) => item.kind.type === 'turn_summary')
  const turn = items[0]?.turn ?? 0
  const open = summary === undefined || options.full === true || options.openTurns.has(turn)
  const brackets = sideBySide(items)
  const busyIterations = iterationsToShow(items, options.full === true)
  const hidden = summary === undefined ? 0 : items.filter((item) => !staysOpen(item)).length
  let placed = false
  let iteration = 0

  for (const item of items) {
    if (item === summary) continue
    const isMessage = item.kind.type === 'user_message' && item.kind.delivery.delivery === 'start'
    if (summary !== undefined && !placed && !isMessage) {
      rows.push({ type: 'fold', key: `fold-${turn}`, id: summary.id, turn, hidden, open })
      placed = true
    }
    if (!open && !staysOpen(item)) continue
    if (open && item.iteration !== iteration) {
      iteration = item.iteration
      const expected = options.expected?.[`${turn}.${iteration}`]
      if (busyIterations.has(iteration) || expected !== undefined) {
        rows.push({
          type: 'iteration',
          key: `iteration-${turn}-${iteration}`,
          id: item.id,
          iteration,
          expected,
        })
      }
    }
    rows.push({
      type: 'item',
      key: `item-${item.id}`,
      id: item.id,
      begins: isMessage,
      ...bracketOf(brackets, item, open),
    })
  }
  if (summary !== undefined && !placed) {
    rows.push({ type: 'fold', key: `fold-${turn}`, id: summary.id, turn, hidden, open })
  }
}

function iterationsToShow(items: readonly Item[], all: boolean): Set<number> {
  const calls = new Map<number, number>()
  for (const item of items) {
    if (item.iteration > 0) {
      calls.set(item.iteration, (calls.get(item.iteration) ?? 0) + (item.kind.type === 'call' ? 1 : 0))
    }
  }
  const shown = new Set<number>()
  for (const [iteration, count] of calls) if (all || count > 1) shown.add(iteration)
  return shown
}

function bracketOf(brackets: ReadonlyMap<ItemId, Bracket>, item: Item, open: boolean): Bracket {
  return (open ? brackets.get(item.id) : undefined) ?? { bracket: 'none' }
}
