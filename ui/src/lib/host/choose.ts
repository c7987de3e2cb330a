/**
 * Which host the page talks to: recorded data (development builds only), a loopback socket, or the desktop window.
 */
import type { Host } from './host'

export async function chooseHost(query: URLSearchParams): Promise<Host> {
  if (import.meta.env.DEV || import.meta.env.MODE === 'fixture') {
    const fixture = query.get('fixture')
    if (fixture !== null) return (await import('./fixture')).fixtureHost(fixture)
  }
  const address = query.get('host')
  if (address !== null) return (await import('./socket')).socketHost(address)
  return (await import('./tauri')).tauriHost()
}
