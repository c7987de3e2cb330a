import { expect, test } from 'vitest'
import { keyOf, turnKey } from './keys'

const press = (key: string, change: KeyboardEventInit = {}): KeyboardEvent =>
  new KeyboardEvent('keydown', { key, ...change })

test('stop and pause have their own keys on each system', () => {
  expect(turnKey(press('S', { ctrlKey: true, shiftKey: true }), false)).toBe('stop')
  expect(turnKey(press('P', { ctrlKey: true, shiftKey: true }), false)).toBe('pause')
  expect(turnKey(press('.', { metaKey: true }), true)).toBe('stop')
  expect(turnKey(press('>', { metaKey: true, shiftKey: true }), true)).toBe('pause')
})

test('other combinations are left alone', () => {
  expect(turnKey(press('s', { ctrlKey: true }), false)).toBeUndefined()
  expect(turnKey(press('c', { ctrlKey: true }), false)).toBeUndefined()
  expect(turnKey(press('.', { ctrlKey: true }), false)).toBeUndefined()
  expect(turnKey(press('S', { shiftKey: true }), false)).toBeUndefined()
})

test('the shown key is the one that works', () => {
  expect(keyOf('stop', false)).toBe('Ctrl+Shift+S')
  expect(keyOf('stop', true)).toBe('⌘.')
})
