/** Which words, icon and details belong to an item that is no call and no text. */
import ArrowLeftRight from '@lucide/svelte/icons/arrow-left-right'
import CircleAlert from '@lucide/svelte/icons/circle-alert'
import Globe from '@lucide/svelte/icons/globe'
import ShieldAlert from '@lucide/svelte/icons/shield-alert'
import Gauge from '@lucide/svelte/icons/gauge'
import Hourglass from '@lucide/svelte/icons/hourglass'
import RefreshCw from '@lucide/svelte/icons/refresh-cw'
import RotateCw from '@lucide/svelte/icons/rotate-cw'
import Scissors from '@lucide/svelte/icons/scissors'
import SquareTerminal from '@lucide/svelte/icons/square-terminal'
import Undo2 from '@lucide/svelte/icons/undo-2'
import Unplug from '@lucide/svelte/icons/unplug'
import Workflow from '@lucide/svelte/icons/workflow'
import Zap from '@lucide/svelte/icons/zap'
import type { Component } from 'svelte'
import type { CallId, Item, ModelError } from '$lib/protocol'
import { roleWords } from '$lib/texts/modes'
import { notes, type NoteWords } from '$lib/texts/timeline'

export interface NoteDetail {
  text: string
  fact?: string | undefined
}

export interface Note {
  words: NoteWords
  icon: Component<{ size?: number; strokeWidth?: number }>
  details: NoteDetail[]
}

type TargetOf = (call: CallId) => string | undefined

function errorDetails(error: ModelError): NoteDetail[] {
  const status = error.status === undefined ? [] : [{ text: notes.status(error.status) }]
  const spent = error.spent === undefined ? [] : [{ text: notes.spent(error.spent) }]
  const details = error.details === undefined ? [] : [{ text: error.details }]
  return [...status, ...spent, ...details]
}

function callDetails(calls: readonly CallId[], targetOf: TargetOf): NoteDetail[] {
  return calls.map((call) => ({ text: targetOf(call) ?? call }))
}

/** The note of an item; nothing for calls, texts and summaries. */
export function noteOf({ kind, started, ended }: Item, targetOf: TargetOf): Note | undefined {
  switch (kind.type) {
    case 'retry':
      return {
        words: notes.retry(
          kind.attempt,
          kind.of,
          kind.error.message,
          ended === undefined ? kind.error.hint : undefined,
        ),
        icon: RotateCw,
        details: errorDetails(kind.error),
      }
    case 'malformed':
      return {
        words: notes.malformed(kind.attempt, kind.of),
        icon: RefreshCw,
        details: [{ text: kind.reason }, { text: kind.raw }],
      }
    case 'guard':
      return {
        words: notes.guard(kind.pattern, kind.calls.length, kind.paused),
        icon: RefreshCw,
        details: callDetails(kind.calls, targetOf),
      }
    case 'breaker':
      return {
        words: notes.breaker(kind.tool, kind.calls.length),
        icon: Unplug,
        details: callDetails(kind.calls, targetOf),
      }
    case 'limit':
      return {
        words: notes.limit(kind.reached),
        icon: kind.reached.limit === 'active_time' ? Hourglass : Gauge,
        details: [],
      }
    case 'recovery':
      return {
        words: notes.recovery(kind.unknown.map((call) => targetOf(call) ?? call)),
        icon: Zap,
        details: [],
      }
    case 'role_change':
      return {
        words: notes.roleChange(roleWords[kind.from].name, kind.own ?? roleWords[kind.to].name),
        icon: ArrowLeftRight,
        details: [],
      }
    case 'model_change':
      return { words: notes.modelChange(kind.from.model, kind.to.model), icon: ArrowLeftRight, details: [] }
    case 'error':
      return {
        words: notes.error(kind.error.message, kind.error.hint),
        icon: CircleAlert,
        details: errorDetails(kind.error),
      }
    case 'prompt_cut':
      return {
        words: notes.promptCut(kind.model.model, kind.read, kind.sent, kind.remedy),
        icon: Scissors,
        details: [],
      }
    case 'undo':
      return {
        words: notes.undo(kind.redo, kind.files.length),
        icon: Undo2,
        details: kind.files.map((file) => ({ text: file.path, fact: notes.undoneFile(file.result) })),
      }
    case 'host_admitted':
      return {
        words: notes.hostAdmitted(kind.host, kind.rule),
        icon: Globe,
        details: callDetails([kind.call], targetOf),
      }
    case 'set_aside':
      return { words: notes.setAside(kind.path, kind.back), icon: ShieldAlert, details: [] }
    case 'workflow':
      return {
        words: notes.workflow(kind.title, kind.step, kind.of, kind.end),
        icon: Workflow,
        details: [],
      }
    case 'process_ended':
      return {
        words: notes.processEnded(kind.process.command, kind.end, started - kind.process.started),
        icon: SquareTerminal,
        details: [{ text: kind.process.command }],
      }
    default:
      return undefined
  }
}
