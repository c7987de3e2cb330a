/** The core inside of the desktop window: commands, one channel per watched session, the system's folder dialog. */
import { Channel, invoke } from '@tauri-apps/api/core'
import { listen } from '@tauri-apps/api/event'
import { open } from '@tauri-apps/plugin-dialog'
import { openUrl } from '@tauri-apps/plugin-opener'
import type { Event, Reply, SessionSnapshot } from '$lib/protocol'
import { EventGate, type Beginning, type Destination, type Host, type MenuCommand } from './host'

export function tauriHost(): Host {
  return {
    request: (request) => invoke<Reply>('request', { request }),

    async attach(session, onEvents) {
      const gate = new EventGate(onEvents)
      const channel = new Channel<Event[]>((events) => gate.push(events))
      const snapshot = await invoke<SessionSnapshot>('attach', { session, channel })
      gate.openSoon()
      return {
        snapshot,
        detach: () => void invoke('detach', { session }).catch(() => undefined),
      }
    },

    chooseFolder: () => open({ directory: true, multiple: false }),
    openLink: (address) => openUrl(address),

    onNavigate(listener) {
      const unlisten = listen<Destination>('navigate', (event) => listener(event.payload))
      return () => void unlisten.then((end) => end())
    },

    beginning: () => invoke<Beginning>('start'),

    onMenu(listener) {
      const unlisten = listen<{ command: MenuCommand }>('menu', (event) => listener(event.payload.command))
      return () => void unlisten.then((end) => end())
    },
  }
}
