/**
 * Markdown that is still being written, cut into blocks. Finished blocks are parsed once and keep their identity;
 * only the last one is parsed again when text arrives. Nothing here makes HTML: blocks are token trees.
 */
import { lexer, type Token } from 'marked'
import remend from 'remend'

export interface Block {
  /** Place of the block in the text: stable while text is appended. */
  key: number
  token: Token
}

export class MarkdownBlocks {
  #text = ''
  #frozen: Block[] = []
  /** Where the last block, which may still change, begins. */
  #border = 0

  /** The blocks of the text. While `streaming`, open markers of the last block are closed for display only. */
  update(source: string, streaming: boolean): readonly Block[] {
    const text = source.replace(/\r\n?/g, '\n')
    if (!text.startsWith(this.#text.slice(0, this.#border))) this.#restart()
    this.#text = text
    this.#freeze()
    const tail = text.slice(this.#border)
    const shown = streaming ? remend(tail) : tail
    return [...this.#frozen, ...place(lexer(shown, { gfm: true }), this.#border)]
  }

  #restart(): void {
    this.#frozen = []
    this.#border = 0
  }

  /** Moves the border behind all blocks but the last one, if the parser gave the text back unchanged. */
  #freeze(): void {
    const tail = this.#text.slice(this.#border)
    const tokens = lexer(tail, { gfm: true })
    let last = tokens.length - 1
    while (last > 0 && tokens[last]?.type === 'space') last--
    if (last <= 0 || tokens.map((token) => token.raw).join('') !== tail) return
    const finished = tokens.slice(0, last)
    this.#frozen = [...this.#frozen, ...place(finished, this.#border)]
    this.#border += finished.reduce((sum, token) => sum + token.raw.length, 0)
  }
}

function place(tokens: readonly Token[], from: number): Block[] {
  let key = from
  return tokens.flatMap((token) => {
    const block = { key, token }
    key += token.raw.length
    return token.type === 'space' || token.type === 'def' ? [] : [block]
  })
}
