/** Asks the worker to colour code. Without one, or when it fails, code stays plain: colour is never needed to read. */
import type { CodePiece } from './colour'
import type { Language } from './languages'

export interface Question {
  id: number
  code: string
  language: Language
}

export interface Answer {
  id: number
  lines?: CodePiece[][]
}

/** Longer code stays plain. */
const MOST_LINES = 500

/** Blocks that were coloured lately: rows of a virtual list come and go. */
const KEPT = 60

let worker: Worker | undefined
let broken = false
let nextId = 1
const waiting = new Map<number, (lines: CodePiece[][] | undefined) => void>()
const done = new Map<string, CodePiece[][]>()

function startWorker(): Worker | undefined {
  if (broken || typeof Worker === 'undefined') return undefined
  const started = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' })
  started.addEventListener('message', (event: MessageEvent<Answer>) => {
    waiting.get(event.data.id)?.(event.data.lines)
    waiting.delete(event.data.id)
  })
  started.addEventListener('error', () => {
    broken = true
    for (const resolve of waiting.values()) resolve(undefined)
    waiting.clear()
  })
  return started
}

/** Coloured lines that are known already. */
export function knownColours(code: string, language: Language): CodePiece[][] | undefined {
  return done.get(`${language}\n${code}`)
}

export async function highlight(code: string, language: Language): Promise<CodePiece[][] | undefined> {
  if (code.split('\n').length > MOST_LINES) return undefined
  const known = knownColours(code, language)
  if (known !== undefined) return known
  worker ??= startWorker()
  const asked = worker
  if (asked === undefined || broken) return undefined
  const lines = await new Promise<CodePiece[][] | undefined>((resolve) => {
    const id = nextId++
    waiting.set(id, resolve)
    asked.postMessage({ id, code, language } satisfies Question)
  })
  if (lines !== undefined) keep(`${language}\n${code}`, lines)
  return lines
}

function keep(key: string, lines: CodePiece[][]): void {
  done.set(key, lines)
  const oldest = done.keys().next()
  if (done.size > KEPT && oldest.done !== true) done.delete(oldest.value)
}
