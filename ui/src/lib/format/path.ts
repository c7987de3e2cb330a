/** A path in three parts, so that a narrow row can drop the middle and keep the first folder and the file. */
export interface PathParts {
  first: string
  middle: string
  file: string
}

export function pathParts(path: string): PathParts {
  const at = path.replace(/\/$/, '').lastIndexOf('/')
  if (at < 0) return { first: '', middle: '', file: path }
  const folders = path.slice(0, at + 1)
  const cut = folders.startsWith('/') ? folders.indexOf('/', 1) + 1 : folders.indexOf('/') + 1
  return { first: folders.slice(0, cut), middle: folders.slice(cut), file: path.slice(at + 1) }
}
