/** What was filled in last time, per project and workflow, offered again. Secrets are names here, never values. */
import type { Draft } from './values'

/** Longer forms are not kept: the storage of the page is small. */
const MOST = 20_000

const keyOf = (project: string, workflow: string): string => `workflow:${project}:${workflow}`

export function keptDraft(
  project: string,
  workflow: string,
  storage: Storage = localStorage,
): Record<string, unknown> | undefined {
  try {
    const kept: unknown = JSON.parse(storage.getItem(keyOf(project, workflow)) ?? 'null')
    return typeof kept === 'object' && kept !== null ? { ...kept } : undefined
  } catch {
    return undefined
  }
}

export function keepDraft(
  project: string,
  workflow: string,
  draft: Draft,
  storage: Storage = localStorage,
): void {
  const text = JSON.stringify(draft)
  try {
    if (text.length <= MOST) storage.setItem(keyOf(project, workflow), text)
  } catch {
    // A full storage only means that the form begins with its defaults next time.
  }
}

export function forgetDraft(project: string, workflow: string, storage: Storage = localStorage): void {
  storage.removeItem(keyOf(project, workflow))
}
