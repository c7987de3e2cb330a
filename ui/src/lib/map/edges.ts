/** What led to what in a turn: asked by, used the result of, retried, undone by. Pure. */
import type { CallId, CallItem, Item } from '$lib/protocol'
import type { MapBar } from './turn'

export type EdgeKind = 'asked' | 'used' | 'retried' | 'undone'

export interface Edge {
  kind: EdgeKind
  /** Key of the bar it comes from. */
  from: string
  to: string
}

const WRITES: ReadonlySet<string> = new Set(['edit', 'create', 'move', 'delete'])
const FAILED: ReadonlySet<string> = new Set(['failed', 'rejected', 'stopped', 'outcome_unknown'])

/** The edges between the bars of one turn; an edge never points to a bar that is not there. */
export function edgesOf(bars: readonly MapBar[], items: readonly Item[]): Edge[] {
  const calls = new Map<CallId, CallItem>()
  for (const { kind } of items) if (kind.type === 'call') calls.set(kind.call, kind)
  const answers = new Set(bars.filter((bar) => bar.subject === 'answer').map((bar) => bar.iteration))
  const keys = new Map(bars.flatMap((bar) => (bar.subject === 'call' ? [[bar.call, bar.key] as const] : [])))
  const edges: Edge[] = []
  const reads = new Map<string, MapBar>()
  const failures = new Map<string, MapBar>()

  for (const bar of bars) {
    if (bar.subject === 'undo') {
      const undone = bar.call === undefined ? undefined : keys.get(bar.call)
      if (undone !== undefined) edges.push({ kind: 'undone', from: undone, to: bar.key })
      continue
    }
    if (bar.subject !== 'call' || bar.call === undefined) continue
    if (answers.has(bar.iteration) && bar.check === undefined) {
      edges.push({ kind: 'asked', from: `answer-${bar.iteration}`, to: bar.key })
    }
    const call = calls.get(bar.call)
    for (const path of writtenPaths(bar, call)) {
      const read = reads.get(path)
      // The model can only have used what had ended before it asked.
      if (read !== undefined && read.iteration < bar.iteration) {
        edges.push({ kind: 'used', from: read.key, to: bar.key })
      }
    }
    if (bar.verb === 'read' && bar.outcome === 'done') reads.set(bar.target, bar)
    const shape = `${bar.tool ?? ''} ${bar.target}`
    const failure = failures.get(shape)
    if (failure !== undefined && bar.target !== '')
      edges.push({ kind: 'retried', from: failure.key, to: bar.key })
    if (FAILED.has(bar.outcome)) failures.set(shape, bar)
    else failures.delete(shape)
  }
  return edges
}

function writtenPaths(bar: MapBar, call: CallItem | undefined): string[] {
  const changed = call?.output?.changes?.map((change) => change.path) ?? []
  if (bar.verb === undefined || !WRITES.has(bar.verb)) return []
  return [...new Set([...changed, bar.target])]
}

/** Everything that led to a bar and everything that followed from it, and the edges between them. */
export function pathThrough(key: string, edges: readonly Edge[]): { bars: Set<string>; edges: Set<Edge> } {
  const bars = new Set([key])
  const lit = new Set<Edge>()
  const walk = (near: 'from' | 'to', far: 'from' | 'to'): void => {
    const byEnd = new Map<string, Edge[]>()
    for (const edge of edges) {
      const list = byEnd.get(edge[near])
      if (list === undefined) byEnd.set(edge[near], [edge])
      else list.push(edge)
    }
    const waiting = [key]
    const seen = new Set(waiting)
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      for (const edge of byEnd.get(at) ?? []) {
        lit.add(edge)
        bars.add(edge[far])
        if (!seen.has(edge[far])) {
          seen.add(edge[far])
          waiting.push(edge[far])
        }
      }
    }
  }
  walk('to', 'from')
  walk('from', 'to')
  return { bars, edges: lit }
}
