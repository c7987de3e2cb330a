// Models and money in a real browser: a server is set up, a model is tried and corrected, the budget is raised, images
// go with a message. At 360 pixels nothing scrolls sideways.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { picture, startPages } from './support.mjs'

let pages
before(async () => (pages = await startPages()))
after(() => pages.close())

const narrow = { viewport: { width: 360, height: 740 } }
const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)
const PICTURE = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==', 'base64')

test('a server on this machine is found and its model becomes the one of new sessions', async () => {
  const { page, complaints } = await pages.open('fixture=empty&view=settings&page=models')
  await page.getByTestId('add-server').click()
  await page.getByTestId('preset-ollama').getByText('runs · 4 models').waitFor()
  await page.getByTestId('preset-ollama').click()
  await page.getByTestId('check-model').click()
  await page.getByText(/Paddock uses its own tool calls/u).waitFor()
  await page.getByText('qwen3-coder:30b · new sessions').waitFor()
  await picture(page, 'server-added')
  assert.deepEqual(complaints, [])
})

test('the models page fits a narrow window with a test open', async () => {
  const { page, complaints } = await pages.open('fixture=settings&view=settings&page=models', narrow)
  await page.getByTestId('models-of-local').click()
  await page.locator("[data-model='local/llama3.3:70b']").getByTestId('test-model').click()
  await page.getByText(/Paddock uses calls as JSON/u).waitFor()
  await page.getByText(/Paddock needs about 16\.4 k/u).first().waitFor()
  assert.equal(await fits(page), true)
  await picture(page, 'model-tested-narrow')
  assert.deepEqual(complaints, [])
})

test('a model is found by typing and taken by key', async () => {
  const { page } = await pages.open('fixture=budget')
  await page.getByRole('button', { name: /^Model/u }).click()
  await page.getByRole('option').first().waitFor()
  await page.getByTestId('model-search').fill('gpt-oss')
  assert.equal(await page.getByRole('option').count(), 1)
  await page.keyboard.press('Enter')
  await page.getByTestId('model-search').waitFor({ state: 'detached' })
})

test('the budget opens from the strip and says what is used', async () => {
  const { page, complaints } = await pages.open('fixture=near-budget', narrow)
  assert.equal(await page.getByTestId('budget').innerText(), '$1.64 of $2.00')
  await page.getByTestId('budget').click()
  await page.getByText('Raise to $3.00').waitFor()
  await page.getByText(/Amounts are estimates/u).waitFor()
  assert.equal(await fits(page), true)
  await picture(page, 'budget-narrow')
  assert.deepEqual(complaints, [])
})

test('an unknown price is tokens, never nothing', async () => {
  const { page } = await pages.open('fixture=unpriced')
  assert.match(await page.getByTestId('budget').innerText(), /^\d+ k tokens$/u)
  assert.match((await page.getByTestId('budget').getAttribute('aria-label')) ?? '', /price unknown/u)
})

test('images are shown before they are sent, with what becomes of them, and can be taken back', async () => {
  const { page, complaints } = await pages.open('fixture=pictures', narrow)
  await page.getByAltText('before.png').waitFor()
  await page.getByTestId('attach-files').setInputFiles([
    { name: 'shot.png', mimeType: 'image/png', buffer: PICTURE },
    { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no image') },
  ])
  await page.getByText('model-large does not see images.').waitFor()
  await page.getByText('notes.txt: only PNG, JPEG, GIF and WebP images can be attached.').waitFor()
  assert.equal(await fits(page), true)
  await picture(page, 'images-narrow')
  await page.getByRole('button', { name: 'Remove shot.png' }).click()
  await page.getByText('shot.png', { exact: true }).waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
})
