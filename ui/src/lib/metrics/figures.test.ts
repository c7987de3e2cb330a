import { expect, test } from 'vitest'
import { noUsage } from '$lib/turn/usage'
import type { DayUsage, SourceUsage, Usage } from '$lib/protocol'
import { month } from '../../fixtures/metrics'
import {
  approvalFinding,
  approvalTable,
  dayFinding,
  iterationBars,
  iterationFinding,
  medianIterations,
  costWords,
  dayTable,
  sourceFinding,
  sourceTable,
  spans,
  sumOf,
  toolFinding,
  toolTable,
} from './figures'
import { niceTop } from './scale'
import { csvOf, number, text, time, type Table } from './table'

const used = (input: number): Usage => ({ ...noUsage, input })
const on = (day: string, input: number): DayUsage => ({ day, turns: 1, usage: used(input) })

test('findings say what the figures show', () => {
  expect(iterationFinding(month)).toBe(
    'Half of the 44 turns needed 5 iterations or fewer; 3 paused at the limit',
  )
  expect(toolFinding(month)).toBe('run_command failed most often: 15 of 76 calls (20 %)')
  expect(approvalFinding(month)).toBe(
    'You approved 87 % of what was asked; half of the decisions took 6.2 s or less',
  )
  expect(sourceFinding(month.usage)).toMatch(/^Sub-agents used 15 % of the tokens$/u)
})

test('findings of calm times', () => {
  const calm = { ...month, limit_hits: 0, tools: month.tools.map((one) => ({ ...one, failed: 0 })) }
  expect(iterationFinding(calm)).toBe('Half of the 44 turns needed 5 iterations or fewer')
  expect(toolFinding(calm)).toBe('None of 513 calls failed')
  expect(toolFinding({ ...month, tools: [] })).toBe('No tool was used')
  expect(approvalFinding({ ...month, approvals: { ...month.approvals, asked: 0 } })).toBe('Nothing was asked')
})

test('the median counts turns, not entries', () => {
  const list = [
    { iterations: 1, turns: 1 },
    { iterations: 2, turns: 1 },
    { iterations: 9, turns: 8 },
  ]
  expect(medianIterations({ ...month, iterations: list })).toBe(9)
  expect(medianIterations({ ...month, iterations: [] })).toBe(0)
})

test('the histogram reaches to the limit and loses no turn', () => {
  const { bars, limitAt } = iterationBars(month, 40)
  expect(bars).toHaveLength(40)
  expect(limitAt).toBe(40)
  expect(bars.flatMap(({ parts }) => parts).reduce((sum, part) => sum + part, 0)).toBe(44)
  const wide = iterationBars(month, 200)
  expect(wide.bars.length).toBeLessThanOrEqual(60)
  expect(wide.bars[0]?.label).toBe('1–4')
  expect(wide.bars.flatMap(({ parts }) => parts).reduce((sum, part) => sum + part, 0)).toBe(44)
})

test('days without a turn are shown as such; many days become weeks', () => {
  const week = spans([on('2026-03-04', 5), on('2026-03-01', 7)])
  expect(week.spans.map(({ day, usage }) => [day, usage.input])).toEqual([
    ['2026-03-01', 7],
    ['2026-03-02', 0],
    ['2026-03-03', 0],
    ['2026-03-04', 5],
  ])
  const long = spans([on('2026-01-01', 1), on('2026-01-05', 2), on('2026-06-01', 4)])
  expect(long.weeks).toBe(true)
  expect(long.spans[0]?.usage.input).toBe(3)
  expect(long.spans.reduce((sum, { usage }) => sum + sumOf(usage), 0)).toBe(7)
  expect(dayFinding([on('2026-03-01', 7_000), on('2026-03-04', 5)])).toBe(
    'Most tokens were used on March 1: 7 k',
  )
  expect(dayFinding([])).toBe('No tokens were used')
})

test('tables hold the figures as numbers', () => {
  const [first] = toolTable(month).rows
  expect(first?.map(({ raw }) => raw)).toEqual(['read_file', 212, 4, 1.9, 0, 0.012, 0.048, 0.264])
  expect(approvalTable(month).rows[0]?.map(({ raw }) => raw)).toEqual(['Approved', 55, 87.3])
})

test('what a model wrote cannot become a formula or a further cell', () => {
  const table: Table = {
    columns: [{ label: 'a' }, { label: 'b' }, { label: 'c' }],
    rows: [
      [text('=HYPERLINK("x")'), number(-3), time(1_500)],
      [text('a,"b"\nc'), text('@x'), text('plain')],
    ],
  }
  expect(csvOf(table)).toBe(`a,b,c\r\n"'=HYPERLINK(""x"")",-3,1.5\r\n"a,""b""\nc",'@x,plain\r\n`)
})

test('the top of an axis is round and has a round half', () => {
  expect([0, 1, 2, 3, 7, 9, 11, 34, 420, 61_000].map(niceTop)).toEqual([
    2, 2, 2, 4, 8, 10, 20, 40, 600, 80_000,
  ])
})

test('money stands beside the tokens; an unknown price is not nothing, and a sum that lacks a part says so', () => {
  const main = (model: string, usage: Usage): SourceUsage => ({ source: 'main', model, requests: 1, usage })
  const list = [
    main('a/dear', { ...used(400), cost: 1_300_000 }),
    main('b/partly', { ...used(300), cost: 20_000, unpriced: true }),
    main('c/strange', { ...used(200), unpriced: true }),
    main('d/own', used(100)),
  ]
  const at = sourceTable(list).columns.findIndex(({ label }) => label === 'Cost')
  expect(sourceTable(list).rows.map((row) => row[at])).toEqual([
    { raw: 1.3, shown: '$1.30' },
    { raw: 'at least 0.02', shown: 'at least $0.02' },
    { raw: 'unknown', shown: 'unknown' },
    { raw: 0, shown: 'no cost' },
  ])
  expect(costWords({ ...month, usage: list })).toBe('at least $1.32')
  expect(costWords({ ...month, usage: list.slice(2) })).toBe('unknown')
  expect(costWords({ ...month, usage: list.slice(3) })).toBe('no cost')
  const days = dayTable([
    on('2026-03-01', 0),
    { ...on('2026-03-02', 5), usage: { ...used(5), cost: 500_000 } },
  ])
  expect(days.rows.map((row) => row.at(-1)?.shown)).toEqual(['–', '$0.50'])
})
