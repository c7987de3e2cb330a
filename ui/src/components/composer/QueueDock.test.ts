import { fireEvent, render, screen, within } from '@testing-library/svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import type { Op } from '$lib/protocol'
import QueueDock from './QueueDock.svelte'

const onop = vi.fn<(op: Op) => void>()
const messages = [
  { id: 3, text: 'first' },
  { id: 5, text: 'second' },
  { id: 9, text: 'third' },
]

beforeEach(() => onop.mockReset())

const show = (held = false) => render(QueueDock, { queue: { messages, held }, onop })
const row = (text: string): HTMLElement => screen.getByRole('listitem', { name: `Queued: ${text}` })
const button = (text: string, name: string): HTMLElement => within(row(text)).getByRole('button', { name })
const orderSent = (): number[] | undefined => {
  const op = onop.mock.lastCall?.[0]
  return op?.op === 'set_queue' ? op.messages.map((message) => message.id) : undefined
}

test('an empty queue takes no room', () => {
  render(QueueDock, { queue: { messages: [], held: false }, onop })
  expect(screen.queryByRole('region')).toBeNull()
})

test('messages move by button and by key, and stop at the ends', async () => {
  show()
  await fireEvent.click(button('second', 'Move up'))
  expect(orderSent()).toEqual([5, 3, 9])
  await fireEvent.keyDown(row('second'), { key: 'ArrowDown', altKey: true })
  expect(orderSent()).toEqual([3, 9, 5])
  onop.mockReset()
  await fireEvent.keyDown(row('first'), { key: 'ArrowUp', altKey: true })
  expect(onop).not.toHaveBeenCalled()
  expect(button('first', 'Move up').hasAttribute('disabled')).toBe(true)
  expect(button('third', 'Move down').hasAttribute('disabled')).toBe(true)
})

test('a message is edited in place; Escape leaves it as it was', async () => {
  show()
  await fireEvent.click(button('second', 'Edit'))
  const field = screen.getByLabelText('Queued message')
  await fireEvent.input(field, { target: { value: 'other words' } })
  await fireEvent.keyDown(field, { key: 'Escape' })
  expect(onop).not.toHaveBeenCalled()
  await fireEvent.keyDown(row('second'), { key: 'Enter' })
  const again = await screen.findByLabelText('Queued message')
  await fireEvent.input(again, { target: { value: 'other words' } })
  await fireEvent.keyDown(again, { key: 'Enter' })
  expect(onop).toHaveBeenLastCalledWith({
    op: 'set_queue',
    messages: [messages[0], { id: 5, text: 'other words' }, messages[2]],
  })
})

test('a message is sent now or removed; the focus stays in the queue', async () => {
  show()
  await fireEvent.click(button('third', 'Send now'))
  expect(onop).toHaveBeenLastCalledWith({ op: 'send_queued', id: 9 })
  await fireEvent.keyDown(row('second'), { key: 'Delete' })
  expect(orderSent()).toEqual([3, 9])
  await vi.waitFor(() => expect(document.activeElement).toBe(row('third')))
})

test('messages that wait for the folder say so', () => {
  render(QueueDock, { queue: { messages, held: false }, waitsForFolder: true, onop })
  expect(screen.getByText('until the folder is free')).toBeTruthy()
})

test('a queue that a stop holds is released by the person', async () => {
  show(true)
  expect(screen.getByText(/held until you release/u)).toBeTruthy()
  await fireEvent.click(screen.getByTestId('queue-release'))
  expect(onop).toHaveBeenLastCalledWith({ op: 'release_queue' })
})

test('a message that takes images along says so, and keeps them when its words change', async () => {
  const images = ['a', 'b'].map((id) => ({ id, name: `${id}.png`, media_type: 'image/png', bytes: 9 }))
  render(QueueDock, { queue: { messages: [{ id: 3, text: 'first', images }], held: false }, onop })
  const queued = screen.getByRole('listitem', { name: 'Queued with 2 images: first' })
  expect(within(queued).getByText('2 images')).toBeTruthy()
  await fireEvent.click(within(queued).getByRole('button', { name: 'Edit' }))
  const field = within(queued).getByLabelText('Queued message')
  await fireEvent.input(field, { target: { value: 'other words' } })
  await fireEvent.click(within(queued).getByRole('button', { name: 'Save' }))
  expect(onop).toHaveBeenLastCalledWith({
    op: 'set_queue',
    messages: [{ id: 3, text: 'other words', images }],
  })
})
