/** Keys that work everywhere in the window and belong to its frame. */
export type ShellKey =
  | 'sidebar'
  | 'panel'
  | 'changes'
  | 'processes'
  | 'map'
  | 'new'
  | 'open'
  | 'settings'
  | 'density'
  | 'next-region'
  | 'last-region'

const shifted: Readonly<Record<string, ShellKey>> = { d: 'changes', m: 'map', j: 'processes', y: 'density' }

export const onMac = (): boolean => navigator.platform.startsWith('Mac')

export function shellKey(event: KeyboardEvent, mac = onMac()): ShellKey | undefined {
  if (event.key === 'F6') return event.shiftKey ? 'last-region' : 'next-region'
  const mod = mac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey
  if (!mod) return undefined
  const key = event.key.toLowerCase()
  if (event.altKey) return key === 'b' && !event.shiftKey ? 'panel' : undefined
  if (event.shiftKey) return shifted[key]
  switch (key) {
    case 'b':
      return 'sidebar'
    case 'n':
      return 'new'
    case 'o':
      return 'open'
    case ',':
      return 'settings'
    default:
      return undefined
  }
}

/** A key as it is written in tooltips. */
export function shownKey(key: 'sidebar' | 'panel' | 'new' | 'settings', mac = onMac()): string {
  const keys = {
    sidebar: ['⌘B', 'Ctrl+B'],
    panel: ['⌥⌘B', 'Ctrl+Alt+B'],
    new: ['⌘N', 'Ctrl+N'],
    settings: ['⌘,', 'Ctrl+,'],
  } as const
  return keys[key][mac ? 0 : 1]
}
