/** Hands something to the person as a file. */

export function saveBlob(name: string, content: Blob): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The engine reads the address after the click; a second is more than it needs.
  setTimeout(() => URL.revokeObjectURL(address), 1_000)
}

export function saveText(
  name: string,
  type: 'text/csv' | 'application/json' | 'image/svg+xml',
  content: string,
): void {
  saveBlob(name, new Blob([content], { type: `${type};charset=utf-8` }))
}
