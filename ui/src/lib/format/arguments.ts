/** Arguments of a call as the view needs them. They are the model's words: anything may be in them. */

/** The arguments as an object; empty when they are not one. */
export function argumentsOf(raw: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(raw)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {}
  } catch {
    return {}
  }
}

/** A text argument, if there is one of that name. */
export function textArgument(raw: string, name: string): string | undefined {
  const value = argumentsOf(raw)[name]
  return typeof value === 'string' ? value : undefined
}

/**
 * The text argument of a call that is still being written: its JSON has no end yet.
 */
export function partialTextArgument(raw: string, name: string): string | undefined {
  const whole = textArgument(raw, name)
  if (whole !== undefined) return whole
  const start = new RegExp(`"${name}"\\s*:\\s*"`).exec(raw)
  if (start === null) return undefined
  const body = raw.slice(start.index + start[0].length)
  const end = /^(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/.exec(body)?.[0] ?? ''
  try {
    return JSON.parse(`"${end.replace(/\n/g, '\\n')}"`) as string
  } catch {
    return undefined
  }
}

/** Arguments in rows: name and value as text. */
export function argumentRows(raw: string): { name: string; value: string }[] {
  return Object.entries(argumentsOf(raw)).map(([name, value]) => ({
    name,
    value: typeof value === 'string' ? value : JSON.stringify(value, null, 1),
  }))
}
