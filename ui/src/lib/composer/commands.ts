/** The `/` commands of the composer. */
import type { CommandName } from '$lib/texts/composer'

export const commandNames: readonly CommandName[] = ['stop', 'pause', 'continue', 'finish']

/** What a typed text is: a known command, something that looks like one, or a message. */
export type Typed =
  { kind: 'command'; name: CommandName } | { kind: 'unknown'; typed: string } | { kind: 'message' }

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
