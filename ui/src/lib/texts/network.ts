/** The way from this machine to model servers: the page of the settings. */
import type { ProxySetting } from '$lib/protocol'

export type ProxyKind = ProxySetting['proxy']

export const networkPage = {
  intro: 'How Paddock reaches model servers. Servers on this computer are never reached through a proxy.',
  proxy: 'Proxy',
  kinds: {
    system: { name: 'As the system says', explains: 'From HTTPS_PROXY, ALL_PROXY and NO_PROXY.' },
    none: { name: 'None', explains: 'Every server is reached directly.' },
    own: { name: 'Own address', explains: 'One proxy for every server that is not on this computer.' },
  } satisfies Record<ProxyKind, { name: string; explains: string }>,
  address: 'Address of the proxy',
  addressHint: 'Begins with http://, https://, socks5:// or socks5h://.',
  addressBad: 'Use an address like http://proxy.example.com:3128.',
  except: 'Reached directly',
  exceptHint: 'Hosts separated by commas, as in NO_PROXY: .example.com, 10.0.0.0/8',
  save: 'Use this proxy',
  certificate: 'Extra certificates',
  certificateHint:
    'A PEM file with certificates to trust besides those of the system. Company networks often need one.',
  certificateField: 'Path of the PEM file',
  certificateBad: 'Give the whole path of the file.',
  use: 'Use',
  remove: 'Remove',
  offline: 'Offline',
  offlineHint: 'Only servers on this computer are asked. Nothing else leaves it for a model.',
  test: 'Connection test',
  testHint: 'Tries each link of the way to a server: name, proxy, connection, encryption, key.',
  server: 'Server',
  run: 'Test',
  noServer: 'Set up a server under Models first.',
} as const
