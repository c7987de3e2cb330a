/**
 * Splits a part of a command line into its words, so that each can be a chip. It knows quotes and backslashes and
 * nothing else: what a shell would replace gives no words at all. Only the core decides what a rule covers.
 */

const ORDINARY = /^[^\s'"\\$`|&;<>(){}*?[\]~#!]$/u

/** The words of a simple command; nothing when a shell would make something else of it. */
export function wordsOf(text: string): string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  let quote: '"' | "'" | undefined
  const letters = [...text]
  for (let at = 0; at < letters.length; at++) {
    const letter = letters[at] ?? ''
    if (quote === "'") {
      if (letter === quote) quote = undefined
      else word = (word ?? '') + letter
    } else if (quote === '"') {
      if (letter === quote) quote = undefined
      else if (letter === '$' || letter === '`' || letter === '\\') return undefined
      else word = (word ?? '') + letter
    } else if (letter === '"' || letter === "'") {
      quote = letter
      word ??= ''
    } else if (letter === '\\') {
      const next = letters[++at]
      if (next === undefined || next === '\n') return undefined
      word = (word ?? '') + next
    } else if (/\s/u.test(letter)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (
      ORDINARY.test(letter) ||
      ((letter === '~' || letter === '#' || letter === '!') && word !== undefined)
    ) {
      word = (word ?? '') + letter
    } else {
      return undefined
    }
  }
  if (quote !== undefined) return undefined
  if (word !== undefined) words.push(word)
  return words.length === 0 ? undefined : words
}
