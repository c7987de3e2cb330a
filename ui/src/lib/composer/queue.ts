/** The queue of messages as the person rearranges it: each step gives the whole new order. */
import type { QueuedMessage } from '$lib/protocol'

/** One place up or down; unchanged at the ends. */
export function moved(messages: readonly QueuedMessage[], id: number, by: 1 | -1): QueuedMessage[] {
  const at = messages.findIndex((message) => message.id === id)
  const other = messages[at + by]
  const one = messages[at]
  if (one === undefined || other === undefined) return [...messages]
  const next = [...messages]
  next[at] = other
  next[at + by] = one
  return next
}

/** With another text; an empty one removes the message. */
export function reworded(messages: readonly QueuedMessage[], id: number, text: string): QueuedMessage[] {
  const words = text.trim()
  if (words === '') return without(messages, id)
  return messages.map((message) => (message.id === id ? { ...message, text: words } : message))
}

export function without(messages: readonly QueuedMessage[], id: number): QueuedMessage[] {
  return messages.filter((message) => message.id !== id)
}
