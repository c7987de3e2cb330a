/**
 * What is typed into a workflow's form, what is wrong with it, and the values that are sent.
 *
 * Only what needs no knowledge of the project is checked here. A pattern is left to the core: it comes from a file
 * of the project, and a hostile one could keep this page busy for minutes.
 */
import type { ParameterKind, ParameterValue, WorkflowParameter } from '$lib/protocol'
import { choiceOf } from '$lib/settings/models'
import { workflowForm as words } from '$lib/texts/workflows'

/** The state of one field: text as typed, a switch, or the chosen ones of several. */
export type Typed = string | boolean | readonly string[]

/** What stands in the fields, by name. */
export type Draft = Record<string, Typed>

/** A field that needs another look. */
export interface Fault {
  name: string
  label: string
  problem: string
}

function emptyOf(kind: ParameterKind): Typed {
  if (kind.kind === 'switch') return false
  return kind.kind === 'choices' ? [] : ''
}

/** Whether a kept or default value can stand in a field of this kind. */
export function fits(kind: ParameterKind, value: unknown): value is Typed {
  switch (kind.kind) {
    case 'switch':
      return typeof value === 'boolean'
    case 'choices':
      return (
        Array.isArray(value) && value.every((one) => typeof one === 'string' && kind.options.includes(one))
      )
    case 'choice':
      return typeof value === 'string' && (value === '' || kind.options.includes(value))
    default:
      return typeof value === 'string'
  }
}

/** The form as it begins: what was kept, else the defaults, else empty. */
export function startDraft(
  parameters: readonly WorkflowParameter[],
  kept: Record<string, unknown> = {},
): Draft {
  return Object.fromEntries(
    parameters.map(({ name, kind, default: usual }) => {
      const typed = typeof usual === 'number' ? String(usual) : usual
      const found = [kept[name], typed].find((value) => fits(kind, value))
      return [name, (found as Typed | undefined) ?? emptyOf(kind)]
    }),
  )
}

const isEmpty = (typed: Typed): boolean =>
  typeof typed === 'string' ? typed.trim() === '' : Array.isArray(typed) && typed.length === 0

/** The number that was typed; nothing when it is none. */
export function readNumber(typed: string): number | undefined {
  const text = typed.trim().replaceAll(',', '')
  const value = Number(text)
  return text === '' || !Number.isFinite(value) ? undefined : value
}

/** Whether a text is a day of the calendar, `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/u.test(text)) return false
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

/** Whether a path can lie inside of the project. */
export const isInside = (path: string): boolean =>
  !/^([/\\~]|[a-z]:)/iu.test(path) && !path.split(/[/\\]/u).includes('..')

function missing(kind: ParameterKind): string {
  if (kind.kind === 'choices') return words.fault.missingChoices
  return kind.kind === 'choice' || kind.kind === 'model' ? words.fault.missingChoice : words.fault.missing
}

function wrong(kind: ParameterKind, text: string): string | undefined {
  switch (kind.kind) {
    case 'number': {
      const value = readNumber(text)
      if (value === undefined) return words.fault.number
      const outside = value < (kind.min ?? -Infinity) || value > (kind.max ?? Infinity)
      return outside ? words.fault.range(words.range(kind.min, kind.max) ?? '') : undefined
    }
    case 'date':
      return isDate(text) ? undefined : words.fault.date
    case 'path':
      return isInside(text) ? undefined : words.fault.path
    case 'model':
      return choiceOf(text) === undefined ? words.fault.model : undefined
    default:
      return undefined
  }
}

/** What is wrong with one field, in words. */
export function problemOf({ kind, required }: WorkflowParameter, typed: Typed): string | undefined {
  if (kind.kind === 'switch') return undefined
  if (isEmpty(typed)) return required ? missing(kind) : undefined
  return typeof typed === 'string' ? wrong(kind, typed.trim()) : undefined
}

/** The fields that need another look, in the order of the form. */
export const faultsOf = (parameters: readonly WorkflowParameter[], draft: Draft): Fault[] =>
  parameters.flatMap((parameter) => {
    const { name, label } = parameter
    const problem = problemOf(parameter, draft[name] ?? emptyOf(parameter.kind))
    return problem === undefined ? [] : [{ name, label, problem }]
  })

function valueOf(kind: ParameterKind, typed: Typed): ParameterValue | undefined {
  if (isEmpty(typed)) return undefined
  if (typeof typed === 'boolean') return typed
  if (typeof typed !== 'string') return [...typed]
  if (kind.kind === 'number') return readNumber(typed)
  return kind.kind === 'text' || kind.kind === 'long_text' ? typed : typed.trim()
}

/** The values to send; fields that were left empty are left out. */
export const valuesOf = (
  parameters: readonly WorkflowParameter[],
  draft: Draft,
): Record<string, ParameterValue> =>
  Object.fromEntries(
    parameters.flatMap(({ name, kind }) => {
      const value = valueOf(kind, draft[name] ?? emptyOf(kind))
      return value === undefined ? [] : [[name, value]]
    }),
  )
