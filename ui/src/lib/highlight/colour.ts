/** Code in coloured pieces. Runs in a worker; makes style names, never markup. */
import { createCssVariablesTheme, createHighlighterCore, type HighlighterCore } from '@shikijs/core'
import { createJavaScriptRegexEngine } from '@shikijs/engine-javascript'
import { grammars } from './grammars'
import type { Language } from './languages'

/** A piece of a line with the class that colours it; an empty class is plain text. */
export type CodePiece = [text: string, style: string]

const PREFIX = '--code-'

const styles: Record<string, string> = {
  'token-constant': 'syn-number',
  'token-string': 'syn-string',
  'token-string-expression': 'syn-string',
  'token-comment': 'syn-comment',
  'token-keyword': 'syn-keyword',
  'token-parameter': '',
  'token-function': 'syn-function',
  'token-punctuation': 'syn-punct',
  'token-link': 'syn-string',
  'token-inserted': 'syn-string',
  'token-deleted': 'syn-tag',
  'token-changed': 'syn-number',
}

const theme = createCssVariablesTheme({ name: 'tokens', variablePrefix: PREFIX, fontStyle: false })

let highlighter: Promise<HighlighterCore> | undefined

function styleOf(colour: string | undefined): string {
  const name = /^var\(--code-([a-z-]+)\)$/.exec(colour ?? '')?.[1]
  return name === undefined ? '' : (styles[name] ?? '')
}

export async function colourCode(code: string, language: Language): Promise<CodePiece[][]> {
  highlighter ??= createHighlighterCore({
    themes: [theme],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  })
  const shiki = await highlighter
  await shiki.loadLanguage(grammars[language])
  const lines = shiki.codeToTokensBase(code, {
    lang: language,
    theme: 'tokens',
    // The first line of a language compiles its grammar: half a second, the usual limit, can be too short for that.
    tokenizeTimeLimit: 10_000,
    tokenizeMaxLineLength: 2_000,
  })
  return lines.map((line) => line.map((token): CodePiece => [token.content, styleOf(token.color)]))
}
