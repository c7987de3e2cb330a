import { expect, test } from 'vitest'
import type { PlanTask, TaskState } from '$lib/protocol'
import { Story } from '../../fixtures/build'
import { changedTasks, lastPlan, planAt, planOf, progressOf } from './plan'

const task = (text: string, state: TaskState): PlanTask => ({ text, state })

test('progress leaves dropped tasks out and names the one that goes on', () => {
  const tasks = [task('a', 'done'), task('b', 'doing'), task('c', 'open'), task('d', 'dropped')]
  expect(progressOf(tasks)).toEqual({ done: 1, of: 3, now: 'b' })
  expect(progressOf([])).toEqual({ done: 0, of: 0, now: undefined })
})

test('what changed is told by text and state, and nothing has changed in a first list', () => {
  const before = [task('a', 'doing'), task('b', 'open')]
  const after = [task('a', 'done'), task('b', 'open'), task('c', 'doing')]
  expect(changedTasks(before, after)).toEqual(new Set([0, 2]))
  expect(changedTasks([], after)).toEqual(new Set())
})

test('the list is read from the arguments of its call, whatever else is in them', () => {
  const story = new Story('s', 'Plan')
  story.you('Go')
  story.next()
  const bad = story.call('plan', '', {
    arguments: { tasks: [{ text: 'x', state: 'half' }, { state: 'done' }, 'loose', null, { text: 4 }] },
  })
  expect(planOf(bad)).toEqual([task('x', 'open')])
  expect(planOf({ ...bad, arguments: '{"tasks": [{"te' })).toEqual([])
  expect(planOf({ ...bad, arguments: '{"tasks": 3}' })).toEqual([])
  story.call('plan', '', { arguments: { tasks: [task('x', 'done')] } })
  story.call('plan', '', { arguments: { tasks: [task('x', 'open')] }, status: 'failed' })
  const last = lastPlan(story.items)
  expect(planAt(story.items, last)).toEqual([task('x', 'done')])
  expect(planAt(story.items, lastPlan(story.items, last))).toEqual([task('x', 'open')])
  expect(lastPlan(story.items, 0)).toBe(-1)
})
