/**
 * Numbers, plurals, sizes and times in the words of the interface.
 *
 * Every other module of the catalogue builds on these, so that a figure looks the same everywhere. Only `Intl`
 * decides about digits and plural forms.
 */

const LOCALE = 'en'

const plain = new Intl.NumberFormat(LOCALE)
const short = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 1 })
const rules = new Intl.PluralRules(LOCALE)
const listing = new Intl.ListFormat(LOCALE, { type: 'conjunction' })
const dayAndMonth = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short' })
const hourAndMinute = new Intl.DateTimeFormat(LOCALE, {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** A piece of a sentence: plain words, or a name that is set apart and keeps its own writing direction. */
export type Piece = string | { name: string }

/** A whole number with separators: `12,400`. */
export const count = (value: number): string => plain.format(value)

/** A number with its noun in the right form: `1 file`, `3 files`. */
export function counted(value: number, one: string, other: string): string {
  return `${count(value)} ${rules.select(value) === 'one' ? one : other}`
}

/** Several things in a row: `a, b, and c`. */
export const listed = (things: readonly string[]): string => listing.format(things)

/** Tokens, rounded: `840`, `48 k`, `1.2 M`. */
export function tokens(value: number): string {
  if (value < 1_000) return count(value)
  if (value < 100_000) return `${short.format(value / 1_000)} k`
  if (value < 1_000_000) return `${count(Math.round(value / 1_000))} k`
  return `${short.format(value / 1_000_000)} M`
}

/** A running time as a clock: `0:48`, `1:02:07`. */
export function clock(millis: number): string {
  const all = Math.max(0, Math.floor(millis / SECOND))
  const two = (value: number): string => String(value).padStart(2, '0')
  const minutes = Math.floor(all / 60) % 60
  const hours = Math.floor(all / 3_600)
  return hours > 0 ? `${hours}:${two(minutes)}:${two(all % 60)}` : `${minutes}:${two(all % 60)}`
}

/** A finished duration in words: `0.4 s`, `12 s`, `4 min 12 s`, `1 h 5 min`. */
export function duration(millis: number): string {
  if (millis < SECOND / 20) return '< 0.1 s'
  if (millis < 10 * SECOND) return `${short.format(millis / SECOND)} s`
  if (millis < MINUTE) return `${Math.round(millis / SECOND)} s`
  if (millis < HOUR) {
    const seconds = Math.floor(millis / SECOND) % 60
    const minutes = Math.floor(millis / MINUTE)
    return seconds === 0 ? `${minutes} min` : `${minutes} min ${seconds} s`
  }
  const minutes = Math.floor(millis / MINUTE) % 60
  const hours = Math.floor(millis / HOUR)
  return minutes === 0 ? `${hours} h` : `${hours} h ${minutes} min`
}

/** A moment in a list: the time today, `Yesterday`, else day and month. */
export function moment(at: number, now: number): string {
  if (at >= startOfDay(now)) return hourAndMinute.format(at)
  if (at >= startOfDay(startOfDay(now) - 1)) return 'Yesterday'
  return dayAndMonth.format(at)
}

/** The heading under which a moment is listed. */
export function day(at: number, now: number): string {
  const today = startOfDay(now)
  if (at >= today) return 'Today'
  if (at >= startOfDay(today - 1)) return 'Yesterday'
  if (at >= today - 6 * 24 * HOUR) return 'This week'
  return 'Earlier'
}

function startOfDay(at: number): number {
  const date = new Date(at)
  date.setHours(0, 0, 0, 0)
  return date.getTime()
}
