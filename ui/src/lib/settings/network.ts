/** What is typed on the network page. Pure. */

const SCHEMES = ['http:', 'https:', 'socks5:', 'socks5h:']

/** Whether an address can be the one of a proxy: a known scheme and a host. */
export function isProxyAddress(text: string): boolean {
  try {
    const { protocol, hostname } = new URL(text.trim())
    return SCHEMES.includes(protocol) && hostname !== ''
  } catch {
    return false
  }
}

/** Whether a path begins at the root of a system; the core reads the file itself. */
export const isWholePath = (text: string): boolean => /^(?:[/\\]|[a-z]:[/\\])/iu.test(text.trim())
