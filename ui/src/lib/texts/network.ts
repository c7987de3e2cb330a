/** The way from this machine to model servers: the page of the settings. */
import type { KeyState, ProxySetting } from '$lib/protocol'

export type ProxyKind = ProxySetting['proxy']

export const networkPage = {
  intro:
    'How Paddock reaches model servers and web pages. What is on this computer is never reached through a proxy.',
  proxy: 'Proxy',
  kinds: {
    system: { name: 'As the system says', explains: 'From HTTPS_PROXY, ALL_PROXY and NO_PROXY.' },
    none: { name: 'None', explains: 'Every server is reached directly.' },
    own: { name: 'Own address', explains: 'One proxy for every server that is not on this computer.' },
  } satisfies Record<ProxyKind, { name: string; explains: string }>,
  address: 'Address of the proxy',
  addressHint: 'Begins with http://, https://, socks5:// or socks5h://; without, http:// is meant.',
  except: 'Reached directly',
  exceptHint: 'Hosts separated by commas, as in NO_PROXY: .example.com, 10.0.0.0/8',
  save: 'Use this proxy',
  login: 'Login at the proxy',
  loginHint: 'Kept in the system’s keyring, never in the settings file.',
  user: 'User name',
  password: 'Password',
  setLogin: 'Set',
  replaceLogin: 'Replace',
  forgetLogin: 'Forget',
  keepLogin: 'Keep login',
  cancel: 'Cancel',
  certificate: 'Extra certificates',
  certificateHint:
    'A PEM file with certificates to trust besides those of the system. Company networks often need one.',
  certificateField: 'Path of the PEM file',
  certificateBad: 'Give the whole path of the file.',
  use: 'Use',
  remove: 'Remove',
  offline: 'Offline',
  offlineHint: 'Only servers on this computer are asked. Nothing else leaves it for a model or a page.',
  test: 'Connection test',
  testHint: 'Tries each link of the way to a server: name, proxy, connection, encryption, key.',
  server: 'Server',
  run: 'Test',
  noServer: 'Set up a server under Models first.',
} as const

/** Where the login of the proxy is, in words that never hide a problem. */
export function loginWords(login: KeyState): { text: string; good: boolean } {
  switch (login.key) {
    case 'in_keyring':
      return { text: 'A login is kept in the keyring.', good: true }
    case 'this_session_only':
      return { text: `A login is kept until you quit: ${login.why}`, good: false }
    case 'unavailable':
      return { text: `The keyring did not answer: ${login.why}`, good: false }
    case 'not_needed':
    case 'missing':
    case 'from_environment':
      return { text: 'None.', good: true }
  }
}
