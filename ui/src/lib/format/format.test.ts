import { expect, test } from 'vitest'
import { argumentRows, partialTextArgument, textArgument } from './arguments'
import { settled, styled, unstyled } from './ansi'
import { cutOutput, firstLines, lastLines } from './output'
import { pathParts } from './path'
import { diffRows } from './words'

test('colours become style names, other codes disappear', () => {
  const pieces = styled(settled('\u001b[31mred\u001b[39m plain\u001b[2K \u001b[1mbold\u001b[0m'))
  expect(pieces.map((piece) => [piece.text, piece.styles])).toEqual([
    ['red', 'ansi-red'],
    [' plain ', ''],
    ['bold', 'ansi-bold'],
  ])
})

test('a carriage return overwrites its line', () => {
  expect(settled('10 %\r50 %\r100 %\r\nnext')).toBe('100 %\nnext')
  expect(unstyled('\u001b[32mok\u001b[0m\u0007')).toBe('ok')
})

test('long output keeps its first 40 and last 80 lines', () => {
  const text = Array.from({ length: 400 }, (_, line) => String(line)).join('\n')
  const cut = cutOutput(`${text}\n`)
  expect(cut.hidden).toBe(280)
  expect(cut.head.split('\n').length).toBe(40)
  expect(cut.tail.split('\n')[0]).toBe('320')
  expect(cutOutput('a\nb\n')).toEqual({ head: 'a\nb', tail: '', hidden: 0 })
  expect(lastLines('a\nb\nc\n', 2)).toBe('b\nc')
  expect(firstLines('a\nb\nc\n', 2)).toEqual({ text: 'a\nb', more: 1 })
})

test('a path keeps its first folder and its file', () => {
  expect(pathParts('src/a/b/login.ts')).toEqual({ first: 'src/', middle: 'a/b/', file: 'login.ts' })
  expect(pathParts('login.ts')).toEqual({ first: '', middle: '', file: 'login.ts' })
  expect(pathParts('/etc/hosts')).toEqual({ first: '/etc/', middle: '', file: 'hosts' })
})

test('arguments that are no object are empty', () => {
  expect(argumentRows('[1]')).toEqual([])
  expect(argumentRows('{"a":1,"b":"x"}')).toEqual([
    { name: 'a', value: '1' },
    { name: 'b', value: 'x' },
  ])
  expect(textArgument('{"a":1}', 'a')).toBeUndefined()
})

test('a text argument can be read while it is being written', () => {
  expect(partialTextArgument('{"result":"half\\na wo', 'result')).toBe('half\na wo')
  expect(partialTextArgument('{"result":"cut \\', 'result')).toBe('cut ')
  expect(partialTextArgument('{"res', 'result')).toBeUndefined()
})

test('changed lines are compared word by word, unlike lines are not', () => {
  const rows = diffRows(
    [
      { mark: 'same', text: 'a' },
      { mark: 'removed', text: '  setTimeout(check, 100)' },
      { mark: 'added', text: '  schedule(check, 100)' },
      { mark: 'added', text: 'entirely new' },
    ],
    10,
    12,
  )
  expect(rows.map((row) => [row.mark, row.oldLine, row.newLine])).toEqual([
    ['same', 10, 12],
    ['removed', 11, undefined],
    ['added', undefined, 13],
    ['added', undefined, 14],
  ])
  expect(rows[1]?.words.filter((word) => word.changed).map((word) => word.text)).toEqual(['setTimeout'])
  expect(rows[3]?.words).toEqual([{ text: 'entirely new', changed: false }])
})
