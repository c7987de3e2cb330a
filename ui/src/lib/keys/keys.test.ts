import { expect, test } from 'vitest'
import { focusRegion, nextRegion } from './regions'
import { shellKey } from './shell'

const key = (init: KeyboardEventInit): KeyboardEvent => new KeyboardEvent('keydown', init)

test('keys of the frame', () => {
  expect(shellKey(key({ key: 'F6' }), false)).toBe('next-region')
  expect(shellKey(key({ key: 'F6', shiftKey: true }), false)).toBe('last-region')
  expect(shellKey(key({ key: 'b', ctrlKey: true }), false)).toBe('sidebar')
  expect(shellKey(key({ key: 'b', ctrlKey: true, altKey: true }), false)).toBe('panel')
  expect(shellKey(key({ key: 'D', ctrlKey: true, shiftKey: true }), false)).toBe('changes')
  expect(shellKey(key({ key: 'M', ctrlKey: true, shiftKey: true }), false)).toBe('map')
  expect(shellKey(key({ key: 'J', ctrlKey: true, shiftKey: true }), false)).toBe('processes')
  expect(shellKey(key({ key: 'b', ctrlKey: true }), true)).toBeUndefined()
  expect(shellKey(key({ key: 'b' }), false)).toBeUndefined()
})

test('regions come round in the order of the page', () => {
  document.body.innerHTML =
    '<div data-region="a"><button></button></div><div data-region="b"><textarea></textarea></div>'
  const regions = [...document.querySelectorAll<HTMLElement>('[data-region]')]
  const [first, second] = regions
  expect(nextRegion(regions, null, 1)).toBe(first)
  expect(nextRegion(regions, document.querySelector('button'), 1)).toBe(second)
  expect(nextRegion(regions, document.querySelector('textarea'), 1)).toBe(first)
  expect(nextRegion(regions, document.querySelector('button'), -1)).toBe(second)
  if (second === undefined || first === undefined) throw new Error('no regions')
  focusRegion(second)
  expect(document.activeElement?.tagName).toBe('TEXTAREA')
  focusRegion(first)
  expect(document.activeElement).toBe(first)
})
