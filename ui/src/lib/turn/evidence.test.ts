import { expect, test } from 'vitest'
import type { Item, ItemKind } from '$lib/protocol'
import { attempts, checkRuns, repetitions, turnWork, unknownCalls } from './evidence'

let next = 1
const item = (iteration: number, kind: ItemKind): Item => ({
  id: next++,
  turn: 1,
  iteration,
  started: 0,
  status: 'done',
  kind,
})
const call = (id: string, target: string, text = '', paths: string[] = []): ItemKind => ({
  type: 'call',
  call: id,
  server_id: '',
  tool: 'run_command',
  arguments: '{}',
  verb: 'run',
  target,
  classes: ['command'],
  output: {
    ok: false,
    text,
    duration: 1,
    changes: paths.map((path) => ({
      path,
      kind: { change: 'edited' },
      added: 1,
      removed: 0,
      undoable: true,
    })),
  },
})

const items = [
  item(1, call('c1', 'npm test', 'Running\n1 failed\n', ['a.ts'])),
  item(2, call('c2', 'ls')),
  item(3, call('c3', 'npm test', '1 failed', ['a.ts', 'b.ts'])),
]

test('equal calls of the guard stand together with their iterations', () => {
  const guard = item(3, { type: 'guard', pattern: 'same_call', calls: ['c1', 'c3'], paused: true })
  expect(repetitions([...items, guard])).toMatchObject([
    { times: 2, iterations: [1, 3], call: { target: 'npm test' } },
  ])
})

test('the tries of the breaker say their last line', () => {
  const breaker = item(3, { type: 'breaker', tool: 'run_command', calls: ['c1', 'c3'] })
  expect(attempts([...items, breaker]).map((one) => [one.iteration, one.reason])).toEqual([
    [1, '1 failed'],
    [3, '1 failed'],
  ])
})

test('the runs of the check are those since it was counted from 1', () => {
  const run = (id: string, attempt: number, text: string): Item => {
    const kind = call(id, 'npm test', text)
    return item(4, kind.type === 'call' ? { ...kind, check: { attempt, of: 3 } } : kind)
  }
  const all = [run('k1', 1, 'old'), ...items, run('k2', 1, '2 failed'), ...items, run('k3', 2, '1 failed\n')]
  expect(checkRuns(all).map(({ call: one, reason }) => [one.call, reason])).toEqual([
    ['k2', '2 failed'],
    ['k3', '1 failed'],
  ])
  expect(checkRuns(items)).toEqual([])
})

test('a changed file counts once', () => {
  expect(turnWork(items, 1)).toEqual({ calls: 3, filesChanged: 2 })
  expect(turnWork(items, 2)).toEqual({ calls: 0, filesChanged: 0 })
})

test('calls of unknown outcome are the ones the recovery names', () => {
  const recovery = item(3, { type: 'recovery', unknown: ['c2'] })
  expect(unknownCalls([...items, recovery]).map((one) => one.target)).toEqual(['ls'])
  expect(unknownCalls(items)).toEqual([])
})
