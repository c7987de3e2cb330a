/** The turn as a graph: iterations from top to bottom, their calls beside them. Only the seen part is drawn. Pure. */
import { pathThrough, type Edge } from './edges'
import {
  fitted,
  joined,
  laneInk,
  outcomeInk,
  outcomeMark,
  shortTarget,
  type Hit,
  type Ink,
  type PathShape,
  type Picture,
  type Shape,
} from './shapes'
import type { ItemStatus, Verb } from '$lib/protocol'
import type { Lane, MapBar } from './turn'

export interface GraphWords {
  iteration: (n: number) => string
  verb: Record<Verb, string>
  undo: string
}

export interface GraphOptions {
  /** The seen part, in pixels from the top; everything when absent. */
  seen?: { from: number; to: number }
  selected?: string | undefined
  words: GraphWords
}

/** Where the nodes stand. */
export interface GraphLayout {
  nodes: readonly Node[]
  byKey: ReadonlyMap<string, Node>
  width: number
  height: number
  zoom: number
}

export interface Node extends Hit {
  bar: MapBar
}

const NODE = { width: 148, height: 34 }
const HEAD = { width: 76, height: 34 }
const GAP = { x: 28, y: 14 }
const MARGIN = 16

const outcomeFill: Record<ItemStatus, Ink> = {
  waiting: 'warn-tint',
  running: 'info-tint',
  done: 'bg-raised',
  failed: 'danger-tint',
  rejected: 'danger-tint',
  stopped: 'bg-inset',
  outcome_unknown: 'warn-tint',
  undone: 'bg-inset',
}

/** Where every node of the graph stands; the width decides how many calls stand side by side. */
export function placed(bars: readonly MapBar[], width: number, zoom: number): GraphLayout {
  const left = MARGIN + (HEAD.width + GAP.x) * zoom
  const step = (NODE.width + GAP.x) * zoom
  const columns = Math.max(1, Math.floor((width - left - MARGIN + GAP.x * zoom) / step))
  const nodes: Node[] = []
  const line = (NODE.height + GAP.y) * zoom
  let y = MARGIN
  for (const group of groupsOf(bars)) {
    const [head, rest] = group[0]?.subject === 'answer' ? [group[0], group.slice(1)] : [undefined, group]
    if (head !== undefined) {
      nodes.push({
        key: head.key,
        bar: head,
        x: MARGIN,
        y,
        width: HEAD.width * zoom,
        height: HEAD.height * zoom,
      })
    }
    rest.forEach((bar, place) => {
      const x = left + (place % columns) * step
      const top = y + Math.floor(place / columns) * line
      nodes.push({ key: bar.key, bar, x, y: top, width: NODE.width * zoom, height: NODE.height * zoom })
    })
    y += Math.max(1, Math.ceil(rest.length / columns)) * line + GAP.y * zoom
  }
  return {
    nodes,
    byKey: new Map(nodes.map((node) => [node.key, node])),
    width,
    height: y + MARGIN - GAP.y * zoom,
    zoom,
  }
}

/** Bars of each iteration, the answer first; messages are not part of the graph. */
function groupsOf(bars: readonly MapBar[]): MapBar[][] {
  const groups = new Map<number, MapBar[]>()
  for (const bar of bars) {
    if (bar.subject === 'message') continue
    const group = groups.get(bar.iteration) ?? []
    if (bar.subject === 'answer') group.unshift(bar)
    else group.push(bar)
    groups.set(bar.iteration, group)
  }
  return [...groups.entries()].sort(([one], [other]) => one - other).map(([, group]) => group)
}

export function graphPicture(layout: GraphLayout, edges: readonly Edge[], options: GraphOptions): Picture {
  const { nodes, byKey, height, width, zoom } = layout
  const { seen, selected } = options
  const near = (from: number, to: number): boolean =>
    seen === undefined || (to >= seen.from && from <= seen.to)
  const lit = selected === undefined || !byKey.has(selected) ? undefined : pathThrough(selected, edges)
  const lines: Shape[] = spineOf(nodes, lit !== undefined, near)
  for (const edge of edges) {
    const from = byKey.get(edge.from)
    const to = byKey.get(edge.to)
    if (from === undefined || to === undefined) continue
    if (!near(Math.min(from.y, to.y), Math.max(from.y, to.y) + to.height)) continue
    lines.push(...edgeShapes(edge, from, to, lit?.edges.has(edge)))
  }
  const shown = nodes.filter((node) => near(node.y, node.y + node.height))
  const drawn = shown.flatMap((node) =>
    nodeShapes(node, options, zoom, lit !== undefined && !lit.bars.has(node.key)),
  )
  return { shapes: [...joined(lines), ...drawn], hits: shown, width, height }
}

/** The line from iteration to iteration. */
function spineOf(
  nodes: readonly Node[],
  dim: boolean,
  near: (from: number, to: number) => boolean,
): PathShape[] {
  const answers = nodes.filter((node) => node.bar.subject === 'answer')
  return answers.flatMap((node, place) => {
    const next = answers[place + 1]
    if (next === undefined || !near(node.y, next.y)) return []
    const d = `M${node.x + node.width / 2} ${node.y + node.height}V${next.y}`
    return [{ shape: 'path', d, stroke: 'border-subtle', strokeWidth: 2, dim }]
  })
}

const edgeLook: Record<Edge['kind'], { stroke: Ink; dash?: string }> = {
  asked: { stroke: 'border-control' },
  used: { stroke: 'accent-text', dash: '6 3' },
  retried: { stroke: 'warn-text', dash: '2 3' },
  undone: { stroke: 'danger-text', dash: '8 3 2 3' },
}

function edgeShapes(edge: Edge, from: Node, to: Node, isLit: boolean | undefined): PathShape[] {
  const look = { ...edgeLook[edge.kind], dim: isLit === false, strokeWidth: isLit === true ? 2 : 1.25 }
  if (edge.kind === 'asked') {
    const x = from.x + from.width
    const y = from.y + from.height / 2
    const toY = to.y + to.height / 2
    const turn = x + 10
    // Along the free lane above the row, then down to the node: never through another one.
    const above = to.y - 5
    const first = to.x - x < 60
    const d = first
      ? `M${x} ${y}H${turn}V${toY}H${to.x}`
      : `M${x} ${y}H${turn}V${above}H${to.x - 9}V${toY}H${to.x}`
    return [{ shape: 'path', d, ...look }, arrow(to.x, toY, 'right', look.stroke, look.dim)]
  }
  const sameColumn = Math.abs(from.x - to.x) < 4
  const x1 = from.x + from.width / 2
  const y1 = from.y + from.height
  const x2 = to.x + to.width / 2
  if (to.y > from.y && !sameColumn) {
    const bend = Math.min(40, (to.y - y1) / 2)
    const d = `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${to.y - bend} ${x2} ${to.y}`
    return [{ shape: 'path', d, ...look }, arrow(x2, to.y, 'down', look.stroke, look.dim)]
  }
  const right = Math.max(from.x + from.width, to.x + to.width)
  const y = from.y + from.height / 2
  const toY = to.y + to.height / 2
  const d = `M${from.x + from.width} ${y}C${right + 26} ${y} ${right + 26} ${toY} ${to.x + to.width} ${toY}`
  return [{ shape: 'path', d, ...look }, arrow(to.x + to.width, toY, 'left', look.stroke, look.dim)]
}

function arrow(x: number, y: number, way: 'right' | 'down' | 'left', fill: Ink, dim: boolean): PathShape {
  const d = { right: `M${x} ${y}l-6 -3.5v7z`, down: `M${x} ${y}l-3.5 -6h7z`, left: `M${x} ${y}l6 -3.5v7z` }[
    way
  ]
  return { shape: 'path', d, fill, dim }
}

function nodeShapes(node: Node, options: GraphOptions, zoom: number, dim: boolean): Shape[] {
  const { bar, x, y, width, height } = node
  const { words } = options
  const isSelected = node.key === options.selected
  const { ink } = laneInk[bar.lane]
  const outline: PathShape = {
    shape: 'path',
    d: outlineOf(bar.lane, bar.subject === 'answer', x, y, width, height),
    fill: outcomeFill[bar.outcome],
    stroke: ink,
    strokeWidth: 1.75,
    dim,
    ...(bar.outcome === 'undone' ? { dash: '4 3' } : {}),
  }
  const shapes: Shape[] = []
  if (isSelected) {
    const around = { x: x - 4, y: y - 4, width: width + 8, height: height + 8, radius: 8 }
    shapes.push({ shape: 'rect', ...around, stroke: 'border-focus', strokeWidth: 2 })
  }
  shapes.push(outline)
  if (zoom < 0.6) return shapes
  const middle = y + height / 2
  if (bar.subject === 'answer') {
    shapes.push({
      shape: 'text',
      x: x + width / 2,
      y: middle + 4,
      text: words.iteration(bar.iteration),
      anchor: 'middle',
      fill: 'text-default',
      dim,
      strong: true,
    })
    return shapes
  }
  const room = width - 44
  const verb = bar.subject === 'undo' || bar.verb === undefined ? words.undo : words.verb[bar.verb]
  shapes.push(
    {
      shape: 'text',
      x: x + 14,
      y: middle - 3,
      text: fitted(verb, room),
      fill: 'text-default',
      strong: true,
      dim,
    },
    {
      shape: 'text',
      x: x + 14,
      y: middle + 11,
      text: fitted(shortTarget(bar.target), room),
      fill: 'text-muted',
      dim,
    },
    {
      shape: 'text',
      x: x + width - 14,
      y: middle + 4,
      text: outcomeMark[bar.outcome],
      anchor: 'end',
      fill: outcomeInk[bar.outcome],
      strong: true,
      dim,
    },
  )
  return shapes
}

/** The outline tells the class: round for reading, square for writing, pointed for commands, and so on. */
function outlineOf(lane: Lane, isAnswer: boolean, x: number, y: number, w: number, h: number): string {
  const r = x + w
  const b = y + h
  const m = y + h / 2
  if (isAnswer) return rounded(x, y, w, h, 6)
  switch (lane) {
    case 'write':
      return `M${x} ${y}H${r}V${b}H${x}Z`
    case 'command':
      return `M${x + 9} ${y}H${r - 9}L${r} ${m}L${r - 9} ${b}H${x + 9}L${x} ${m}Z`
    case 'delete':
    case 'protected':
      return `M${x + 7} ${y}H${r - 7}L${r} ${y + 7}V${b - 7}L${r - 7} ${b}H${x + 7}L${x} ${b - 7}V${y + 7}Z`
    case 'network':
      return `M${x + 9} ${y}H${r}L${r - 9} ${b}H${x}Z`
    case 'outside':
      return `M${x} ${y}H${r - 9}L${r} ${m}L${r - 9} ${b}H${x}Z`
    case 'external':
      return `M${x + 9} ${y}H${r}V${b}H${x + 9}L${x} ${m}Z`
    case 'agent':
      return `${rounded(x, y, w, h, 6)}${rounded(x + 3, y + 3, w - 6, h - 6, 4)}`
    default:
      return rounded(x, y, w, h, h / 2)
  }
}

const rounded = (x: number, y: number, w: number, h: number, r: number): string =>
  `M${x + r} ${y}h${w - 2 * r}a${r} ${r} 0 0 1 ${r} ${r}v${h - 2 * r}a${r} ${r} 0 0 1 ${-r} ${r}h${2 * r - w}a${r} ${r} 0 0 1 ${-r} ${-r}v${2 * r - h}a${r} ${r} 0 0 1 ${r} ${-r}z`
