import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ApprovalRequest, Item } from '$lib/protocol'
import { commandRequest } from '$lib/approvals/requests.fixture'
import { turnIn } from '$lib/turn/turns.fixture'
import { laneName, barName } from '$lib/texts/map'
import { verbs } from '$lib/texts/timeline'
import { mapped, mapping, wide } from '../../fixtures/map'
import { axisOf, CUT_AFTER, placeOf, ticksOf } from './axis'
import { edgesOf, pathThrough } from './edges'
import { escaped, svgOf, traceOf } from './exports'
import { graphPicture, placed } from './graph'
import { filtered, neighbour, sorted } from './rows'
import { hitAt, type Picture } from './shapes'
import { LABELS, packed, timelinePicture } from './timeline'
import { laneOrder, turnMap, turnsOf, type MapBar, type TurnMap } from './turn'

const quiet = { now: 0, approvals: [] as ApprovalRequest[] }
const itemsOf = (fixture: ReturnType<typeof mapped>): Item[] =>
  Object.values(fixture.snapshots).flatMap((snapshot) => snapshot.items)

function mapOf(items: readonly Item[], turn = 2): TurnMap {
  const map = turnMap(items, turn, { ...quiet, now: items.at(-1)?.ended ?? 0 })
  if (map === undefined) throw new Error('no map')
  return map
}

const items = itemsOf(mapped())
const map = mapOf(items)
const axis = axisOf(map.bars, map.span)
const edges = edgesOf(map.bars, items)
const words = {
  lane: laneName,
  clock: String,
  pause: String,
  message: 'message',
  exit: String,
  verb: verbs,
  undo: 'undo',
  iteration: String,
}
const callItems = (all: readonly Item[], turn: number): number[] =>
  all.filter((item) => item.turn === turn && item.kind.type === 'call').map((item) => item.id)
const callsOf = (bars: readonly MapBar[]): number[] =>
  bars
    .filter((bar) => bar.subject === 'call')
    .map((bar) => bar.item)
    .sort((a, b) => a - b)
const hitItems = (picture: Picture, of: TurnMap): number[] =>
  callsOf(picture.hits.flatMap((hit) => of.bars.find((bar) => bar.key === hit.key) ?? []))

function whole(of: TurnMap, width = 1_200): Picture {
  const own = axisOf(of.bars, of.span)
  return timelinePicture(of, own, { width, from: 0, scale: (width - LABELS - 12) / own.length, words })
}

describe('the same calls everywhere', () => {
  test('bars, graph, table and trace have every call of the turn once, and no other', () => {
    const expected = callItems(items, 2)
    expect(expected.length).toBeGreaterThan(10)
    expect(callsOf(map.bars)).toEqual(expected)
    expect(callsOf(packed(map.bars).flatMap(({ rows }) => rows.flat()))).toEqual(expected)
    expect(hitItems(whole(map), map)).toEqual(expected)
    expect(hitItems(graphPicture(placed(map.bars, 700, 1), edges, { words }), map)).toEqual(expected)
    expect(callsOf(sorted(map.bars, { column: 'took', descending: true }))).toEqual(expected)
    const trace = JSON.parse(traceOf(map, laneName, (bar) => barName(bar))) as {
      traceEvents: { args?: { tool?: string; call?: string } }[]
    }
    const traced = trace.traceEvents.flatMap(({ args }) => (args?.tool === undefined ? [] : [args.call]))
    expect(traced).toEqual(map.bars.flatMap((bar) => (bar.subject === 'call' ? [bar.call] : [])))
  })

  test('a filter leaves the same in all of them', () => {
    const bars = filtered(map.bars, { without: ['read'], only: 'all' })
    const left = { ...map, bars }
    expect(bars.some((bar) => bar.lane === 'read')).toBe(false)
    expect(hitItems(whole(left), left)).toEqual(callsOf(bars))
    expect(hitItems(graphPicture(placed(bars, 700, 1), edgesOf(bars, items), { words }), left)).toEqual(
      callsOf(bars),
    )
  })
})

describe('bars', () => {
  const named = (target: string): MapBar => {
    const bar = map.bars.find((one) => one.target === target)
    if (bar === undefined) throw new Error(`no bar ${target}`)
    return bar
  }

  test('what the person approved waited until it began', () => {
    const bar = named('npm install --save-dev fake-clock')
    expect(bar.wait && bar.wait.to - bar.wait.from).toBe(5_400_000)
    expect(bar.decided).toBe('approved')
    expect(bar.busy?.from).toBe(bar.wait?.to)
    expect(bar.lane).toBe('network')
  })

  test('what a rule or the policy let run did not wait', () => {
    expect(named('npm test -- login').wait).toBeUndefined()
    expect(named('npm test -- login').exit).toBe(1)
  })

  test('an open approval says since when it waits', () => {
    const own = itemsOf(mapping())
    const call = own.findLast((item) => item.kind.type === 'call')
    if (call?.kind.type !== 'call') throw new Error('no call')
    const waiting: Item = { ...call, status: 'waiting', kind: { ...call.kind } }
    delete waiting.ended
    const asked = { ...commandRequest(), call: call.kind.call, requested: call.started + 100 }
    const bar = turnMap([...own.slice(0, -1), waiting], 1, {
      now: call.started + 9_100,
      approvals: [asked],
    })?.bars.find((one) => one.item === call.id)
    expect(bar?.wait).toEqual({ from: call.started + 100, to: call.started + 9_100 })
    expect(bar?.open).toBe(true)
  })

  test('an answer knows its tries, and at most how long its first word took', () => {
    const third = map.bars.find((bar) => bar.subject === 'answer' && bar.iteration === 3)
    expect(third?.retries).toHaveLength(1)
    const second = map.bars.find((bar) => bar.subject === 'answer' && bar.iteration === 2)
    expect(second?.lead && second.lead.to - second.lead.from).toBe(1_400)
  })

  test('a request without a word of its answer is open since the turn thinks', () => {
    const turn = turnIn({ state: 'thinking' }, { turn: 2, iteration: 9, status_since: map.span.to + 10 })
    const own = items.filter((item) => item.kind.type !== 'turn_summary')
    const bar = turnMap(own, 2, { now: map.span.to + 5_010, approvals: [], turn })?.bars.at(-1)
    expect(bar).toMatchObject({ subject: 'answer', iteration: 9, open: true })
    expect(bar && bar.span.to - bar.span.from).toBe(5_000)
  })

  test('turns are listed newest first, with the words that began them', () => {
    expect(turnsOf(items).map(({ turn, whole: all }) => [turn, all])).toEqual([
      [2, true],
      [1, true],
    ])
    expect(turnsOf(items.slice(3))[1]?.whole).toBe(false)
  })
})

describe('axis', () => {
  test('only stretches without work are cut, and only long ones', () => {
    const cuts = axis.stretches.filter((stretch) => stretch.cut)
    expect(cuts).toHaveLength(1)
    expect((cuts[0]?.to ?? 0) - (cuts[0]?.from ?? 0)).toBeGreaterThan(5_000_000)
    expect(axis.length).toBeLessThan(200_000)
  })

  test('time never runs backwards on it, and ticks name the moment at their place', () => {
    const span = fc.record({ from: fc.nat(4_000_000), length: fc.nat(100_000) })
    fc.assert(
      fc.property(fc.array(span, { minLength: 1, maxLength: 20 }), (spans) => {
        const bars = spans.map(({ from, length }) => {
          const own = { from, to: from + length }
          return { ...map.bars[1], subject: 'call', span: own, busy: own, retries: [], open: false } as MapBar
        })
        const all = { from: 0, to: Math.max(...bars.map((bar) => bar.span.to)) + 1 }
        const made = axisOf(bars, all)
        let last = -1
        for (let at = 0; at <= all.to; at += all.to / 50) {
          const place = placeOf(made, at)
          expect(place).toBeGreaterThanOrEqual(last)
          last = place
        }
        expect(placeOf(made, all.to)).toBeCloseTo(made.length, 3)
        for (const { from, to, length, cut } of made.stretches) {
          if (!cut) expect(length).toBe(to - from)
          else expect(bars.every((bar) => bar.span.to <= from || bar.span.from >= to)).toBe(true)
        }
        for (const tick of ticksOf(made, made.length / 10, { from: 0, to: made.length })) {
          expect(placeOf(made, tick.elapsed)).toBeCloseTo(tick.at, 3)
        }
      }),
    )
  })

  test('half a minute is not cut', () => {
    const at = (from: number): MapBar => ({
      ...(map.bars[1] as MapBar),
      subject: 'call',
      span: { from, to: from + 1 },
      busy: { from, to: from + 1 },
      retries: [],
    })
    const near = axisOf([at(0), at(CUT_AFTER)], { from: 0, to: CUT_AFTER + 1 })
    expect(near.stretches.some((stretch) => stretch.cut)).toBe(false)
    const far = axisOf([at(0), at(CUT_AFTER + 2)], { from: 0, to: CUT_AFTER + 3 })
    expect(far.stretches.some((stretch) => stretch.cut)).toBe(true)
  })
})

describe('edges', () => {
  const kinds = (kind: string): [string, string][] =>
    edges
      .filter((edge) => edge.kind === kind)
      .map(
        ({ from, to }) =>
          [from, to].map((key) => map.bars.find((bar) => bar.key === key)?.target ?? key) as [string, string],
      )

  test('a file that was read and then edited, a failure and the next try, a change and its undo', () => {
    expect(kinds('used')).toEqual([
      ['src/login.ts', 'src/login.ts'],
      ['test/login.test.ts', 'test/login.test.ts'],
    ])
    expect(kinds('retried')).toEqual([['npm test -- login', 'npm test -- login']])
    expect(kinds('undone')).toEqual([['test/login.test.ts', 'test/login.test.ts']])
    expect(kinds('asked')).toHaveLength(callItems(items, 2).length)
  })

  test('what is read in the same answer cannot have been used', () => {
    const same = items.map((item) => ({ ...item, iteration: Math.min(item.iteration, 1) }))
    expect(edgesOf(mapOf(same).bars, same).filter((edge) => edge.kind === 'used')).toEqual([])
  })

  test('a path leads from the first cause to the last effect and to nothing else', () => {
    const edit = edges.find((edge) => edge.kind === 'used')?.to ?? ''
    const lit = pathThrough(edit, edges)
    expect([...lit.bars].map((key) => map.bars.find((bar) => bar.key === key)?.iteration).sort()).toEqual([
      1, 1, 2, 2,
    ])
  })
})

describe('looking at it', () => {
  test('2 000 calls are drawn with a bounded number of shapes', () => {
    const many = itemsOf(wide())
    const all = mapOf(many, 1)
    expect(all.bars.filter((bar) => bar.subject === 'call')).toHaveLength(2_000)
    expect(whole(all).shapes.length).toBeLessThan(300)
    const seen = graphPicture(placed(all.bars, 900, 1), edgesOf(all.bars, many), {
      seen: { from: 5_000, to: 5_800 },
      words,
    })
    expect(seen.shapes.length).toBeLessThan(600)
  })

  test('keys go through every entry in time, and to the nearest one of the next lane', () => {
    let key: string | undefined
    const seen: string[] = []
    for (let step = 0; step < map.bars.length; step++) {
      key = neighbour(map.bars, key, key === undefined ? 'first' : 'next', laneOrder)?.key
      if (key !== undefined) seen.push(key)
    }
    expect(seen).toEqual(map.bars.map((bar) => bar.key))
    const down = neighbour(map.bars, map.bars.find((bar) => bar.lane === 'read')?.key, 'down', laneOrder)
    expect(down?.lane).toBe('write')
  })

  test('a press finds the bar under it', () => {
    const { hits } = whole(map)
    for (const hit of hits) {
      const found = hitAt(hits, hit.x + hit.width / 2, hit.y + hit.height / 2)
      expect(found === undefined ? undefined : Math.abs(found.y - hit.y)).toBe(0)
    }
    expect(hitAt(hits, -100, -100)).toBeUndefined()
  })
})

test('an exported picture is well formed whatever a call names itself', () => {
  const nasty = '<script>&"\u0000\ufffe'
  const own = map.bars.map((bar) => ({ ...bar, target: nasty }))
  const svg = svgOf(whole({ ...map, bars: own }), () => '#000000')
  expect(svg).not.toContain('<script>')
  expect(new DOMParser().parseFromString(svg, 'image/svg+xml').querySelector('parsererror')).toBeNull()
  expect(escaped(nasty)).toBe('&lt;script&gt;&amp;&quot;')
})
