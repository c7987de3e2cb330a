import { fireEvent, render, screen } from '@testing-library/svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import type { Op, Process } from '$lib/protocol'
import StopEverything from './StopEverything.svelte'

const onop = vi.fn<(op: Op) => void>()
const onclose = vi.fn()
const process = (id: string, command: string): Process => ({ id, call: 't1.i1.c1', command, started: 0 })
const processes = [process('p1', 'npm run dev'), process('p2', 'tsc --watch')]
const queued = [
  { id: 1, text: 'one' },
  { id: 2, text: 'two' },
]

beforeEach(() => {
  onop.mockReset()
  onclose.mockReset()
  render(StopEverything, { turn: 'Login', processes, queued, onop, onclose })
})

const uncheck = (name: string): Promise<boolean> => fireEvent.click(screen.getByLabelText(name))
const stop = (): Promise<boolean> => fireEvent.click(screen.getByTestId('stop-everything'))

test('lists turn, processes and messages, all checked, and stops them in one step', async () => {
  const boxes = screen.getAllByRole<HTMLInputElement>('checkbox')
  expect(boxes).toHaveLength(5)
  expect(boxes.every((box) => box.checked)).toBe(true)
  await stop()
  expect(onop.mock.calls).toEqual([[{ op: 'stop_everything' }]])
  expect(onclose).toHaveBeenCalled()
})

test('ends only what stays checked', async () => {
  await uncheck('npm run dev')
  await uncheck('one')
  expect(screen.getByTestId('stop-everything').textContent).toContain('Stop 3 of 5')
  await stop()
  expect(onop.mock.calls.map(([op]) => op)).toEqual([
    { op: 'stop' },
    { op: 'end_process', process: 'p2' },
    { op: 'set_queue', messages: [{ id: 1, text: 'one' }] },
  ])
})
