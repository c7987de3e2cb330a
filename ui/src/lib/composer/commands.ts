/** The `/` commands of the composer, and the workflows that are reached the same way. */
import type { CommandName } from '$lib/texts/composer'

export const commandNames: readonly CommandName[] = ['stop', 'pause', 'continue', 'finish']

/** A workflow as the menu offers it. */
export interface NamedWorkflow {
  name: string
  title: string
}

/** What a typed text is: a known command, something that looks like one, or a message. */
export type Typed =
  { kind: 'command'; name: CommandName } | { kind: 'unknown'; typed: string } | { kind: 'message' }

/** A single word after a slash. */
const WORD = /^\/([a-z][\w-]*)$/iu

/** The workflow whose name was typed in full. */
export function namedBy(text: string, workflows: readonly NamedWorkflow[]): NamedWorkflow | undefined {
  const name = WORD.exec(text.trim())?.[1]?.toLowerCase()
  return workflows.find((workflow) => workflow.name.toLowerCase() === name)
}

/** Workflows whose name begins with what was typed so far; a command of the same name comes first. */
export function matchingWorkflows(text: string, workflows: readonly NamedWorkflow[]): NamedWorkflow[] {
  const match = /^\/([\w-]*)$/iu.exec(text)
  if (match === null) return []
  const begun = (match[1] ?? '').toLowerCase()
  return workflows.filter(
    ({ name }) => name.toLowerCase().startsWith(begun) && !commandNames.some((known) => known === name),
  )
}

/** Reads what was typed. A path such as `/src/a.ts` and a sentence that begins with one are messages. */
export function readTyped(text: string): Typed {
  const match = /^\/([a-z]+)$/iu.exec(text.trim())
  if (match === null) return { kind: 'message' }
  const name = commandNames.find((known) => known === match[1]?.toLowerCase())
  return name === undefined ? { kind: 'unknown', typed: text.trim() } : { kind: 'command', name }
}

/** Commands that fit what was typed so far; empty when no menu is to be shown. */
export function matching(text: string): CommandName[] {
  const match = /^\/([a-z]*)$/iu.exec(text)
  if (match === null) return []
  return commandNames.filter((name) => name.startsWith((match[1] ?? '').toLowerCase()))
}
