/** Images of messages and of calls. */
import type { SessionConfig } from '$lib/protocol'
import { count } from './words'

export const images = {
  tray: 'Attached images',
  remove: (name: string): string => `Remove ${name}`,
  pasted: 'pasted image',
  keeping: 'being kept…',
  badType: (name: string): string => `${name}: only PNG, JPEG, GIF and WebP images can be attached.`,
  tooLarge: (name: string): string => `${name} is larger than 5 MB.`,
  tooMany: (most: number): string => `A message takes at most ${count(most)} images.`,
  notKept: (name: string, why: string): string => `${name} could not be kept: ${why}`,
  blind: (model: string): string =>
    `${model} does not see images. It gets your words without them; a model that sees gets them too.`,
  unsure: (model: string): string => `It is not known whether ${model} sees images.`,
  of: (names: string): string => `Images: ${names}`,
  missing: (name: string): string => `${name} could not be read`,
} as const

/** What the person should know before images go to the model of a session. */
export function imageCaution({ model, facts }: SessionConfig): string | undefined {
  if (facts.images === true) return undefined
  return facts.images === false ? images.blind(model.model) : images.unsure(model.model)
}

export const effortWords = {
  label: 'How long the model may think',
  short: 'Effort',
  button: (effort: string): string => `Effort: ${effort}`,
  own: 'As the model does',
  ownWhy: 'Nothing is said about it.',
  why: {
    minimal: 'As little thinking as it can do with.',
    low: 'Quick answers.',
    medium: 'Some thinking first.',
    high: 'Long thinking: slower, and it costs more.',
  },
} as const
