/** F6 goes from region to region, in the order they stand on the page. */

const ENTRY = '[data-row][tabindex="0"]'
const FIELDS = 'textarea, input:not([type="hidden"]), [tabindex="0"]'

/** The regions that are on screen now. */
export function regionsOf(root: ParentNode): HTMLElement[] {
  return [...root.querySelectorAll<HTMLElement>('[data-region]')].filter(
    (region) => region.getClientRects().length > 0 && region.closest('[inert]') === null,
  )
}

/** The region after (or before) the one that has the focus; round at the ends. */
export function nextRegion(
  regions: readonly HTMLElement[],
  focused: Element | null,
  step: 1 | -1,
): HTMLElement | undefined {
  // The innermost region counts: a region may stand inside of another one.
  const at = regions.reduce((found, region, index) => (region.contains(focused) ? index : found), -1)
  if (regions.length === 0) return undefined
  const next = at < 0 ? (step === 1 ? 0 : regions.length - 1) : (at + step + regions.length) % regions.length
  return regions[next]
}

/** Puts the focus into a region: on its first field or chosen entry, else on itself. */
export function focusRegion(region: HTMLElement): void {
  const inner = region.querySelector<HTMLElement>(ENTRY) ?? region.querySelector<HTMLElement>(FIELDS)
  if (inner !== null) {
    inner.focus()
    return
  }
  if (!region.hasAttribute('tabindex')) region.tabIndex = -1
  region.focus()
}
