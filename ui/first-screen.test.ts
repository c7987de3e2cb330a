// @vitest-environment node
import type { Rolldown } from 'vite'
import { expect, test } from 'vitest'
import { firstScreen } from './first-screen'

const chunk = (fileName: string, more: Partial<Rolldown.OutputChunk>): Rolldown.OutputChunk =>
  ({ type: 'chunk', fileName, code: fileName, imports: [], isEntry: false, ...more }) as Rolldown.OutputChunk

test('the entry, what it imports and the door to the core count; what is loaded later does not', () => {
  const bundle = Object.fromEntries(
    [
      chunk('index.js', {
        isEntry: true,
        imports: ['shared.js'],
        dynamicImports: ['settings.js', 'tauri.js'],
      }),
      chunk('shared.js', { imports: ['deep.js', 'index.js'] }),
      chunk('deep.js', {}),
      chunk('settings.js', { facadeModuleId: '/ui/src/views/SettingsView.svelte', imports: ['select.js'] }),
      chunk('select.js', {}),
      chunk('tauri.js', { facadeModuleId: '/ui/src/lib/host/tauri.ts', imports: ['host.js'] }),
      chunk('host.js', {}),
    ].map((one) => [one.fileName, one]),
  )
  const sizes = firstScreen(bundle)
  expect([...sizes.keys()].sort()).toEqual(['deep.js', 'host.js', 'index.js', 'shared.js', 'tauri.js'])
  expect([...sizes.values()].every((size) => size > 0)).toBe(true)
})
