import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { svelteTesting } from '@testing-library/svelte/vite'
import { defineConfig } from 'vitest/config'
import { firstScreenBudget, firstScreenChunk } from './first-screen'

const KILOBYTE = 1_000

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** The window's content policy, sent by `vite preview` too, so that a page test meets the same walls as the product. */
function contentPolicy(): string {
  const config = JSON.parse(readFileSync(here('../tauri.conf.json'), 'utf8')) as {
    app: { security: { csp: string } }
  }
  // A page in a browser has no window behind it: it may reach a core on the loopback address instead.
  return config.app.security.csp.replace('connect-src', 'connect-src ws://127.0.0.1:*')
}

export default defineConfig(({ command, isPreview }) => ({
  plugins: [svelte(), svelteTesting(), firstScreenBudget(190 * KILOBYTE)],
  clearScreen: false,
  resolve: {
    alias: { $lib: here('./src/lib'), $components: here('./src/components') },
  },
  server: { port: 5173, strictPort: true, host: '127.0.0.1' },
  preview: {
    host: '127.0.0.1',
    headers: command === 'serve' && isPreview === true ? { 'Content-Security-Policy': contentPolicy() } : {},
  },
  build: {
    target: 'safari15',
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: firstScreenChunk }] } } },
    // A data: URL for a small font or image would ask for more than the content policy allows.
    assetsInlineLimit: 0,
  },
  // The grammars of the highlighting worker are loaded one by one.
  worker: { format: 'es' },
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.test.ts', '*.test.ts'],
    setupFiles: ['./test-setup.ts'],
    // A machine that builds beside the tests may take its time.
    testTimeout: 20_000,
  },
}))
