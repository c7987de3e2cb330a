// The page starts under the window's content policy: nothing of it is refused, in either colour scheme.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { picture, startPages } from './support.mjs'

let pages
before(async () => (pages = await startPages()))
after(() => pages.close())

for (const colorScheme of ['light', 'dark']) {
  test(`the page starts in ${colorScheme} without a complaint`, async () => {
    const { page, complaints } = await pages.open('fixture=everything', { colorScheme })
    await page.waitForFunction(() => document.querySelector('#app')?.textContent?.trim() !== '')
    await picture(page, `start-${colorScheme}`)
    assert.deepEqual(complaints, [])
  })
}

test('the content policy refuses text as code', async () => {
  const { page, complaints } = await pages.open('fixture=everything')
  const ran = await page.evaluate(() => {
    document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.broken = 1' }))
    return 'broken' in window
  })
  assert.equal(ran, false)
  assert.match(complaints.join(' '), /Content Security Policy/)
})
