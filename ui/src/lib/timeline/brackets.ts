/** Which calls of an iteration ran side by side, and where their bracket is drawn. Pure. */
import type { Item, ItemId } from '$lib/protocol'

/** The place of a row in a bracket. A row that only stands between such calls is passed `through`. */
export interface Bracket {
  bracket: 'none' | 'first' | 'middle' | 'last' | 'through'
  /** Said at the first row; the time is known once all of them have ended. */
  sideBySide?: { calls: number; millis: number | undefined }
}

interface Times {
  item: Item
  from: number
  to: number
}

/** Calls whose times touch each other, directly or through others. */
interface Group {
  calls: number
  from: number
  to: number
}

/** When a call ran; nothing for one that did not begin. */
function timesOf(item: Item): Times | undefined {
  if (item.kind.type !== 'call' || item.kind.began === undefined) return undefined
  return { item, from: item.kind.began, to: item.ended ?? Number.POSITIVE_INFINITY }
}

function groupsOf(items: readonly Item[]): Map<ItemId, Group> {
  const groups = new Map<ItemId, Group>()
  let group: Group | undefined
  let iteration = -1
  const times = items.flatMap((item) => timesOf(item) ?? [])
  times.sort((one, other) => one.item.iteration - other.item.iteration || one.from - other.from)
  for (const { item, from, to } of times) {
    if (group === undefined || item.iteration !== iteration || from >= group.to) {
      group = { calls: 0, from, to }
      iteration = item.iteration
    }
    group.calls++
    group.to = Math.max(group.to, to)
    groups.set(item.id, group)
  }
  return groups
}

/** The bracket of every row that has one, for the items of a turn in their order. */
export function sideBySide(items: readonly Item[]): Map<ItemId, Bracket> {
  const groups = groupsOf(items)
  const brackets = new Map<ItemId, Bracket>()
  let open: Group | undefined
  let rows: { id: ItemId; member: boolean }[] = []

  const close = (): void => {
    const last = rows.findLastIndex((row) => row.member)
    const calls = rows.filter((row) => row.member).length
    if (open !== undefined && calls > 1) {
      const whole = open.to - open.from
      const millis = Number.isFinite(whole) ? whole : undefined
      rows.slice(0, last + 1).forEach(({ id, member }, place) => {
        const bracket = place === 0 ? 'first' : place === last ? 'last' : member ? 'middle' : 'through'
        brackets.set(id, place === 0 ? { bracket, sideBySide: { calls, millis } } : { bracket })
      })
    }
    open = undefined
    rows = []
  }

  for (const item of items) {
    const group = groups.get(item.id)
    if (group === undefined) {
      rows.push({ id: item.id, member: false })
      continue
    }
    if (group !== open) {
      close()
      open = group
    }
    rows.push({ id: item.id, member: true })
  }
  close()
  return brackets
}
