/** The task list of a session: read from the calls that set it, so that every one of them can be shown as it was. */
import { argumentsOf } from '$lib/format/arguments'
import type { CallItem, Item, PlanTask, TaskState } from '$lib/protocol'

/** How far a list has come. */
export interface Progress {
  done: number
  /** All but the dropped ones. */
  of: number
  now: string | undefined
}

const STATES: readonly TaskState[] = ['open', 'doing', 'done', 'dropped']

/** The list that an `update_plan` call sets; empty while its arguments are still being written. */
export function planOf(call: CallItem): PlanTask[] {
  const { tasks } = argumentsOf(call.arguments)
  if (!Array.isArray(tasks)) return []
  return tasks.flatMap((task: unknown) => {
    if (typeof task !== 'object' || task === null || !('text' in task)) return []
    const { text } = task
    if (typeof text !== 'string') return []
    const state = 'state' in task ? STATES.find((one) => one === task.state) : undefined
    return [{ text, state: state ?? 'open' }]
  })
}

export function progressOf(tasks: readonly PlanTask[]): Progress {
  const of = tasks.filter((task) => task.state !== 'dropped')
  return {
    done: of.filter((task) => task.state === 'done').length,
    of: of.length,
    now: of.find((task) => task.state === 'doing')?.text,
  }
}

/** Places of the tasks that are new or in another state than before. A first list has changed nothing. */
export function changedTasks(before: readonly PlanTask[], tasks: readonly PlanTask[]): Set<number> {
  if (before.length === 0) return new Set()
  const known = new Map(before.map((task) => [task.text, task.state]))
  return new Set(tasks.flatMap((task, place) => (known.get(task.text) === task.state ? [] : [place])))
}

const isPlan = (item: Item | undefined): item is Item & { kind: CallItem } =>
  item?.kind.type === 'call' && item.kind.verb === 'plan' && item.status === 'done'

/** The place of the newest call that set the list, before a place in `items`. */
export function lastPlan(items: readonly Item[], before = items.length): number {
  for (let at = before - 1; at >= 0; at--) if (isPlan(items[at])) return at
  return -1
}

/** The list as the call at a place left it. */
export function planAt(items: readonly Item[], place: number): PlanTask[] {
  const item = items[place]
  return isPlan(item) ? planOf(item.kind) : []
}
