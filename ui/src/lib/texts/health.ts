/** The health page: what was looked at on this machine, how it is, and what to do. */
import type { HealthItem, HealthState, TrialOutcome } from '$lib/protocol'
import { count, counted, moment } from './words'

/** Names of what is looked at; a new kind shows its own key until it has one. */
const names: Readonly<Record<string, string>> = {
  sandbox: 'Sandbox',
  keyring: 'Keyring',
  storage: 'Storage',
  shell: 'Shell and path',
  certificates: 'Certificates',
  proxy: 'Proxy',
  model: 'Model',
  network: 'Network',
  notifications: 'Notifications',
  graphics: 'Graphics',
  git: 'Git',
}

export const healthPage = {
  title: 'Health',
  intro: 'What this machine lets Paddock do, really tried.',
  close: 'Close the health page',
  again: 'Check again',
  checking: 'Checking…',
  first:
    'Looking at this machine. The sandbox is really tried: commands of Paddock try to break out of it. This takes a few seconds.',
  nothing: 'Nothing was looked at.',
  last: (at: number, now: number): string => `last check ${moment(at, now)}`,
  name: (key: string): string =>
    names[key] ?? key.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase()),
  state: { good: 'good', warning: 'to know', bad: 'not working' } satisfies Record<HealthState, string>,
  sum: (items: readonly HealthItem[]): string => {
    const bad = items.filter((item) => item.state === 'bad').length
    const warned = items.filter((item) => item.state === 'warning').length
    if (bad + warned === 0) return 'Everything is as it should be.'
    return [
      bad === 0 ? undefined : counted(bad, 'thing does not work', 'things do not work'),
      warned === 0 ? undefined : counted(warned, 'thing to know', 'things to know'),
    ]
      .filter((part) => part !== undefined)
      .join(' · ')
  },
  tested: (all: number): string => `What was tested (${count(all)})`,
  testedOf: (name: string): string => `What was tested: ${name}`,
  outcome: { held: 'held', broken: 'did not hold', not_tried: 'not tried' } satisfies Record<
    TrialOutcome,
    string
  >,
  fix: 'What to do',
  copy: 'Copy the steps',
  notCopied: 'The system did not let Paddock copy.',
} as const
