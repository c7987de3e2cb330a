// The built page in a real browser, under the content policy of the window. It plays recorded data (`?fixture=NAME`)
// or talks to a core over a loopback socket (`?host=ws://…`). `cargo xtask test browser` names the browser to use.

import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ui = fileURLToPath(new URL('../../../ui/', import.meta.url))
const require = createRequire(join(ui, 'package.json'))
const { chromium } = require('playwright-core')
const vite = join(ui, 'node_modules/vite/bin/vite.js')

/** Where the build that can play recorded data is put: out of the way of the product's own. */
const OUT = 'node_modules/.fixture-dist'
const OUTPUT = process.env.PADDOCK_TEST_OUTPUT ?? fileURLToPath(new URL('../../../test-output/browser', import.meta.url))
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Builds the page with its recorded data, serves it, and starts the browser. Call `close` when done. */
export async function startPages() {
  await finished(spawn(process.execPath, [vite, 'build', '--mode', 'fixture', '--outDir', OUT], { cwd: ui }))
  const port = await freePort()
  const server = spawn(process.execPath, [vite, 'preview', '--outDir', OUT, '--port', String(port), '--strictPort'], {
    cwd: ui,
    stdio: 'ignore',
  })
  const origin = `http://127.0.0.1:${port}`
  await answers(origin)
  const browser = await chromium.launch({ executablePath: await browserPath(), args: FLAGS })
  return {
    /** Opens the page; `complaints` collects what the browser refused or reported as an error. */
    async open(query, options = {}) {
      const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, ...options })
      // A browser asks for this by itself; the window does not.
      await context.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }))
      const page = await context.newPage()
      const complaints = []
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
      page.on('pageerror', (error) => complaints.push(String(error)))
      await page.goto(`${origin}/?${query}`)
      return { page, complaints }
    },
    async close() {
      await browser.close()
      server.kill()
    },
  }
}

/** Saves a picture of the page among the test output. */
export async function picture(page, name) {
  mkdirSync(OUTPUT, { recursive: true })
  await page.screenshot({ path: join(OUTPUT, `${name}.png`) })
}

async function browserPath() {
  const name = process.env.PADDOCK_BROWSER ?? 'chromium'
  if (name.includes('/')) return name
  const which = spawn('which', [name])
  let path = ''
  which.stdout.on('data', (text) => (path += text))
  await finished(which)
  return path.trim()
}

function finished(child) {
  let complaint = ''
  child.stderr?.on('data', (text) => (complaint += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${child.spawnfile}: ${complaint}`))))
  })
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}

async function answers(origin) {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const good = await fetch(origin).then((answer) => answer.ok, () => false)
    if (good) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${origin} does not answer`)
}
