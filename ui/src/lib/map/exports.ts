/** A map as a file: the picture as SVG or PNG, the data in the trace event format that trace viewers read. */
import { patternInk, patternPath, patterns, TILE, type Ink, type Picture, type Shape } from './shapes'
import { laneOrder, type Lane, type MapBar, type TurnMap } from './turn'

interface TraceEvent {
  name: string
  ph: 'X' | 'i' | 'M'
  pid: 1
  tid: number
  /** Microseconds since the begin of the turn. */
  ts?: number
  dur?: number
  cat?: string
  s?: 't'
  args?: Record<string, unknown>
}

/** The turn in the trace event format: one thread per lane, one complete event per bar. */
export function traceOf(
  map: TurnMap,
  laneName: Record<Lane, string>,
  nameOf: (bar: MapBar) => string,
): string {
  const lanes = laneOrder.filter((lane) => map.bars.some((bar) => bar.lane === lane))
  const micros = (moment: number): number => (moment - map.span.from) * 1_000
  const events: TraceEvent[] = lanes.map((lane, tid) => ({
    name: 'thread_name',
    ph: 'M',
    pid: 1,
    tid,
    args: { name: laneName[lane] },
  }))
  for (const bar of map.bars) {
    const base = {
      name: nameOf(bar),
      cat: bar.lane,
      pid: 1 as const,
      tid: lanes.indexOf(bar.lane),
      ts: micros(bar.span.from),
    }
    const { iteration, call, tool, outcome, exit, tokens, decided } = bar
    const args = {
      iteration,
      call,
      tool,
      target: bar.target,
      outcome,
      exit,
      tokens,
      decided,
      open: bar.open || undefined,
    }
    if (bar.span.to === bar.span.from && bar.subject !== 'call')
      events.push({ ...base, ph: 'i', s: 't', args })
    else events.push({ ...base, ph: 'X', dur: (bar.span.to - bar.span.from) * 1_000, args })
    for (const [cat, span] of [
      ['wait', bar.wait] as const,
      ...bar.retries.map((retry) => ['retry', retry] as const),
    ]) {
      if (span === undefined) continue
      events.push({
        ...base,
        name: cat,
        cat,
        ph: 'X',
        ts: micros(span.from),
        dur: (span.to - span.from) * 1_000,
      })
    }
  }
  return JSON.stringify(
    { traceEvents: events, displayTimeUnit: 'ms', otherData: { turn: map.turn, began: map.span.from } },
    null,
    1,
  )
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

// eslint-disable-next-line no-control-regex -- exactly these may not stand in XML
const UNFIT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g

/** Text as it may stand in XML: what has a meaning there is written out, what may not stand there at all is left out. */
export const escaped = (text: string): string =>
  text.replace(UNFIT, '').replace(/[&<>"]/g, (letter) => ENTITIES[letter] ?? '')

/** The picture as an SVG file; `colour` gives the value of a token. */
export function svgOf(picture: Picture, colour: (ink: Ink) => string): string {
  const { width, height, shapes } = picture
  const defs = patterns.map(
    (name) =>
      `<pattern id="${name}" width="${TILE}" height="${TILE}" patternUnits="userSpaceOnUse"><path d="${patternPath[name]}" stroke="${colour(patternInk[name])}" stroke-width="1.5" stroke-linecap="round" fill="none"/></pattern>`,
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12">`,
    `<defs>${defs.join('')}</defs>`,
    `<rect width="${width}" height="${height}" fill="${colour('bg-canvas')}"/>`,
    ...shapes.map((shape) => element(shape, colour)),
    '</svg>',
  ].join('\n')
}

function element(shape: Shape, colour: (ink: Ink) => string): string {
  const look = [
    `fill="${shape.fill === undefined ? 'none' : colour(shape.fill)}"`,
    ...(shape.stroke === undefined
      ? []
      : [`stroke="${colour(shape.stroke)}" stroke-width="${shape.strokeWidth ?? 1}"`]),
    ...(shape.dash === undefined ? [] : [`stroke-dasharray="${shape.dash}"`]),
    ...(shape.dim === true ? ['opacity="0.3"'] : []),
  ].join(' ')
  switch (shape.shape) {
    case 'rect': {
      const place = `x="${shape.x}" y="${shape.y}" width="${shape.width}" height="${shape.height}" rx="${shape.radius ?? 0}"`
      const over = shape.pattern === undefined ? '' : `<rect ${place} fill="url(#${shape.pattern})"/>`
      return `<rect ${place} ${look}/>${over}`
    }
    case 'path': {
      const over = shape.pattern === undefined ? '' : `<path d="${shape.d}" fill="url(#${shape.pattern})"/>`
      return `<path d="${shape.d}" ${look}/>${over}`
    }
    case 'text': {
      const weight = shape.strong === true ? ' font-weight="600"' : ''
      return `<text x="${shape.x}" y="${shape.y}" text-anchor="${shape.anchor ?? 'start'}" ${look}${weight}>${escaped(shape.text)}</text>`
    }
  }
}

/** An SVG as PNG of twice its size; at most what engines draw on one canvas. */
export async function pngOf(svg: string, width: number, height: number): Promise<Blob> {
  const image = new Image()
  // An address inside of the page's policy: a blob would be refused.
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`
  await image.decode()
  const scale = Math.min(2, 16_000 / width, 16_000 / height)
  const canvas = document.createElement('canvas')
  canvas.width = Math.ceil(width * scale)
  canvas.height = Math.ceil(height * scale)
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
  return new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob === null ? reject(new Error('The picture is too large.')) : resolve(blob)),
      'image/png',
    )
  })
}
