/** Languages that code can be coloured in, each loaded when it is first met. */
import type { DynamicImportLanguageRegistration } from '@shikijs/core'

const grammars = {
  bash: () => import('@shikijs/langs/bash'),
  c: () => import('@shikijs/langs/c'),
  cpp: () => import('@shikijs/langs/cpp'),
  csharp: () => import('@shikijs/langs/csharp'),
  css: () => import('@shikijs/langs/css'),
  diff: () => import('@shikijs/langs/diff'),
  go: () => import('@shikijs/langs/go'),
  html: () => import('@shikijs/langs/html'),
  java: () => import('@shikijs/langs/java'),
  javascript: () => import('@shikijs/langs/javascript'),
  json: () => import('@shikijs/langs/json'),
  kotlin: () => import('@shikijs/langs/kotlin'),
  markdown: () => import('@shikijs/langs/markdown'),
  php: () => import('@shikijs/langs/php'),
  python: () => import('@shikijs/langs/python'),
  ruby: () => import('@shikijs/langs/ruby'),
  rust: () => import('@shikijs/langs/rust'),
  sql: () => import('@shikijs/langs/sql'),
  svelte: () => import('@shikijs/langs/svelte'),
  swift: () => import('@shikijs/langs/swift'),
  toml: () => import('@shikijs/langs/toml'),
  tsx: () => import('@shikijs/langs/tsx'),
  typescript: () => import('@shikijs/langs/typescript'),
  yaml: () => import('@shikijs/langs/yaml'),
} satisfies Record<string, DynamicImportLanguageRegistration>

export type Language = keyof typeof grammars

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
  if (Object.hasOwn(grammars, wanted)) return wanted as Language
  return Object.hasOwn(otherNames, wanted) ? otherNames[wanted] : undefined
}

export function grammarOf(language: Language): DynamicImportLanguageRegistration {
  return grammars[language]
}
