/** Ids and addresses of model servers. */
import type { ProviderConfig, ProviderId } from '$lib/protocol'

/** An id that no configured server has yet. */
export function freeId(wanted: ProviderId, taken: readonly ProviderConfig[]): ProviderId {
  const ids = new Set(taken.map((provider) => provider.id))
  if (!ids.has(wanted)) return wanted
  let number = 2
  while (ids.has(`${wanted}-${number}`)) number += 1
  return `${wanted}-${number}`
}

/** Whether an address can be the one of a server: `http` or `https`, with a host. */
export function isAddress(text: string): boolean {
  try {
    const { protocol, hostname } = new URL(text.trim())
    return (protocol === 'http:' || protocol === 'https:') && hostname !== ''
  } catch {
    return false
  }
}
