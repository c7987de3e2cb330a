/** The keys of a turn, by system: Ctrl with a full stop belongs to the emoji chooser of some Linux desktops. */

export type TurnKey = 'stop' | 'pause' | 'limits' | 'waiting' | 'composer'

const onMac = (): boolean => navigator.platform.startsWith('Mac')

const shownKeys: Record<TurnKey, readonly [mac: string, other: string]> = {
  stop: ['⌘.', 'Ctrl+Shift+S'],
  pause: ['⇧⌘.', 'Ctrl+Shift+P'],
  limits: ['⇧⌘L', 'Ctrl+Shift+L'],
  waiting: ['⇧⌘A', 'Ctrl+Shift+A'],
  composer: ['⌘L', 'Ctrl+L'],
}

/** The key as it is shown beside a button. */
export const keyOf = (key: TurnKey, mac = onMac()): string => shownKeys[key][mac ? 0 : 1]

/** Which of the keys was pressed, if any. */
export function turnKey(event: KeyboardEvent, mac = onMac()): TurnKey | undefined {
  const mod = mac ? event.metaKey : event.ctrlKey
  if (!mod || event.altKey || event.repeat) return undefined
  const key = event.key.toLowerCase()
  if (mac && (key === '.' || key === '>')) return event.shiftKey ? 'pause' : 'stop'
  if (!event.shiftKey) return key === 'l' ? 'composer' : undefined
  switch (key) {
    case 's':
      return mac ? undefined : 'stop'
    case 'p':
      return mac ? undefined : 'pause'
    case 'l':
      return 'limits'
    case 'a':
      return 'waiting'
    default:
      return undefined
  }
}
