/** The turn over time: a lane per class, bars to scale. Only what lies in the seen part is drawn. Pure. */
import { placeOf, ticksOf, type Axis } from './axis'
import {
  fitted,
  joined,
  laneInk,
  outcomeInk,
  outcomeMark,
  shortTarget,
  textWidth,
  type Hit,
  type Ink,
  type Picture,
  type Shape,
} from './shapes'
import { laneOrder, type Lane, type MapBar, type TurnMap } from './turn'

export interface TimelineWords {
  lane: Record<Lane, string>
  clock: (millis: number) => string
  pause: (millis: number) => string
  message: string
  exit: (code: number) => string
}

export interface TimelineOptions {
  width: number
  /** Where the seen part begins on the axis, and how many pixels a millisecond takes. */
  from: number
  scale: number
  /** Height of a row; {@link ROW} when absent. */
  row?: number
  selected?: string | undefined
  words: TimelineWords
}

/** Width of the column with the names of the lanes. */
export const LABELS = 88
const HEAD = 38
/** Least height of a row, in pixels. */
export const ROW = 20
const PAD = 6
const THIN = 6
/** So that a call of a few milliseconds can be seen and pressed. */
const LEAST = 3
/** More calls than this side by side share the last row. */
const ROWS = 6

interface LaneRows {
  lane: Lane
  y: number
  rows: MapBar[][]
}

/** Bars of each lane in rows, so that none lies upon another. The zoom changes nothing of it. */
export function packed(bars: readonly MapBar[], height = ROW): LaneRows[] {
  const lanes: LaneRows[] = []
  let y = HEAD
  for (const lane of laneOrder) {
    const own = bars.filter((bar) => bar.lane === lane)
    if (own.length === 0) continue
    const rows: MapBar[][] = []
    for (const bar of own) {
      const free = rows.find((row) => (row.at(-1)?.span.to ?? 0) <= bar.span.from)
      if (free !== undefined) free.push(bar)
      else if (rows.length < ROWS) rows.push([bar])
      else rows.at(-1)?.push(bar)
    }
    lanes.push({ lane, y, rows })
    y += rows.length * height + PAD
  }
  return lanes
}

export function timelinePicture(map: TurnMap, axis: Axis, options: TimelineOptions): Picture {
  const row = options.row ?? ROW
  const lanes = packed(map.bars, row)
  const last = lanes.at(-1)
  const height = (last === undefined ? HEAD : last.y + last.rows.length * row) + PAD
  const x = (moment: number): number => LABELS + (placeOf(axis, moment) - options.from) * options.scale
  const drawing: Drawing = {
    shapes: [],
    chosen: [],
    hits: [],
    x,
    height,
    options,
    row,
    bar: Math.round(row * 0.6),
    cuts: cutsOf(axis, options),
    decisions: [],
  }
  drawGrid(drawing, axis, lanes)
  drawIterations(drawing, map)
  const ground = joined(drawing.shapes)
  drawing.shapes = []
  drawing.decisions = decisionsOf(drawing, map.bars)
  for (const { y, rows, lane } of lanes) {
    rows.forEach((bars, place) => drawRow(drawing, bars, y + place * row + PAD / 2))
    if (lane === 'you') drawDecisions(drawing, y + PAD / 2)
  }
  const bars = joined(drawing.shapes)
  drawing.shapes = []
  drawCuts(drawing)
  drawLabels(drawing, lanes)
  return {
    shapes: [...ground, ...drawing.chosen, ...bars, ...drawing.shapes],
    hits: drawing.hits,
    width: options.width,
    height,
  }
}

interface Drawing {
  shapes: Shape[]
  /** What marks the selected bar, below it. */
  chosen: Shape[]
  hits: Hit[]
  x: (moment: number) => number
  height: number
  options: TimelineOptions
  /** Heights of a row and of a bar in it. */
  row: number
  bar: number
  cuts: readonly Cut[]
  decisions: readonly { x: number; ink: Ink }[]
}

/** Where the axis is cut, and how long nothing worked there. */
interface Cut {
  x: number
  millis: number
}

function cutsOf(axis: Axis, { from, scale, width }: TimelineOptions): Cut[] {
  return axis.stretches.flatMap((stretch) => {
    const x = LABELS + (stretch.at + stretch.length / 2 - from) * scale
    return stretch.cut && x > LABELS + 6 && x < width - 6 ? [{ x, millis: stretch.to - stretch.from }] : []
  })
}

const seen = ({ options }: Drawing, from: number, to: number): boolean =>
  to >= LABELS && from <= options.width

function drawGrid(drawing: Drawing, axis: Axis, lanes: readonly LaneRows[]): void {
  const { shapes, height, options } = drawing
  const { width, from, scale, words } = options
  const range = { from, to: from + (width - LABELS) / scale }
  for (const { at, elapsed } of ticksOf(axis, 76 / scale, range)) {
    const place = LABELS + (at - from) * scale
    if (place < LABELS - 1 || place > width) continue
    shapes.push({ shape: 'path', d: `M${place} 18V${height}`, stroke: 'border-subtle' })
    if (drawing.cuts.some((cut) => Math.abs(cut.x - place) < 70)) continue
    const anchor = place > width - 20 ? 'end' : place < LABELS + 20 ? 'start' : 'middle'
    shapes.push({ shape: 'text', x: place, y: 12, text: words.clock(elapsed), fill: 'text-faint', anchor })
  }
  for (const { y } of lanes.slice(1)) {
    shapes.push({ shape: 'path', d: `M0 ${y}H${width}`, stroke: 'border-subtle' })
  }
}

function drawIterations(drawing: Drawing, map: TurnMap): void {
  const { shapes, height, x } = drawing
  let free = LABELS - 4
  let drawn = -Infinity
  for (const { iteration, at } of map.iterations) {
    const place = x(at)
    // Lines closer than this would only be a grey veil.
    if (!seen(drawing, place, place) || place - drawn < 6) continue
    drawn = place
    shapes.push({ shape: 'path', d: `M${place} 22V${height}`, stroke: 'border-control', dash: '1 3' })
    const text = String(iteration)
    if (place < free || place + textWidth(text) > drawing.options.width) continue
    shapes.push({ shape: 'text', x: place + 2, y: 30, text, fill: 'text-muted' })
    free = place + textWidth(text) + 6
  }
}

function drawRow(drawing: Drawing, row: readonly MapBar[], y: number): void {
  const { options, x } = drawing
  let drawnTo = -Infinity
  let troubleTo = -Infinity
  row.forEach((bar, place) => {
    const from = x(bar.lead?.from ?? bar.span.from)
    const to = Math.max(x(bar.span.to), x(bar.span.from) + LEAST)
    // What adds less than a pixel to what is drawn already is not drawn once more.
    // Trouble is never covered by what went well.
    const trouble = bar.outcome === 'failed' || bar.outcome === 'rejected'
    const adds = to - (trouble ? troubleTo : drawnTo) >= 0.75 || bar.key === options.selected
    if (!adds || !seen(drawing, from, to)) return
    drawBar(drawing, bar, y)
    drawnTo = Math.max(drawnTo, to)
    if (trouble) troubleTo = to
    const next = row[place + 1]
    const end = next === undefined ? options.width : x(next.lead?.from ?? next.span.from)
    const stops = [...drawing.cuts, ...(bar.lane === 'you' ? drawing.decisions : [])].map((one) => one.x - 8)
    const stop = Math.min(end, options.width, ...stops.filter((one) => one > to - 4))
    drawName(drawing, bar, to + 5, stop - to - 11, y)
  })
}

function drawBar(drawing: Drawing, bar: MapBar, y: number): void {
  const { hits, x, options } = drawing
  const left = Math.max(LABELS, x(bar.span.from))
  const right = Math.min(options.width, Math.max(x(bar.span.to), x(bar.span.from) + LEAST))
  if (bar.key === options.selected) {
    const whole = { x: left - 3, y: y - 1, width: right - left + 6, height: drawing.row - 4 }
    drawing.chosen.push({
      shape: 'rect',
      ...whole,
      radius: 4,
      fill: 'bg-selected',
      stroke: 'border-focus',
      strokeWidth: 2,
    })
  }
  if (right > LABELS)
    hits.push({ key: bar.key, x: left, y: y - 2, width: right - left, height: drawing.row - 2 })
  if (bar.subject === 'message' || bar.subject === 'undo') {
    drawPoint(drawing, x(bar.span.from), y, bar.subject === 'undo' ? 'text-muted' : 'accent-text')
    return
  }
  if (bar.lead !== undefined)
    line(drawing, bar.lead.from, bar.busy?.from ?? bar.span.to, y, 'accent-text', true)
  else if (bar.busy !== undefined) line(drawing, bar.span.from, bar.busy.from, y, 'border-control', false)
  if (bar.wait !== undefined)
    piece(drawing, bar.wait, y + 2, drawing.bar, { fill: 'warn-tint', stroke: 'warn-text', pattern: 'wait' })
  for (const retry of bar.retries) line(drawing, retry.from, retry.to, y, 'warn-text', true)
  if (bar.busy !== undefined) drawBusy(drawing, bar, bar.busy, y)
  else if (bar.wait === undefined && bar.subject === 'call') {
    piece(drawing, { from: bar.span.to, to: bar.span.to }, y + 2, drawing.bar, {
      fill: outcomeInk[bar.outcome],
    })
  }
}

function drawBusy(drawing: Drawing, bar: MapBar, busy: { from: number; to: number }, y: number): void {
  const { ink, pattern } = laneInk[bar.lane]
  if (bar.subject === 'answer') {
    piece(drawing, busy, y + 2, drawing.bar, {
      fill: 'accent-tint',
      stroke: bar.outcome === 'failed' ? 'danger-text' : ink,
    })
    return
  }
  const thin = bar.lane === 'read' || bar.lane === 'model'
  const top = thin ? y + 2 + (drawing.bar - THIN) / 2 : y + 2
  const trouble = bar.outcome === 'failed' || bar.outcome === 'outcome_unknown'
  piece(drawing, busy, top, thin ? THIN : drawing.bar, {
    fill: ink,
    ...(trouble ? { stroke: 'danger-text', strokeWidth: 1.5 } : {}),
    ...(pattern === undefined ? {} : { pattern }),
  })
  const left = drawing.x(busy.from)
  if (bar.lane === 'command' && left > LABELS && drawing.x(busy.to) - left > 8) {
    drawing.shapes.push({
      shape: 'path',
      d: `M${left} ${top + drawing.bar / 2 - 4}l4 4l-4 4z`,
      fill: 'bg-canvas',
    })
  }
}

function piece(
  { shapes, x, options }: Drawing,
  span: { from: number; to: number },
  y: number,
  height: number,
  look: { fill: Ink; stroke?: Ink; strokeWidth?: number; pattern?: Shape['pattern'] },
): void {
  const left = Math.max(LABELS, x(span.from))
  const right = Math.min(options.width + 4, Math.max(x(span.to), x(span.from) + LEAST))
  if (right <= LABELS || left > options.width) return
  const { pattern, ...rest } = look
  shapes.push({
    shape: 'rect',
    x: left,
    y,
    width: right - left,
    height,
    radius: 2,
    ...rest,
    ...(pattern === undefined ? {} : { pattern }),
  })
}

function line(drawing: Drawing, from: number, to: number, y: number, stroke: Ink, dotted: boolean): void {
  const { shapes, x, options, bar } = drawing
  const left = Math.max(LABELS, x(from))
  const right = Math.min(options.width, x(to))
  if (right - left < 1) return
  shapes.push({
    shape: 'path',
    d: `M${left} ${y + 2 + bar / 2}H${right}`,
    stroke,
    strokeWidth: 1.5,
    ...(dotted ? { dash: '2 2' } : {}),
  })
}

function drawPoint({ shapes, options, bar }: Drawing, x: number, y: number, fill: Ink): void {
  if (x < LABELS || x > options.width) return
  shapes.push({ shape: 'path', d: `M${x} ${y + bar / 2 - 3}l5 10h-10z`, fill })
}

/** What stands beside a bar: its target in short, and how it ended. */
function drawName(drawing: Drawing, bar: MapBar, x: number, room: number, y: number): void {
  const { words } = drawing.options
  if (x < LABELS || bar.subject === 'answer' || bar.subject === 'undo') return
  const said =
    bar.subject === 'message'
      ? words.message
      : [
          outcomeMark[bar.outcome],
          shortTarget(bar.target),
          ...(bar.exit === undefined || bar.exit === 0 ? [] : [words.exit(bar.exit)]),
        ]
          .filter((part) => part !== '')
          .join(' ')
  const text = fitted(said, Math.min(room, 300))
  if (text === '' || (bar.subject === 'message' && text !== said)) return
  const trouble = bar.outcome === 'failed' || bar.outcome === 'rejected'
  drawing.shapes.push({
    shape: 'text',
    x,
    y: y + 6 + drawing.bar / 2,
    text,
    fill: trouble ? 'danger-text' : 'text-muted',
  })
}

function decisionsOf(drawing: Drawing, bars: readonly MapBar[]): { x: number; ink: Ink }[] {
  return bars.flatMap(({ decided, wait, span, busy }) => {
    const x = drawing.x(wait?.to ?? busy?.from ?? span.to)
    return decided === undefined || !seen(drawing, x, x)
      ? []
      : [{ x, ink: decided === 'approved' ? ('ok-text' as const) : ('danger-text' as const) }]
  })
}

function drawDecisions(drawing: Drawing, y: number): void {
  let drawnTo = -Infinity
  for (const { x, ink } of drawing.decisions) {
    if (x - drawnTo < 1) continue
    drawPoint(drawing, x, y, ink)
    drawnTo = x
  }
}

function drawCuts({ shapes, height, options, cuts }: Drawing): void {
  const down = height - 18
  for (const { x, millis } of cuts) {
    shapes.push(
      { shape: 'path', d: `M${x - 6} ${height}l6 ${-down}h6l-6 ${down}z`, fill: 'bg-canvas' },
      {
        shape: 'path',
        d: `M${x - 6} ${height}l6 ${-down}M${x} ${height}l6 ${-down}`,
        stroke: 'border-control',
      },
      {
        shape: 'text',
        x: Math.min(x + 3, options.width - textWidth(options.words.pause(millis)) / 2 - 2),
        y: 12,
        text: options.words.pause(millis),
        fill: 'text-muted',
        anchor: 'middle',
      },
    )
  }
}

/** The names of the lanes, over what was moved out of sight to the left. */
function drawLabels({ shapes, height, options, bar }: Drawing, lanes: readonly LaneRows[]): void {
  shapes.push({ shape: 'rect', x: 0, y: 0, width: LABELS - 6, height, fill: 'bg-canvas' })
  for (const { lane, y } of lanes) {
    const text = options.words.lane[lane]
    shapes.push({ shape: 'text', x: 8, y: y + PAD / 2 + 6 + bar / 2, text, fill: 'text-default' })
    if (y > HEAD) shapes.push({ shape: 'path', d: `M0 ${y}H${LABELS - 6}`, stroke: 'border-subtle' })
  }
}
