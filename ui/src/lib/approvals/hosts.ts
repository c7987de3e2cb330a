/** Host names as a person can judge them: the form that is sent, the form that is read, never more than fits. */

export interface ShownHost {
  /** The form that is sent, in ASCII. */
  plain: string
  /** The same with its own letters, when it has others than Latin ones. */
  own: string | undefined
  /** For a button: the end decides where a connection goes, so the beginning is left out first. */
  short: string
}

const SHORT = 40

export function shownHost(host: string): ShownHost {
  const own = host
    .split('.')
    .map((label) => (label.startsWith('xn--') ? decoded(label.slice(4)) : label))
    .join('.')
  return {
    plain: host,
    own: own === host ? undefined : own,
    short: host.length > SHORT ? `…${host.slice(-SHORT)}` : host,
  }
}

const BASE = 36
const LOW = 1
const HIGH = 26

/** Punycode of RFC 3492; a label that is none stays as it is sent. */
function decoded(label: string): string {
  const at = label.lastIndexOf('-')
  const letters = at > 0 ? [...label.slice(0, at)].map((letter) => letter.codePointAt(0) ?? 0) : []
  let code = 128
  let place = 0
  let bias = 72
  let index = at > 0 ? at + 1 : 0
  while (index < label.length) {
    const before = place
    let weight = 1
    for (let step = BASE; ; step += BASE) {
      const digit = digitOf(label.charCodeAt(index++))
      if (digit === undefined) return `xn--${label}`
      place += digit * weight
      const threshold = Math.min(HIGH, Math.max(LOW, step - bias))
      if (digit < threshold) break
      weight *= BASE - threshold
    }
    const length = letters.length + 1
    bias = adapted(place - before, length, before === 0)
    code += Math.floor(place / length)
    place %= length
    if (code > 0x10ffff) return `xn--${label}`
    letters.splice(place++, 0, code)
  }
  return String.fromCodePoint(...letters)
}

function digitOf(code: number): number | undefined {
  if (code >= 48 && code <= 57) return code - 22
  if (code >= 97 && code <= 122) return code - 97
  return code >= 65 && code <= 90 ? code - 65 : undefined
}

function adapted(delta: number, length: number, first: boolean): number {
  let rest = first ? Math.floor(delta / 700) : Math.floor(delta / 2)
  rest += Math.floor(rest / length)
  let bias = 0
  for (; rest > 455; bias += BASE) rest = Math.floor(rest / (BASE - LOW))
  return bias + Math.floor((36 * rest) / (rest + 38))
}
