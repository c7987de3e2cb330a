/** Reads the question of the agent from the arguments of its call, tolerating any form. */
import type { CallItem } from '$lib/protocol'
import { argumentsObject } from './edits'

export interface Question {
  question: string
  options: string[]
  /** Whether the arguments had the expected form. */
  readable: boolean
}

export function questionOf(call: CallItem): Question {
  const values = argumentsObject(call.arguments)
  const { question, options } = values ?? {}
  return {
    question: typeof question === 'string' && question !== '' ? question : call.target,
    options: Array.isArray(options) ? options.filter((option) => typeof option === 'string') : [],
    readable: typeof question === 'string',
  }
}
