import { expect, test } from 'vitest'
import { matching, matchingWorkflows, namedBy, readTyped } from './commands'

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

test('workflows are found by their name; a command of the same name comes first', () => {
  const workflows = ['clean-up', 'stop', 'explain'].map((name) => ({ name, title: name }))
  const names = (text: string): string[] => matchingWorkflows(text, workflows).map(({ name }) => name)
  expect(names('/')).toEqual(['clean-up', 'explain'])
  expect(names('/clean-')).toEqual(['clean-up'])
  expect(names('/stop')).toEqual([])
  expect(names('clean')).toEqual([])
  expect(namedBy(' /Clean-up ', workflows)?.name).toBe('clean-up')
  expect(namedBy('/clean-up now', workflows)).toBeUndefined()
  expect(namedBy('/src/clean-up', workflows)).toBeUndefined()
})
