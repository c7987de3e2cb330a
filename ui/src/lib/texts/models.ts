/** Models and their servers: what is known of one, how it is connected, tried and corrected. */
import { money } from '$lib/format/money'
import type {
  CallFormat,
  Effort,
  LinkState,
  LinkTest,
  ModelCost,
  ModelFacts,
  ModelTest,
  Price,
  ProviderKind,
} from '$lib/protocol'
import { counted, duration, tokens } from './words'

/** Below this a model has no room for the tools. */
export const LEAST_WINDOW = 16_384

/** What can be chosen a model for. */
export type ModelUse = 'main' | 'small' | 'second'

export const modelWords = {
  window: (window: number | undefined): string =>
    window === undefined ? 'window unknown' : `${tokens(window)} window`,
  free: 'no cost',
  unpriced: 'price unknown',
  perMillion: 'per million tokens',
  ability: { tools: 'tools', sees: 'sees', reasons: 'reasons' },
  noTools: 'no own tool calls',
  from: (from: string): string => `Known from: ${from}`,
  corrected: 'corrected',
  use: { main: 'new sessions', small: 'small', second: 'second choice' } satisfies Record<ModelUse, string>,
  tooSmall: (window: number): string =>
    `The model’s window is ${tokens(window)}. Paddock needs about ${tokens(LEAST_WINDOW)} to offer its tools.`,
  tooSmallRemedy: 'Start its server with a larger context, or correct the number if it is wrong.',
  effort: {
    minimal: 'Minimal',
    low: 'Low',
    medium: 'Medium',
    high: 'High',
  } satisfies Record<Effort, string>,
} as const

/** Prices of input and output: `$3.00 in · $15.00 out`. */
export const priceWords = ({ input, output }: Price): string => `${money(input)} in · ${money(output)} out`

export function costWords(cost: ModelCost): string {
  switch (cost.cost) {
    case 'unknown':
      return modelWords.unpriced
    case 'free':
      return modelWords.free
    case 'per_million':
      return priceWords(cost.price)
  }
}

/** Window and price in one line. */
export const factsLine = (facts: ModelFacts): string =>
  [modelWords.window(facts.window), costWords(facts.cost)].join(' · ')

/** What a model can, in words; what is not known is left out. */
export function abilityWords({ native_calls, images, reasoning }: ModelFacts): string[] {
  const { tools, sees, reasons } = modelWords.ability
  return [
    ...(native_calls === true ? [tools] : native_calls === false ? [modelWords.noTools] : []),
    ...(images === true ? [sees] : []),
    ...(reasoning === true ? [reasons] : []),
  ]
}

/** Nothing to worry about, or how small the window is. */
export const tooSmall = ({ window }: ModelFacts): number | undefined =>
  window !== undefined && window < LEAST_WINDOW ? window : undefined

export const links = {
  title: 'The way to the server',
  name: {
    address: 'Address',
    name: 'Name',
    proxy: 'Proxy',
    tcp: 'Connection',
    tls: 'Encryption',
    http: 'Server',
    key: 'Key',
    model: 'Model',
    reachable: 'Reachable',
    native_call: 'Tool call',
    two_calls: 'Two calls at once',
    text_call: 'Call as text',
    window: 'Window',
  } as Readonly<Record<string, string>>,
  state: {
    good: 'good',
    warning: 'has a problem',
    bad: 'failed',
    not_tried: 'not tried',
  } satisfies Record<LinkState, string>,
  works: 'Every link works.',
  breaks: (name: string): string => `It fails at: ${name}`,
  testing: 'Trying each link…',
} as const

export const linkName = ({ link }: LinkTest): string => links.name[link] ?? link

/** The link at which the way ends, if it does. */
export const brokenLink = (list: readonly LinkTest[]): LinkTest | undefined =>
  list.find(({ state }) => state === 'bad')

export const formatNames: Record<CallFormat, string> = {
  native: 'its own tool calls',
  json: 'calls as JSON',
  xml: 'calls as tags',
}

export const selfTest = {
  run: 'Test',
  again: 'Test again',
  running: 'Asking the model…',
  title: (model: string): string => `Self-test of ${model}`,
  format: (format: CallFormat): string => `Paddock uses ${formatNames[format]}.`,
  noFormat: 'No call format worked: the model cannot use tools.',
  firstByte: (millis: number): string => `First word after ${duration(millis)}.`,
} as const

/** What a self-test came to, in one sentence. */
export const testWords = ({ format, first_byte }: ModelTest): string =>
  format === undefined
    ? selfTest.noFormat
    : `It answers. ${selfTest.firstByte(first_byte)} ${selfTest.format(format)}`

export const catalogue = {
  search: 'Search models',
  none: (wanted: string): string => `Nothing found for “${wanted}”.`,
  empty: 'The server lists no models.',
  loading: 'Asking the server…',
  found: (n: number): string => counted(n, 'model', 'models'),
  more: (n: number): string => `${counted(n, 'more model', 'more models')}: search to see them.`,
  use: 'Use for new sessions',
  inUse: 'Used for new sessions',
  details: (model: string): string => `Details of ${model}`,
  typed: 'Not in the list? Type its name',
  unanswered: (label: string): string => `${label} did not answer`,
} as const

export const correction = {
  title: 'Prices and window can be corrected',
  window: 'Window in tokens',
  input: 'Input, $ per million',
  cached: 'Input from the cache',
  output: 'Output, $ per million',
  images: 'It sees images',
  asListed: 'as listed',
  yes: 'yes',
  no: 'no',
  save: 'Save',
  reset: 'As listed',
  free: 'It costs nothing',
  badNumber: 'Use a whole number above 0.',
  badPrice: 'Use an amount, for example 2.50.',
  bothPrices: 'Give both prices, for input and for output.',
} as const

export const provider = {
  kind: 'Protocol',
  kinds: {
    chat: 'Chat Completions (most servers)',
    responses: 'OpenAI Responses',
    anthropic: 'Anthropic Messages',
    gemini: 'Google Gemini',
  } satisfies Record<Exclude<ProviderKind, 'demo'>, string>,
  headers: 'Headers',
  headersWhy: 'Sent with every request, for gateways that want them. Not for keys.',
  headerName: 'Name of the header',
  headerValue: 'Value of the header',
  addHeader: 'Add a header',
  removeHeader: (name: string): string => `Remove the header ${name}`,
  more: 'Protocol and headers',
  models: 'Models',
  hideModels: 'Hide models',
  test: 'Test connection',
  modelsOf: (label: string): string => `Models of ${label}`,
  testOf: (label: string): string => `Test connection to ${label}`,
  keyPage: 'Make a key',
  variables: (names: readonly string[]): string => `A key in ${names.join(' or ')} is used too.`,
} as const

export const uses = {
  title: 'Which model for what',
  main: { label: 'New sessions', hint: 'Each session can switch at any time.', none: 'Choose a model' },
  small: {
    label: 'Small work',
    hint: 'Sub-agents and other small work; offered when a budget gets tight.',
    none: 'The model of the session',
  },
  second: {
    label: 'Second choice',
    hint: 'When the model of a session does not answer even after its further tries.',
    none: 'None: the turn pauses and asks',
  },
  unset: (label: string): string => `${label}: none`,
  choose: (label: string): string => `Choose a model: ${label}`,
} as const
