import { readFileSync, readdirSync } from 'node:fs'
import { expect, test } from 'vitest'

test('what moves without end moves in steps: each picture of the window costs processor time', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  const endless = files
    .filter((file) => /\.(?:svelte|css)$/.test(file))
    .flatMap((file) => readFileSync(`src/${file}`, 'utf8').match(/animation: .*infinite.*;/g) ?? [])
  expect(endless.length).toBeGreaterThan(0)
  expect(endless.filter((line) => !line.includes(' steps('))).toEqual([])
})
