/** The shapes among which a person chooses for what is not a command: exactly this, or a little more. */
import type { RuleShape } from '$lib/protocol'

/** The folder a path is in, with `/` at its end; nothing for what is at the top. */
export function folderOf(path: string): string | undefined {
  const bare = path.endsWith('/') ? path.slice(0, -1) : path
  const at = bare.lastIndexOf('/')
  return at <= 0 ? undefined : bare.slice(0, at + 1)
}

function foldersAbove(path: string): string[] {
  const folders: string[] = []
  for (let folder = folderOf(path); folder !== undefined; folder = folderOf(folder)) folders.push(folder)
  return folders
}

/** Domains above a host, nearest first, each of at least two labels; the address of a machine has none. */
function domainsAbove(host: string): string[] {
  const bare = host.startsWith('*.') ? host.slice(2) : host
  if (/^[\d.]+$/u.test(bare) || bare.includes(':')) return []
  const labels = bare.split('.')
  return labels.slice(1, -1).map((_, at) => labels.slice(at + 1).join('.'))
}

/** The choices for a shape, narrowest first; the shape itself is always among them. */
export function targetsOf(shape: RuleShape): RuleShape[] {
  switch (shape.shape) {
    case 'write_path':
      return [shape, ...foldersAbove(shape.path).map((path) => ({ ...shape, path }))]
    case 'outside': {
      const folder = folderOf(shape.path)
      return folder === undefined || shape.path.endsWith('/') ? [shape] : [shape, { ...shape, path: folder }]
    }
    case 'host':
      return [shape, ...domainsAbove(shape.host).map((domain) => ({ ...shape, host: `*.${domain}` }))]
    default:
      return [shape]
  }
}

export const sameShape = (one: RuleShape | undefined, other: RuleShape | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other)
