/** Languages that code can be coloured in, and the names people write for them after the fence. */

const languages = [
  'bash',
  'c',
  'cpp',
  'csharp',
  'css',
  'diff',
  'go',
  'html',
  'java',
  'javascript',
  'json',
  'kotlin',
  'markdown',
  'php',
  'python',
  'ruby',
  'rust',
  'sql',
  'svelte',
  'swift',
  'toml',
  'tsx',
  'typescript',
  'yaml',
] as const

export type Language = (typeof languages)[number]

const otherNames: Record<string, Language> = {
  sh: 'bash',
  shell: 'bash',
  zsh: 'bash',
  console: 'bash',
  h: 'c',
  'c++': 'cpp',
  cs: 'csharp',
  js: 'javascript',
  mjs: 'javascript',
  jsx: 'tsx',
  jsonc: 'json',
  kt: 'kotlin',
  md: 'markdown',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  ts: 'typescript',
  yml: 'yaml',
}

/** The language of a name as people write it after the fence; nothing for unknown ones. */
export function languageOf(name: string): Language | undefined {
  const wanted = name.toLowerCase()
  const known = languages.find((language) => language === wanted)
  return known ?? (Object.hasOwn(otherNames, wanted) ? otherNames[wanted] : undefined)
}
