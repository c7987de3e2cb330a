/** Small questions about pieces of Markdown: what an entity stands for, where a link may lead. */

const named: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
}

/** Entities as the characters they stand for; unknown ones stay as written. */
export function plainText(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[String(name).toLowerCase()] ?? whole
    const code = decimal === undefined ? parseInt(String(hex), 16) : parseInt(String(decimal), 10)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}

/** The address of a link that may be opened: web and mail only. */
export function safeAddress(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const url = new URL(address)
  return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : undefined
}

/** Text without the marks of strong and code words; everything else stays as written. */
export function withoutMarks(text: string): string {
  return text.replace(/(\*\*|__|`)(\S(?:.*?\S)?)\1/g, '$2')
}
