/** Commands that passed their time limit and still run: the person decides what becomes of them. */
import type { CallItem, Item } from '$lib/protocol'

/** One of them, with the moment it began. */
export interface Overdue {
  call: CallItem
  began: number
}

/** Those of a turn, the one that waits longest first. */
export function overdueCalls(items: readonly Item[]): Overdue[] {
  return items
    .flatMap(({ kind, status, started }) =>
      kind.type === 'call' && kind.overdue === true && status === 'running'
        ? [{ call: kind, began: kind.began ?? started }]
        : [],
    )
    .sort((one, other) => one.began - other.began)
}
