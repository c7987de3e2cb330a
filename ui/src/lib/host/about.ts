import { invoke } from '@tauri-apps/api/core'

/** What the core says about itself. */
export interface About {
  name: string
  version: string
}

/** Asks the core for its name and version. */
export function about(): Promise<About> {
  return invoke<About>('about')
}
