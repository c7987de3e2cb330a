import { expect, test } from 'vitest'
import { profileLimits, profileOf, readValue, typedValue } from './profiles'

test('a set of limits is recognised as its profile until one value is changed', () => {
  expect(profileOf({ ...profileLimits.complex })).toBe('complex')
  expect(profileOf({ ...profileLimits.complex, iterations: 51 })).toBeUndefined()
})

test('values are typed in their unit', () => {
  expect(typedValue('active_time', 1_800_000)).toBe('30')
  expect(typedValue('active_time', null)).toBe('')
  expect(readValue('command_time', '90')).toBe(90_000)
  expect(readValue('session_tokens', '1,500,000')).toBe(1_500_000)
})

test('what is outside of the range is refused', () => {
  for (const typed of ['0', '201', '-1', '2.5', 'many', ''])
    expect(readValue('iterations', typed)).toBeUndefined()
})
