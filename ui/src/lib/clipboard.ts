/** Copying, said by the live region; false when the system refuses. */
import { announcer } from './announce'
import { timeline } from './texts/timeline'

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    return false
  }
  announcer.say(timeline.copied)
  return true
}
