/**
 * The script that the first screen needs, measured in every build of the product: the page's entry, everything it
 * imports statically, and the door to the core, which it loads at once. The build fails when that is over its budget.
 */
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { Plugin, Rolldown } from 'vite'

/** Loaded by the first screen although its import is a dynamic one: see src/lib/host/choose.ts. */
const AT_ONCE = /\/src\/lib\/host\/tauri\.ts$/

const MAIN = fileURLToPath(new URL('./src/main.ts', import.meta.url))

type Bundle = Rolldown.OutputBundle

function chunkOf(bundle: Bundle, file: string): Rolldown.OutputChunk | undefined {
  const part = bundle[file]
  return part?.type === 'chunk' ? part : undefined
}

/** The files of the first screen, each with its size in bytes after gzip. */
export function firstScreen(bundle: Bundle): Map<string, number> {
  const found = new Map<string, number>()
  const waiting = Object.values(bundle).flatMap((part) =>
    part.type === 'chunk' && (part.isEntry || AT_ONCE.test(part.facadeModuleId ?? '')) ? [part] : [],
  )
  for (let chunk = waiting.pop(); chunk !== undefined; chunk = waiting.pop()) {
    if (found.has(chunk.fileName)) continue
    found.set(chunk.fileName, gzipSync(chunk.code).length)
    waiting.push(...chunk.imports.flatMap((file) => chunkOf(bundle, file) ?? []))
  }
  return found
}

/**
 * Keeps what the first screen needs in one chunk. Left alone, every module that a later view needs as well would get a
 * chunk of its own, and many small chunks are larger than one.
 */
export function firstScreenChunk(
  id: string,
  graph: Pick<Rolldown.ChunkingContext, 'getModuleInfo'>,
): string | null {
  return needed(graph).has(id) ? 'first' : null
}

const known = new WeakMap<object, Set<string>>()

/** The page's own modules that its entry imports statically; what they need of packages comes along. */
function needed(graph: Pick<Rolldown.ChunkingContext, 'getModuleInfo'>): Set<string> {
  const found = known.get(graph) ?? new Set<string>()
  if (found.size > 0) return found
  known.set(graph, found)
  const waiting = [MAIN]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (found.has(id) || id.includes('/node_modules/')) continue
    const info = graph.getModuleInfo(id)
    if (info === null) continue
    found.add(id)
    waiting.push(...info.importedIds)
  }
  return found
}

/** Fails the build when the first screen's script is larger than `budget` bytes after gzip. */
export function firstScreenBudget(budget: number): Plugin {
  return {
    name: 'first-screen-budget',
    apply: (_, { command, mode }) => command === 'build' && mode === 'production',
    generateBundle(_, bundle) {
      const sizes = firstScreen(bundle)
      const sum = [...sizes.values()].reduce((all, one) => all + one, 0)
      const shown = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} kB`
      const words = `The script of the first screen is ${shown(sum)} after gzip; the budget is ${shown(budget)}.`
      if (sum > budget) {
        const list = [...sizes].map(([file, size]) => `  ${file} ${shown(size)}`).join('\n')
        this.error(`${words}\n${list}\nLoad what it does not need at once with a dynamic import.`)
      }
      this.info(words)
    },
  }
}
