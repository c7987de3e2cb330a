import { expect, test } from 'vitest'
import { colourCode } from './colour'
import { highlight } from './highlight'
import { languageOf } from './languages'

test('code is cut into pieces that keep every character', async () => {
  const code = "const answer = 'forty-two' // yes\n\nfn(answer, 42)"
  const lines = await colourCode(code, 'typescript')
  expect(lines.map((line) => line.map(([text]) => text).join('')).join('\n')).toBe(code)
  const styleOf = (word: string): string | undefined =>
    lines.flat().find(([text]) => text.trim() === word)?.[1]
  expect(styleOf('const')).toBe('syn-keyword')
  expect(styleOf('fn')).toBe('syn-function')
  expect(styleOf('42')).toBe('syn-number')
})

test.each([
  ['ts', 'typescript'],
  ['Rust', 'rust'],
  ['sh', 'bash'],
  ['constructor', undefined],
  ['', undefined],
])('the fence “%s” is %s', (name, language) => {
  expect(languageOf(name)).toBe(language)
})

test('without a worker code stays plain', async () => {
  expect(await highlight('let a', 'rust')).toBeUndefined()
})
