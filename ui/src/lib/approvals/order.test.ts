import { expect, test } from 'vitest'
import { inOrder, isDangerous } from './order'
import { changeRequest, commandRequest, deleteRequest, outsideRequest } from './requests.fixture'

test('the oldest iteration first, and within one iteration the dangerous before the rest', () => {
  const write = changeRequest()
  const remove = deleteRequest()
  const command = commandRequest()
  expect(inOrder([outsideRequest(), write, remove, command]).map((request) => request.id)).toEqual([
    command.id,
    remove.id,
    write.id,
    outsideRequest().id,
  ])
})

test('calls of the same kind keep the order in which they were asked', () => {
  const first = commandRequest({ id: 'a', requested: 1 })
  const second = commandRequest({ id: 'b', requested: 2 })
  expect(inOrder([second, first]).map((request) => request.id)).toEqual(['a', 'b'])
})

test('red is for deletion and for what reaches out and cannot be taken back', () => {
  const lost = { undo: 'not_covered', why: 'it is outside' } as const
  expect(isDangerous(deleteRequest())).toBe(true)
  expect(isDangerous(outsideRequest({ undo: lost }))).toBe(true)
  expect(isDangerous(outsideRequest())).toBe(false)
  expect(isDangerous(commandRequest({ undo: lost }))).toBe(false)
})
