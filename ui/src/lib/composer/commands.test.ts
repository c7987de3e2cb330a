import { expect, test } from 'vitest'
import { matching, readTyped } from './commands'

test('known commands, unknown ones and messages are told apart', () => {
  expect(readTyped('/stop')).toEqual({ kind: 'command', name: 'stop' })
  expect(readTyped(' /Pause ')).toEqual({ kind: 'command', name: 'pause' })
  expect(readTyped('/halt')).toEqual({ kind: 'unknown', typed: '/halt' })
  expect(readTyped('/src/login.ts')).toEqual({ kind: 'message' })
  expect(readTyped('/stop the server')).toEqual({ kind: 'message' })
  expect(readTyped('please /stop')).toEqual({ kind: 'message' })
})

test('the menu shows what fits', () => {
  expect(matching('/')).toEqual(['stop', 'pause', 'continue', 'finish'])
  expect(matching('/f')).toEqual(['finish'])
  expect(matching('/x')).toEqual([])
  expect(matching('text')).toEqual([])
  expect(matching('')).toEqual([])
})
