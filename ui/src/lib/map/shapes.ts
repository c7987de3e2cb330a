/** What the pictures are drawn with. The screen and the exported file draw the same list, each in its own way. */
import type { ItemStatus } from '$lib/protocol'
import type { Lane } from './turn'

/** A colour by the name of its token. */
export type Ink =
  | 'bg-canvas'
  | 'bg-panel'
  | 'bg-raised'
  | 'bg-inset'
  | 'bg-selected'
  | 'border-subtle'
  | 'border-control'
  | 'border-focus'
  | 'text-default'
  | 'text-muted'
  | 'text-faint'
  | 'accent-text'
  | 'accent-tint'
  | 'ok-text'
  | 'ok-tint'
  | 'warn-text'
  | 'warn-tint'
  | 'danger-text'
  | 'danger-tint'
  | 'info-text'
  | 'info-tint'
  | 'picture-read'
  | 'picture-write'
  | 'picture-command'
  | 'picture-delete'
  | 'picture-network'
  | 'picture-outside'

/** Fillings that tell classes apart without colour; drawn over a shape in the colour of the ground. */
export type Pattern = 'wait' | 'cross' | 'dots' | 'diagonal'

export const patterns: readonly Pattern[] = ['wait', 'cross', 'dots', 'diagonal']

/** Lines of a pattern in a tile of {@link TILE}; waiting is drawn in its own colour, the others cut into the bar. */
export const TILE = 6
export const patternPath: Record<Pattern, string> = {
  wait: 'M-1 7 7 -1M-1 1 1 -1M5 7 7 5',
  cross: 'M0 0 6 6M6 0 0 6',
  dots: 'M1.5 3h0.01M4.5 0.5h0.01M4.5 6h0.01',
  diagonal: 'M-1 -1 7 7M-1 5 1 7M5 -1 7 1',
}
export const patternInk: Record<Pattern, Ink> = {
  wait: 'warn-text',
  cross: 'bg-canvas',
  dots: 'bg-canvas',
  diagonal: 'bg-canvas',
}

interface Common {
  fill?: Ink
  stroke?: Ink
  /** In pixels; 1 when absent. */
  strokeWidth?: number
  dash?: string
  pattern?: Pattern
  /** Not part of what is selected. */
  dim?: boolean
}

export interface RectShape extends Common {
  shape: 'rect'
  x: number
  y: number
  width: number
  height: number
  radius?: number
}

export interface PathShape extends Common {
  shape: 'path'
  d: string
}

export interface TextShape extends Common {
  shape: 'text'
  x: number
  y: number
  text: string
  anchor?: 'start' | 'middle' | 'end'
  strong?: boolean
}

export type Shape = RectShape | PathShape | TextShape

const rectPath = ({ x, y, width, height, radius = 0 }: RectShape): string => {
  const r = width > 5 ? Math.min(radius, height / 2) : 0
  if (r === 0) return `M${x} ${y}h${width}v${height}h${-width}z`
  const arc = (dx: number, dy: number): string => `a${r} ${r} 0 0 1 ${dx} ${dy}`
  return `M${x + r} ${y}h${width - 2 * r}${arc(r, r)}v${height - 2 * r}${arc(-r, r)}h${2 * r - width}${arc(-r, -r)}v${2 * r - height}${arc(r, -r)}z`
}

/**
 * The same picture with one path for all shapes that look alike: thousands of bars cost the page no more than a few.
 * Shapes must not lie upon each other, except trouble, which comes on top, and what is cut out of all of them.
 */
export function joined(shapes: readonly Shape[]): Shape[] {
  const alike = new Map<string, PathShape>()
  const texts: TextShape[] = []
  for (const shape of shapes) {
    if (shape.shape === 'text') {
      texts.push(shape)
      continue
    }
    const { fill, stroke, strokeWidth, dash, pattern, dim } = shape
    const look = [fill, stroke, strokeWidth, dash, pattern, dim].join()
    const d = shape.shape === 'rect' ? rectPath(shape) : shape.d
    const one = alike.get(look)
    if (one === undefined) alike.set(look, shape.shape === 'rect' ? pathOf(shape, d) : { ...shape })
    else one.d += d
  }
  const rank = (path: PathShape): number =>
    path.fill === 'bg-canvas' ? 2 : path.stroke === 'danger-text' ? 1 : 0
  return [...[...alike.values()].sort((one, other) => rank(one) - rank(other)), ...texts]
}

function pathOf(rect: RectShape, d: string): PathShape {
  const { fill, stroke, strokeWidth, dash, pattern, dim } = rect
  return {
    shape: 'path',
    d,
    ...(fill === undefined ? {} : { fill }),
    ...(stroke === undefined ? {} : { stroke }),
    ...(strokeWidth === undefined ? {} : { strokeWidth }),
    ...(dash === undefined ? {} : { dash }),
    ...(pattern === undefined ? {} : { pattern }),
    ...(dim === undefined ? {} : { dim }),
  }
}

/** Where a bar or node can be pressed. */
export interface Hit {
  key: string
  x: number
  y: number
  width: number
  height: number
}

export interface Picture {
  shapes: Shape[]
  hits: Hit[]
  width: number
  height: number
}

/** Colour and filling of a lane. */
export const laneInk: Record<Lane, { ink: Ink; pattern?: Pattern }> = {
  model: { ink: 'accent-text' },
  read: { ink: 'picture-read' },
  write: { ink: 'picture-write' },
  command: { ink: 'picture-command' },
  delete: { ink: 'picture-delete', pattern: 'cross' },
  network: { ink: 'picture-network', pattern: 'dots' },
  outside: { ink: 'picture-outside', pattern: 'diagonal' },
  external: { ink: 'picture-network' },
  protected: { ink: 'picture-delete' },
  agent: { ink: 'text-faint' },
  you: { ink: 'warn-text' },
}

/** The shape in front of an outcome, besides its colour; the same marks as in the timeline. */
export const outcomeMark: Record<ItemStatus, string> = {
  waiting: '◐',
  running: '●',
  done: '✓',
  failed: '✕',
  rejected: '⊘',
  stopped: '■',
  outcome_unknown: '?',
  undone: '↶',
}

export const outcomeInk: Record<ItemStatus, Ink> = {
  waiting: 'warn-text',
  running: 'info-text',
  done: 'ok-text',
  failed: 'danger-text',
  rejected: 'danger-text',
  stopped: 'text-faint',
  outcome_unknown: 'warn-text',
  undone: 'text-muted',
}

/** Width of a text in pixels, roughly: pictures are laid out without asking the page. */
export const textWidth = (text: string): number => text.length * 6.4

/** A text that fits into a width, cut at its end; empty when not even a little of it fits. */
export function fitted(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  const letters = Math.floor(width / 6.4) - 1
  return letters < 3 ? '' : `${text.slice(0, letters)}…`
}

/** A path or command in short: the last part of a path, the first line of the rest. */
export function shortTarget(text: string): string {
  const line = text.split('\n', 1)[0] ?? ''
  const isPath = line.includes('/') && !line.includes(' ')
  return isPath ? (line.replace(/\/$/, '').split('/').at(-1) ?? line) : line
}

/** The shape under a point; the one on top when several lie there. */
export function hitAt(hits: readonly Hit[], x: number, y: number): Hit | undefined {
  const inside = (hit: Hit, slack: number): boolean =>
    x >= hit.x - slack &&
    x <= hit.x + hit.width + slack &&
    y >= hit.y - slack &&
    y <= hit.y + hit.height + slack
  return hits.findLast((hit) => inside(hit, 0)) ?? hits.findLast((hit) => inside(hit, 5))
}
