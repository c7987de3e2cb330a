import { fireEvent, render, screen, within } from '@testing-library/svelte'
import { tick } from 'svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import { fakeClock } from '$lib/approvals/clock.fixture'
import { changeRequest, connectRequest, deleteRequest } from '$lib/approvals/requests.fixture'
import { HostError } from '$lib/host/host'
import type { ApprovalRequest, Decision } from '$lib/protocol'
import ApprovalDockBed from './ApprovalDockBed.svelte'

const decide = vi.fn<(id: string, decision: Decision) => Promise<void>>()

fakeClock()
beforeEach(() => {
  decide.mockReset().mockResolvedValue()
})

const wait = async (millis: number): Promise<void> => {
  await vi.advanceTimersByTimeAsync(millis)
  await tick()
}

const writes = (number: number): ApprovalRequest[] =>
  Array.from({ length: number }, (_, at) =>
    changeRequest({ id: `w${at}`, requested: at, target: `src/file-${at}.ts` }),
  )

async function open(
  ...approvals: ApprovalRequest[]
): Promise<(next: { approvals: ApprovalRequest[] }) => Promise<void>> {
  const { rerender } = render(ApprovalDockBed, { approvals, decide })
  await fireEvent.click(screen.getByTestId('review-group'))
  // The dialog is loaded when it is needed.
  await vi.waitFor(() => screen.getByTestId('approve-group'))
  await wait(900)
  return rerender
}

async function press(): Promise<void> {
  const button = screen.getByTestId('approve-group')
  await fireEvent.pointerDown(button)
  await fireEvent.click(button, { detail: 1 })
  await wait(10)
}

const tickOf = (target: string): HTMLInputElement => screen.getByLabelText(`Approve ${target}`)

test('one alone is no group', () => {
  render(ApprovalDockBed, { approvals: [changeRequest(), deleteRequest()], decide })
  expect(screen.queryByTestId('review-group')).toBeNull()
})

test('each ticked row is decided by itself, the others stay', async () => {
  await open(...writes(4))
  await fireEvent.click(tickOf('src/file-2.ts'))
  await wait(400)
  expect(screen.getByTestId('approve-group').textContent).toContain('Approve 3 of 4')
  await press()
  expect(decide.mock.calls).toEqual(
    ['w0', 'w1', 'w3'].map((id) => [id, { answer: 'approve', scope: 'once' }]),
  )
})

test('nothing is ticked at first where it is dangerous', async () => {
  await open(connectRequest({ id: 'one', target: 'a' }), connectRequest({ id: 'two', target: 'b' }))
  expect(tickOf('a').checked).toBe(false)
  await press()
  expect(decide).not.toHaveBeenCalled()
})

test('a row that comes while the table is open is not ticked and holds the button back', async () => {
  const rerender = await open(...writes(2))
  await rerender({ approvals: writes(3) })
  await tick()
  expect(tickOf('src/file-2.ts').checked).toBe(false)
  await press()
  expect(decide).not.toHaveBeenCalled()
  await wait(900)
  await press()
  expect(decide.mock.calls.map(([id]) => id)).toEqual(['w0', 'w1'])
})

test('what did not count is said and the rest goes on', async () => {
  decide.mockRejectedValueOnce(new HostError({ code: 'not_found', message: 'It no longer waits.' }))
  await open(...writes(3))
  await press()
  expect(decide).toHaveBeenCalledTimes(3)
  expect(screen.getByText('1 decision did not count')).toBeTruthy()
})

test('a row opens the whole of it', async () => {
  await open(...writes(2))
  const dialog = within(screen.getByRole('dialog', { hidden: true }))
  expect(dialog.queryByText('Why asked')).toBeNull()
  const [row] = dialog.getAllByRole('button', { expanded: false, name: /Edit/u, hidden: true })
  if (row === undefined) throw new Error('no row')
  await fireEvent.click(row)
  expect(dialog.getByText('Why asked')).toBeTruthy()
})

test('all that wait can be rejected at once', async () => {
  render(ApprovalDockBed, { approvals: [...writes(1), deleteRequest()], decide })
  await wait(900)
  const arrow = screen.getByTestId('reject-menu')
  arrow.focus()
  await fireEvent.keyDown(arrow, { key: 'Enter' })
  await vi.waitFor(() => screen.getByText('Reject all 2 that wait'))
  await fireEvent.click(screen.getByText('Reject all 2 that wait'))
  await wait(10)
  expect(decide.mock.calls.map(([, decision]) => decision)).toEqual([
    { answer: 'reject', pause: false },
    { answer: 'reject', pause: false },
  ])
})
