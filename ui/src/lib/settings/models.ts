/** Models by name (`provider/model`), and the format in which each is asked to call tools. */
import type { CallFormat, ModelChoice, ModelFormat } from '$lib/protocol'

/** The name of a model as workflows and figures write it. */
export const nameOf = ({ provider, model }: ModelChoice): string => `${provider}/${model}`

/** The model of a name; a model's own name may contain further slashes. */
export function choiceOf(name: string): ModelChoice | undefined {
  const cut = name.indexOf('/')
  return cut < 1 || cut === name.length - 1
    ? undefined
    : { provider: name.slice(0, cut), model: name.slice(cut + 1) }
}

export const sameModel = (one: ModelChoice, other: ModelChoice): boolean =>
  one.provider === other.provider && one.model === other.model

/** How a model is asked to call tools; natively when nothing is kept for it. */
export const formatOf = (formats: readonly ModelFormat[], model: ModelChoice): CallFormat =>
  formats.find((kept) => sameModel(kept.model, model))?.format ?? 'native'

/** The formats with one changed; only those that are not native are kept. */
export function withFormat(
  formats: readonly ModelFormat[],
  model: ModelChoice,
  format: CallFormat,
): ModelFormat[] {
  const others = formats.filter((kept) => !sameModel(kept.model, model))
  return format === 'native' ? others : [...others, { model, format }]
}
