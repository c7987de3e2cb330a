import { describe, expect, test } from 'vitest'
import { markedCounts, markedParts } from './characters'

const joined = (text: string): string =>
  markedParts(text)
    .map((part) => part.text)
    .join('')

describe('marked text', () => {
  test('an ordinary command is one plain part', () => {
    expect(markedParts('npm test -- "login" && echo ok > out.txt')).toEqual([
      { kind: 'plain', text: 'npm test -- "login" && echo ok > out.txt' },
    ])
  })

  test('accents and emoji are not marked', () => {
    expect(markedCounts('grep "größe naïve 日本語 🐎" notes')).toEqual({ hidden: 0, lookalike: 0 })
  })

  test('a direction override gets its code', () => {
    expect(markedParts('rm \u202efdp.exe')[1]).toEqual({
      kind: 'hidden',
      text: '\u202e',
      code: 'U+202E',
      why: 'direction',
    })
  })

  test.each([
    ['zero width space', '\u200b', 'invisible'],
    ['byte order mark', '\ufeff', 'invisible'],
    ['tag character', '\u{e0041}', 'invisible'],
    ['hangul filler', '\u3164', 'invisible'],
    ['non-breaking space', '\u00a0', 'invisible'],
    ['escape', '\u001b', 'control'],
    ['carriage return', '\r', 'control'],
    ['backspace', '\b', 'control'],
    ['isolate', '\u2066', 'direction'],
  ])('%s is hidden', (_, character, why) => {
    expect(markedParts(`a${character}b`)[1]).toMatchObject({ kind: 'hidden', why })
  })

  test('Cyrillic, Greek and full-width letters that look Latin are named', () => {
    expect(markedParts('pаypal')[1]).toMatchObject({ kind: 'lookalike', letter: 'a', code: 'U+0430' })
    expect(markedParts('gοogle')[1]).toMatchObject({ kind: 'lookalike', letter: 'o' })
    expect(markedParts('ｒm')[0]).toMatchObject({ kind: 'lookalike', letter: 'r' })
  })

  test('a long run of blanks that pushes a command away becomes a number', () => {
    expect(markedParts(`echo hi${' '.repeat(37)}; rm x`)[1]).toEqual({
      kind: 'blanks',
      text: ' '.repeat(37),
      count: 37,
    })
  })

  test('an indent stays as it is', () => {
    expect(markedParts('if true; then\n    ls\nfi')).toHaveLength(1)
  })

  test('nothing is lost', () => {
    const text = `a\u202eb${' '.repeat(40)}\u200bсс\n\n\n\n\nend`
    expect(joined(text)).toBe(text)
  })
})
