/** What led to a pause, read from the items of the turn: which calls, how often, with what result. */
import type { CallId, CallItem, Item, TurnId } from '$lib/protocol'

/** Calls of one shape that came again and again. */
export interface Repetition {
  call: CallItem
  times: number
  iterations: number[]
}

/** One failed try of a tool. */
export interface Attempt {
  call: CallItem
  iteration: number
  reason: string
}

/** Work of a turn so far. */
export interface TurnWork {
  calls: number
  filesChanged: number
}

const callOf = (item: Item): CallItem | undefined => (item.kind.type === 'call' ? item.kind : undefined)

function callItems(items: readonly Item[], ids: readonly CallId[]): { item: Item; call: CallItem }[] {
  const wanted = new Set(ids)
  return items.flatMap((item) => {
    const call = callOf(item)
    return call !== undefined && wanted.has(call.call) ? [{ item, call }] : []
  })
}

/** The calls that the guard saw, equal ones together, in order of appearance. */
export function repetitions(items: readonly Item[]): Repetition[] {
  const guard = items.findLast((item) => item.kind.type === 'guard')
  const ids = guard?.kind.type === 'guard' ? guard.kind.calls : []
  const groups = new Map<string, Repetition>()
  for (const { item, call } of callItems(items, ids)) {
    const shape = `${call.tool} ${call.target}`
    const group = groups.get(shape)
    if (group === undefined) groups.set(shape, { call, times: 1, iterations: [item.iteration] })
    else {
      group.times += 1
      group.iterations.push(item.iteration)
    }
  }
  return [...groups.values()]
}

/** The failed tries at which the breaker paused, oldest first. */
export function attempts(items: readonly Item[]): Attempt[] {
  const breaker = items.findLast((item) => item.kind.type === 'breaker')
  const ids = breaker?.kind.type === 'breaker' ? breaker.kind.calls : []
  return callItems(items, ids).map(({ item, call }) => ({
    call,
    iteration: item.iteration,
    reason: lastLine(call.output?.text ?? ''),
  }))
}

/** The runs of the check at which the turn paused, oldest first: those of the newest count from 1. */
export function checkRuns(items: readonly Item[]): Attempt[] {
  const runs: Attempt[] = []
  for (const item of items.toReversed()) {
    const call = callOf(item)
    if (call?.check === undefined) continue
    runs.unshift({ call, iteration: item.iteration, reason: lastLine(call.output?.text ?? '') })
    if (call.check.attempt === 1) break
  }
  return runs
}

/** The last line of an output that says something: where tools put the reason. */
function lastLine(text: string): string {
  return (
    text
      .split('\n')
      .map((line) => line.trim())
      .findLast((line) => line !== '') ?? ''
  )
}

/** Calls and changed files of a turn. */
export function turnWork(items: readonly Item[], turn: TurnId): TurnWork {
  const calls = items.filter((item) => item.turn === turn).flatMap((item) => callOf(item) ?? [])
  const files = new Set(calls.flatMap((call) => call.output?.changes?.map((change) => change.path) ?? []))
  return { calls: calls.length, filesChanged: files.size }
}

/** Calls whose outcome nobody knows, since the program ended while they ran. */
export function unknownCalls(items: readonly Item[]): CallItem[] {
  const recovery = items.findLast((item) => item.kind.type === 'recovery')
  const ids = recovery?.kind.type === 'recovery' ? recovery.kind.unknown : []
  return callItems(items, ids).map(({ call }) => call)
}
