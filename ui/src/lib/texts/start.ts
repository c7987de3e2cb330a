/** The first screen: choose a folder, connect a model, or try the demo. */

/** The kinds of model server that are offered at first; the last one is filled in by hand. */
export type PresetName = 'cloud' | 'ollama' | 'lm_studio' | 'llama_cpp' | 'own'

export const start = {
  title: 'Choose a folder to work in.',
  promise: 'An agent that works inside one folder, asks before risky things, and can take back what it did.',
  open: 'Open folder',
  path: 'Path of the folder',
  openPath: 'Open',
  orPath: 'or type its path',
  opening: 'Opening folder…',
  recent: 'Recent projects',
  demo: {
    title: 'See it work first',
    body: 'A scripted model and a small sample project. No network, no key, about three minutes.',
    button: 'Try the demo, no account needed',
    starting: 'Preparing the sample project…',
  },
  connected: 'Model',
  change: 'Change',
} as const

export const connect = {
  title: 'Connect a model',
  body: 'Paddock talks to any server with the OpenAI-compatible chat interface. The key stays in the keyring of this computer.',
  kind: 'Where does the model run?',
  preset: {
    cloud: { name: 'Cloud provider', explains: 'with a key' },
    ollama: { name: 'Ollama', explains: 'on this computer' },
    lm_studio: { name: 'LM Studio', explains: 'on this computer' },
    llama_cpp: { name: 'llama.cpp', explains: 'on this computer' },
    own: { name: 'Own address', explains: 'any server' },
  } satisfies Record<PresetName, { name: string; explains: string }>,
  address: 'Address',
  addressHelp: 'Ends with /v1 for most servers.',
  label: 'Name',
  needsKey: 'This server wants a key',
  key: 'Key',
  keyHelp: 'Goes into the keyring, never into a file.',
  keyKept: 'A key is stored. Leave this empty to keep it.',
  show: 'Show key',
  hide: 'Hide key',
  model: 'Model',
  modelHelp: 'The name as its server knows it.',
  modelPlaceholder: 'Name of the model',
  list: 'List models',
  listing: 'Asking the server…',
  found: (n: number): string => (n === 0 ? 'The server lists no models.' : `${n} found`),
  check: 'Save and check',
  checking: 'Asking the model…',
  works: (firstByte: string): string => `It answers. First word after ${firstByte}.`,
  use: 'Use this model',
  later: 'Later',
  back: 'Back',
} as const
