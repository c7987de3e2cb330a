/** Puts the chosen theme on the page. Without one the system decides, in tokens.css. */
import type { Theme } from '$lib/protocol'

export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}
