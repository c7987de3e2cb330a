/** The file changes of a turn or a session, by file, in the order they were made. */
import type { CallItem, ChangeKind, FileChange, TurnId } from '$lib/protocol'
import type { ItemCell } from './timeline.svelte'

export interface ChangeEntry {
  cell: ItemCell
  call: CallItem
  change: FileChange
  undone: boolean
}

export interface ChangedFile {
  path: string
  /** What came of the file in the end. */
  kind: ChangeKind['change']
  added: number
  removed: number
  entries: ChangeEntry[]
}

/** Files changed in a turn, or in the whole loaded session. What was undone does not count but stays listed. */
export function changedFiles(cells: readonly ItemCell[], turn: TurnId | undefined): ChangedFile[] {
  const files = new Map<string, ChangedFile>()
  for (const cell of cells) {
    const call = cell.call
    if (call?.output?.changes === undefined || (turn !== undefined && cell.item.turn !== turn)) continue
    const undone = cell.item.status === 'undone'
    for (const change of call.output.changes) {
      const file = files.get(change.path) ?? {
        path: change.path,
        kind: change.kind.change,
        added: 0,
        removed: 0,
        entries: [],
      }
      if (!undone) {
        file.added += change.added
        file.removed += change.removed
        if (file.kind !== 'created' || change.kind.change === 'deleted') file.kind = change.kind.change
      }
      file.entries.push({ cell, call, change, undone })
      files.set(change.path, file)
    }
  }
  return [...files.values()]
}

export function totalOf(files: readonly ChangedFile[]): { added: number; removed: number } {
  return files.reduce(
    (sum, file) => ({ added: sum.added + file.added, removed: sum.removed + file.removed }),
    { added: 0, removed: 0 },
  )
}
