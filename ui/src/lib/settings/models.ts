/** Models by name (`provider/model`), what each is used for, and what the person set for it: call format, corrections. */
import type { CallFormat, ModelChoice, ModelFormat, ModelOverride, Settings } from '$lib/protocol'
import type { ModelUse } from '$lib/texts/models'

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

/** What a model is chosen for in the settings. */
export function usesOf(settings: Settings | undefined, model: ModelChoice): ModelUse[] {
  if (settings === undefined) return []
  const { model: main, small, fallback } = settings
  const is = (choice: ModelChoice | null | undefined): boolean =>
    choice !== null && choice !== undefined && sameModel(choice, model)
  return [
    ...(is(main) ? (['main'] as const) : []),
    ...(is(small) ? (['small'] as const) : []),
    ...(is(fallback?.model) ? (['second'] as const) : []),
  ]
}

/** The corrections of a model; only what is set counts. */
export const overrideOf = (
  overrides: readonly ModelOverride[],
  model: ModelChoice,
): ModelOverride | undefined => overrides.find((kept) => sameModel(kept.model, model))

/** The corrections with those of one model replaced; without any they are dropped. */
export function withOverride(overrides: readonly ModelOverride[], changed: ModelOverride): ModelOverride[] {
  const others = overrides.filter((kept) => !sameModel(kept.model, changed.model))
  return Object.keys(changed).length > 1 ? [...others, changed] : others
}
