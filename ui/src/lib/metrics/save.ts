/** Hands a text to the person as a file. */

export function saveText(name: string, type: 'text/csv' | 'application/json', content: string): void {
  const address = URL.createObjectURL(new Blob([content], { type: `${type};charset=utf-8` }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The engine reads the address after the click; a second is more than it needs.
  setTimeout(() => URL.revokeObjectURL(address), 1_000)
}
