import { expect, test } from 'vitest'
import { profiles } from '../../fixtures/places'
import { profileOf, readValue, typedValue } from './profiles'

test('a set of limits is recognised as its profile until one value is changed', () => {
  const complex = profiles.find((one) => one.profile === 'complex')
  if (complex === undefined) throw new Error('no such profile')
  expect(profileOf({ ...complex.limits }, profiles)).toBe('complex')
  expect(profileOf({ ...complex.limits, iterations: 51 }, profiles)).toBeUndefined()
  expect(profileOf({ ...complex.limits, guard: 'off' }, profiles)).toBeUndefined()
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
