/** Money and tokens of a session: the strip, the popover, the cards and the page of the settings. */
import { money, type Cost } from '$lib/format/money'
import type { LimitKind, UsageSource } from '$lib/protocol'
import { count, counted, duration, tokens } from './words'

const MINUTE = 60_000

/** A bound on money. */
export type MoneyBound = 'turn' | 'session' | 'day'

export const boundOf: Partial<Record<LimitKind, MoneyBound>> = {
  turn_money: 'turn',
  session_money: 'session',
  day_money: 'day',
}

/** What was spent in the strip: of a bound, of the session, or in tokens where no price is known. */
export function spentWords(cost: Cost, used: number, of: number | undefined, turn: boolean): string {
  if (cost.known === 'free') return strip.free
  if (cost.known === 'none') return strip.tokens(used)
  const amount = cost.known === 'part' ? strip.atLeast(money(cost.amount)) : money(cost.amount)
  if (of === undefined) return amount
  return turn ? strip.ofTurn(amount, money(of)) : strip.of(amount, money(of))
}

export const strip = {
  free: 'no cost',
  tokens: (used: number): string => `${tokens(used)} tokens`,
  tokensOf: (used: number, of: number): string => `${tokens(used)} of ${tokens(of)} tokens`,
  of: (used: string, of: string): string => `${used} of ${of}`,
  ofTurn: (used: string, of: string): string => `${used} of ${of} this turn`,
  atLeast: (amount: string): string => `at least ${amount}`,
  unpriced: 'price unknown',
  open: 'Budget',
} as const

export const budgetWords = {
  title: 'Budget',
  session: 'This session',
  turn: 'This turn',
  today: 'Today',
  tokens: 'Tokens',
  speed: 'Speed',
  source: 'By source',
  cached: 'Cached',
  none: 'no limit',
  of: (used: string, of: string | undefined): string => (of === undefined ? used : `${used} of ${of}`),
  noPrice: 'The price of this model is not known, so that no amount can be said. Tokens still count.',
  correct: 'Set a price…',
  part: 'A part of what was used has no known price and is not in the sum.',
  free: 'This model runs on your own machine: no cost.',
  perMinute: (amount: string): string => `${amount} per minute`,
  until: (millis: number): string =>
    `limit in about ${duration(millis < 2 * MINUTE ? millis : Math.round(millis / MINUTE) * MINUTE)} at this speed`,
  cachedShare: (percent: number): string => `${count(percent)} % of input`,
  share: (name: string, percent: number): string =>
    `${name} ${percent > 0 && percent < 1 ? '< 1' : count(Math.round(percent))} %`,
  sources: { main: 'Session', sub_agent: 'sub-agents', retry: 'retries' } satisfies Record<
    UsageSource,
    string
  >,
  estimate: 'Amounts are estimates from a price list, not the invoice.',
  raise: (to: string): string => `Raise to ${to}`,
  limit: (to: string): string => `Limit to ${to}`,
  own: 'Limit of the session in dollars',
  set: 'Set',
  remove: 'No limit',
  smaller: 'Use a smaller model',
  smallerNamed: (model: string): string => `Use ${model}`,
  pause: 'Pause after this iteration',
  tokenParts: (input: number, cached: number, output: number): string =>
    `${tokens(input)} in · ${tokens(cached)} from the cache · ${tokens(output)} out`,
  estimated: 'Partly estimated: the server did not count.',
} as const

/** A name of a model without its server. */
export const shortModel = (name: string): string => name.slice(name.indexOf('/') + 1)

export const proposal = {
  title: (model: string): string => `${model} costs money, and no limit is set.`,
  accept: (amount: string): string => `Limit each session to ${amount}`,
  later: 'Not now',
} as const

export const expensive = {
  title: (estimate: string): string => `The next request may cost about ${estimate}.`,
  left: (left: string): string => `${left} is left. Nothing was sent yet.`,
  send: 'Send it anyway',
  notAgain: 'Do not ask about cost again in this session',
} as const

/** The estimate beside an iteration's line. */
export const expectedWords = (amount: number): string => `about ${money(amount)}`

export const budgetPage = {
  intro:
    'Where a turn pauses and asks because of money. Amounts are estimates from a price list, not the invoice.',
  newSessions: 'New sessions start with these values; a session’s own limit is changed in its strip.',
  bound: {
    turn: { label: 'One turn', hint: 'Everything after one message of yours.' },
    session: { label: 'One session', hint: 'All turns of a session, with its sub-agents.' },
    day: { label: 'One day', hint: 'All sessions since midnight.' },
  } satisfies Record<MoneyBound, { label: string; hint: string }>,
  dollars: '$',
  noLimit: 'No limit',
  bad: 'Use an amount above 0, for example 2.50.',
  ask: 'Ask before expensive requests',
  askHint: 'Pauses before a request that is expected to cost more than a quarter of what is left.',
  today: 'Used today',
  tokens: 'Tokens of a session have their own limit under Limits.',
  unpriced: (known: string): string => `at least ${known}; a part has no known price`,
  requests: (n: number): string => counted(n, 'request', 'requests'),
} as const
