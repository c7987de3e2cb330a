/** The health of the machine in one line, for sidebar and rail: the worst thing that is known. */
import type { About, HealthState } from '$lib/protocol'
import { health as words } from '$lib/texts/sessions'

export interface HealthSummary {
  state: HealthState
  text: string
}

/** `worst` is what the last look found; before it there is the little that the program knows from its start. */
export function healthSummary(about: About, worst: HealthState | undefined): HealthSummary {
  const problems = [
    ...(about.sandbox.confined ? [] : [words.missing]),
    ...(about.keyring_problem === undefined ? [] : [words.keyring]),
  ]
  const state = worst ?? (problems.length > 0 ? 'warning' : 'good')
  if (problems.length > 1) return { state, text: words.several(problems.length) }
  if (problems[0] !== undefined) return { state, text: problems[0] }
  if (state !== 'good') return { state, text: words.worst[state] }
  return { state, text: about.sandbox.tier === 'full' ? words.good : words.reduced }
}
