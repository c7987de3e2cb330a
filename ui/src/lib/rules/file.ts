/**
 * Rules as a file: written out to be taken along, read in to be looked at. What a file says is checked word by word; a
 * rule of an unknown form makes the whole file unreadable, so that nothing is half understood.
 */
import type { RuleAnswer, RuleDraft, RuleEnd, RuleInfo, RuleScope, RuleShape, WordShape } from '$lib/protocol'
import { draftOf } from './desk.svelte'

const VERSION = 1
/** More rules than this are no file of a person. */
const MOST = 500

export function writeRules(rules: readonly RuleInfo[]): string {
  return JSON.stringify({ paddock_rules: VERSION, rules: rules.map(draftOf) }, null, 2)
}

/** The rules of a file; nothing when it is not one. */
export function readRules(text: string): RuleDraft[] | undefined {
  let file: unknown
  try {
    file = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(file) || file['paddock_rules'] !== VERSION || !Array.isArray(file['rules'])) return undefined
  const list: unknown[] = file['rules']
  if (list.length > MOST) return undefined
  const rules = list.map(draft)
  return rules.every((rule) => rule !== undefined) ? rules : undefined
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

function draft(value: unknown): RuleDraft | undefined {
  if (!isObject(value)) return undefined
  const shape = shapeIn(value['shape'])
  const scope = scopeIn(value['scope'])
  const end = endIn(value['end'])
  const answer = value['answer']
  if (shape === undefined || scope === undefined || end === undefined || !isAnswer(answer)) return undefined
  return { shape, answer, scope, end }
}

const isAnswer = (value: unknown): value is RuleAnswer =>
  value === 'allow' || value === 'ask' || value === 'never'

/** Rules of a turn or a session are not taken along. */
function scopeIn(value: unknown): RuleScope | undefined {
  if (!isObject(value)) return undefined
  const { scope } = value
  return scope === 'project' || scope === 'everywhere' ? { scope } : undefined
}

function endIn(value: unknown): RuleEnd | undefined {
  if (!isObject(value)) return undefined
  const { end, at, days } = value
  if (end === 'never') return { end }
  if (end === 'at' && Number.isSafeInteger(at)) return { end, at: at as number }
  return end === 'unused' && Number.isSafeInteger(days) ? { end, days: days as number } : undefined
}

function shapeIn(value: unknown): RuleShape | undefined {
  if (!isObject(value)) return undefined
  const { shape, path, host, server, tool, write } = value
  if (shape === 'command') return commandIn(value['words'])
  if (shape === 'write_path' && isText(path)) return { shape, path }
  if (shape === 'host' && isText(host)) return { shape, host }
  if (shape === 'outside' && isText(path) && typeof write === 'boolean') return { shape, path, write }
  return shape === 'external_tool' && isText(server) && isText(tool) ? { shape, server, tool } : undefined
}

function commandIn(value: unknown): RuleShape | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined
  const list: unknown[] = value
  const words = list.map(wordIn)
  return words.every((word) => word !== undefined) ? { shape: 'command', words } : undefined
}

function wordIn(value: unknown): WordShape | undefined {
  if (!isObject(value)) return undefined
  const { word, text, texts } = value
  if (word === 'any' || word === 'rest') return { word }
  if (word === 'exact' && typeof text === 'string') return { word, text }
  const several = Array.isArray(texts) && texts.length > 0 && texts.every((one) => typeof one === 'string')
  return word === 'one_of' && several ? { word, texts: texts as string[] } : undefined
}
