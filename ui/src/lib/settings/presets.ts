/** The kinds of model server that are offered at first, with the address each one has out of the box. */
import type { ProviderConfig, ProviderId } from '$lib/protocol'
import type { PresetName } from '$lib/texts/start'

export interface Preset {
  id: ProviderId
  label: string
  base_url: string
  needs_key: boolean
}

export const presets: Record<PresetName, Preset> = {
  cloud: { id: 'cloud', label: 'OpenAI', base_url: 'https://api.openai.com/v1', needs_key: true },
  ollama: { id: 'ollama', label: 'Ollama', base_url: 'http://127.0.0.1:11434/v1', needs_key: false },
  lm_studio: { id: 'lm-studio', label: 'LM Studio', base_url: 'http://127.0.0.1:1234/v1', needs_key: false },
  llama_cpp: { id: 'llama-cpp', label: 'llama.cpp', base_url: 'http://127.0.0.1:8080/v1', needs_key: false },
  own: { id: 'server', label: '', base_url: '', needs_key: false },
}

export const presetNames = Object.keys(presets) as PresetName[]

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
