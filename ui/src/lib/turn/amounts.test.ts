import { expect, test } from 'vitest'
import { ownAmount } from './amounts'

test('what is typed is in iterations, minutes and thousands of tokens', () => {
  expect(ownAmount('iterations', '15')).toBe(15)
  expect(ownAmount('active_time', ' 20 ')).toBe(1_200_000)
  expect(ownAmount('session_tokens', '300')).toBe(300_000)
})

test('what is no usable number adds nothing', () => {
  for (const typed of ['', '-5', '1.5', 'ten', '1e3', '999999'])
    expect(ownAmount('iterations', typed)).toBe(0)
})
