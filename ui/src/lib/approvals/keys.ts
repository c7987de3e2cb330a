/** The keys of a card while the focus is inside of it. In a field they edit text; only Mod+Enter leads out. */

export type CardKey =
  'main' | 'to-main' | 'reject' | 'reason' | 'edit' | 'remember' | 'why' | 'open' | 'leave' | 'next' | 'last'

export function cardKey(event: KeyboardEvent): CardKey | undefined {
  if (event.repeat || event.isComposing || event.defaultPrevented) return undefined
  const inField = event.target instanceof HTMLElement && event.target.closest('textarea, input') !== null
  if (event.altKey) {
    if (event.key === 'ArrowDown') return 'next'
    return event.key === 'ArrowUp' ? 'last' : undefined
  }
  if (event.ctrlKey || event.metaKey) return withModifier(event, inField)
  if (event.key === 'Escape') return 'leave'
  return inField ? undefined : LETTERS[event.key.toLowerCase()]
}

const LETTERS: Readonly<Record<string, CardKey>> = { e: 'edit', r: 'remember', w: 'why', o: 'open' }

function withModifier(event: KeyboardEvent, inField: boolean): CardKey | undefined {
  if (event.key === 'Enter') return inField ? 'to-main' : 'main'
  if (event.key !== 'Backspace' || inField) return undefined
  return event.shiftKey ? 'reason' : 'reject'
}
