/**
 * Editing a call before it is approved. The arguments stay one JSON text; a form shows the one field that matters and
 * writes it back into that text. What the person typed is checked again by the core, never here.
 */
import type { ApprovalRequest } from '$lib/protocol'

/** The field of the arguments that a simple form edits. */
export interface EditField {
  name: string
  kind: 'command' | 'content' | 'replacement'
}

/** The arguments as an object, or nothing when they are not one. */
export function argumentsObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** The argument a simple form would edit: the command, the new content, or the new text of a replacement. */
export function editField(request: ApprovalRequest): EditField | undefined {
  const values = argumentsObject(request.arguments)
  const named = (name: string, kind: EditField['kind']): EditField | undefined =>
    typeof values?.[name] === 'string' ? { name, kind } : undefined
  switch (request.body.body) {
    case 'command':
      return named('command', 'command')
    case 'change':
      return (
        named('content', 'content') ??
        named('new_text', 'replacement') ??
        named('new_string', 'replacement') ??
        named('new', 'replacement')
      )
    default:
      return undefined
  }
}

/** The text of one argument. */
export function fieldText(argumentsText: string, field: EditField): string {
  const value = argumentsObject(argumentsText)?.[field.name]
  return typeof value === 'string' ? value : ''
}

/** The arguments with one text replaced; everything else stays as it was. */
export function withField(argumentsText: string, field: EditField, text: string): string {
  return JSON.stringify({ ...argumentsObject(argumentsText), [field.name]: text })
}

/** The arguments laid out for reading; the text itself when it is not JSON. */
export function prettyArguments(text: string): string {
  const values = argumentsObject(text)
  return values === undefined ? text : JSON.stringify(values, null, 2)
}

/** Names and values of the arguments for a table; texts as they are, the rest as JSON. */
export function argumentRows(text: string): { name: string; value: string }[] {
  return Object.entries(argumentsObject(text) ?? {}).map(([name, value]) => ({
    name,
    value: typeof value === 'string' ? value : JSON.stringify(value, null, 2),
  }))
}
