import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findIn, pretty, shownLines, visible } from './text'

/** Letters outside of strings without white space: what formatting must not touch. */
const tight = (text: string): string =>
  text.replace(/"(?:[^"\\]|\\.)*(?:"|$)|\s+/gs, (part) => (part.startsWith('"') ? part : ''))

describe('pretty', () => {
  test('objects and lists get lines of their own', () => {
    expect(pretty('{"a":1,"b":[true,{}],"c":"x, {y}"}')).toBe(
      '{\n  "a": 1,\n  "b": [\n    true,\n    {}\n  ],\n  "c": "x, {y}"\n}',
    )
  })

  test('numbers and double keys stay as they came', () => {
    expect(tight(pretty('{"id":12345678901234567890,"id":1.0e0}'))).toBe(
      '{"id":12345678901234567890,"id":1.0e0}',
    )
  })

  test('events of a stream are formatted one by one', () => {
    expect(pretty('event: x\ndata: {"a":1}\n\ndata: [DONE]')).toBe(
      'event: x\ndata: {\n  "a": 1\n}\n\ndata: [\n  DONE\n]',
    )
  })

  test('text that is no JSON is left alone', () => {
    expect(pretty('plain { words }\nmore')).toBe('plain { words }\nmore')
  })

  test('JSON that was cut off inside a string keeps every letter of it', () => {
    expect(pretty('{"value":"   ')).toBe('{\n  "value": "   ')
    expect(pretty('{"value":"a \\')).toBe('{\n  "value": "a \\')
    expect(pretty('{"value":')).toBe('{\n  "value":')
    expect(pretty('{} ')).toBe('{}')
  })

  test('nothing but white space ever changes, also in JSON that was cut off', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(60), (value, cut) => {
        const text = JSON.stringify({ value })
        const part = text.slice(0, Math.max(1, text.length - cut))
        expect(tight(pretty(part))).toBe(tight(part))
      }),
    )
  })
})

test('what cannot be seen is written out', () => {
  expect(visible('a\u202eb\u0007')).toBe('a\\u202eb\\u0007')
  expect(visible('tab\tstays')).toBe('tab\tstays')
})

test('a line of a megabyte is shown in pieces that add up to it', () => {
  const long = 'x'.repeat(1_000_000)
  const lines = shownLines(`first\n${long}\n`)
  expect(lines[0]).toBe('first')
  expect(lines.slice(1).join('')).toBe(long)
  expect(Math.max(...lines.map((line) => line.length))).toBe(2_000)
})

test('search finds every place whatever the case', () => {
  expect(findIn(['One two ONE', 'none'], 'one')).toEqual([
    { line: 0, from: 0, to: 3 },
    { line: 0, from: 8, to: 11 },
    { line: 1, from: 1, to: 4 },
  ])
  expect(findIn(['x'], '')).toEqual([])
})
