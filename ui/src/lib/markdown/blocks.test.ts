import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MarkdownBlocks } from './blocks'
import { plainText, safeAddress } from './text'

const shape = (text: string): string[] =>
  new MarkdownBlocks().update(text, false).map(({ token }) => `${token.type}:${token.raw}`)

test('finished blocks keep their identity while text is appended', () => {
  const blocks = new MarkdownBlocks()
  const first = blocks.update('# Title\n\nOne paragraph.\n\nTwo', true)
  const second = blocks.update('# Title\n\nOne paragraph.\n\nTwo and more', true)
  expect(second[0]).toBe(first[0])
  expect(second[1]).toBe(first[1])
  expect(second.map((block) => block.key)).toEqual(first.map((block) => block.key))
})

test('open markers are closed for display only', () => {
  const blocks = new MarkdownBlocks()
  const [open] = blocks.update('some **bold', true)
  expect(JSON.stringify(open?.token)).toContain('"strong"')
  const [closed] = blocks.update('some **bold', false)
  expect(JSON.stringify(closed?.token)).not.toContain('"strong"')
})

test('a list that goes on after a blank line stays one list', () => {
  const blocks = new MarkdownBlocks()
  blocks.update('- a\n- b\n\n', true)
  expect(blocks.update('- a\n- b\n\n- c', true).length).toBe(1)
})

test('streamed in any pieces, the end is what parsing at once gives', () => {
  const parts = fc.constantFrom(
    '# A\n',
    '\n',
    'text ',
    '**b** ',
    '\n\n',
    '- item\n',
    '```ts\ncode\n```\n',
    '> q\n',
    '| a |\n| - |\n| 1 |\n',
  )
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 14 }), (pieces) => {
      const blocks = new MarkdownBlocks()
      let text = ''
      for (const piece of pieces) {
        text += piece
        blocks.update(text, true)
      }
      expect(blocks.update(text, false).map(({ token }) => `${token.type}:${token.raw}`)).toEqual(shape(text))
    }),
    { numRuns: 300 },
  )
})

test('a replaced text starts again', () => {
  const blocks = new MarkdownBlocks()
  blocks.update('one\n\ntwo\n\nthree', true)
  expect(blocks.update('other', false).map(({ token }) => token.raw)).toEqual(['other'])
})

test('only web and mail addresses can be opened', () => {
  expect(safeAddress('https://example.com/a')).toBe('https://example.com/a')
  expect(safeAddress('javascript:alert(1)')).toBeUndefined()
  expect(safeAddress('file:///etc/passwd')).toBeUndefined()
  expect(safeAddress('src/login.ts')).toBeUndefined()
})

test('entities become the characters they stand for', () => {
  expect(plainText('a &lt;b&gt; &amp; &#39;c&#x27; &unknown;')).toBe("a <b> & 'c' &unknown;")
})
