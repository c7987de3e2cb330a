/** Which columns fit: three, two with a rail, one with sheets. The widths of the dividers are kept per project. */
import { MediaQuery } from 'svelte/reactivity'

const wide = new MediaQuery('(min-width: 1180px)', true)
const medium = new MediaQuery('(min-width: 860px)', true)
const narrow = new MediaQuery('(max-width: 639.9px)', false)

export const layout = {
  /** The sidebar has its own column; otherwise it is a rail and opens as a sheet. */
  get sidebarColumn(): boolean {
    return wide.current
  },
  /** The side panel has its own column; otherwise it is a sheet. */
  get panelColumn(): boolean {
    return medium.current
  },
  /** Not even the rail fits. */
  get railHidden(): boolean {
    return narrow.current
  },
}

export const PANEL_WIDTH = { least: 340, most: 720, usual: 380, step: 20 }

/** The width of the panel in a project; the usual one when nothing sensible was kept. */
export function keptPanelWidth(project: string | undefined, storage: Storage = localStorage): number {
  const kept = Number(storage.getItem(`panel-width:${project ?? ''}`))
  return kept >= PANEL_WIDTH.least && kept <= PANEL_WIDTH.most ? kept : PANEL_WIDTH.usual
}

export function keepPanelWidth(
  project: string | undefined,
  width: number,
  storage: Storage = localStorage,
): void {
  storage.setItem(`panel-width:${project ?? ''}`, String(width))
}

/** A width inside of what is allowed. */
export function panelWidthWithin(width: number): number {
  return Math.min(PANEL_WIDTH.most, Math.max(PANEL_WIDTH.least, Math.round(width)))
}
