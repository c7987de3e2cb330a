// What the fence asks, in a real browser: rules are made word by word, groups are reviewed, hosts and places outside are
// granted no wider than was chosen, and no dialog decides by accident.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { picture, startPages } from './support.mjs'

let pages
before(async () => (pages = await startPages()))
after(() => pages.close())

/** The guards of a card let nothing through sooner. */
const guarded = (page) => page.waitForTimeout(900)

async function open(query, options) {
  const opened = await pages.open(query, options)
  await opened.page.getByTestId('approve-main').waitFor()
  await guarded(opened.page)
  return opened
}

test('a rule is widened word by word, and a wide one is confirmed a second time', async () => {
  const { page, complaints } = await open('fixture=remember')
  await page.getByTestId('remember').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('“npm install, any arguments”').waitFor()
  await dialog.getByRole('button', { name: 'install' }).click()
  // The menu of a chip stands above its dialog.
  await page.getByText('Any number of words from here on').click()
  await dialog.getByText('“npm, any arguments”').waitFor()
  await guarded(page)
  await dialog.getByTestId('remember-keep').click()
  await dialog.getByText('npm may be run with every sub-command and every argument.').waitFor()
  await picture(page, 'rule-wide')
  await dialog.getByTestId('remember-wide').click()
  await dialog.getByText('One moment').waitFor()
  await guarded(page)
  await dialog.getByTestId('remember-wide').click()
  await dialog.waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
})

test('Escape closes the dialog of a rule and gives the focus back to the card', async () => {
  const { page } = await open('fixture=remember')
  await page.keyboard.press('Control+Shift+A')
  await page.keyboard.press('r')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  assert.equal(await page.evaluate(() => document.activeElement?.closest('[data-card]') !== null), true)
  assert.equal(await page.getByTestId('approve-main').isVisible(), true)
})

test('a host is set apart in both forms, and the button says how far it is allowed', async () => {
  const { page, complaints } = await open('fixture=connect')
  assert.equal(await page.getByTestId('approve-main').innerText(), 'Allow prices.api.example.com once')
  await page.getByRole('radiogroup', { name: 'Allow' }).getByText('Project').click()
  assert.equal(await page.getByTestId('approve-main').innerText(), 'Allow prices.api.example.com for this project')
  // The choice has changed the button: it waits again.
  await page.getByTestId('approve-main').click()
  await page.getByText('One moment').waitFor()
  await page.getByRole('list', { name: /more wait/ }).getByText('xn--80ak6aa92e.com').click()
  await page.getByText('U+0430').waitFor()
  await picture(page, 'host-in-both-forms')
  assert.deepEqual(complaints, [])
})

test('the folder of a place outside is named before it is allowed', async () => {
  const { page } = await open('fixture=outside')
  await page.getByRole('radiogroup', { name: 'Allow' }).getByText('Session').click()
  await page.getByText('Its folder', { exact: true }).click()
  await page.getByText('/home/mira/code/shared-config/', { exact: true }).waitFor()
  assert.equal(await page.getByTestId('approve-main').innerText(), 'Allow reading in its folder for this session')
})

test('a refused run says what it came to and what it may do again', async () => {
  const { page, complaints } = await open('fixture=refused', { viewport: { width: 420, height: 800 } })
  assert.equal(await page.getByTestId('approve-main').innerText(), 'Allow writing and run again')
  assert.equal(await page.getByTestId('edit').count(), 0)
  await page.getByText('Show all output').click()
  await page.getByText('reading 214 modules').waitFor()
  await picture(page, 'refused-run')
  assert.deepEqual(complaints, [])
})

test('a group is decided row by row, and what a new rule let start can be taken back', async () => {
  const { page, complaints } = await open('fixture=group', { viewport: { width: 1200, height: 900 } })
  await page.getByText('2 more were covered by this rule and started').waitFor()
  await page.getByTestId('review-group').last().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByTestId('approve-group').waitFor()
  assert.equal(await dialog.getByTestId('approve-group').innerText(), 'Approve 2 of 2')
  await dialog.getByLabel('Approve docs/clock.md').uncheck()
  assert.equal(await dialog.getByTestId('approve-group').innerText(), 'Approve 1 of 2')
  await picture(page, 'group-review')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.getByTestId('undo-rule').click()
  await page.getByText('covered by this rule').waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
})

test('the rules page fits a narrow window, and Escape closes its dialog alone', async () => {
  const { page, complaints } = await pages.open('fixture=rules&view=settings&page=rules', {
    viewport: { width: 360, height: 740 },
  })
  await page.getByText('npm test, any arguments').waitFor()
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true)
  await picture(page, 'rules-narrow')
  await page.getByTestId('add-rule').click()
  await page.getByLabel('An example of the command').fill('cargo test -p orchard')
  await page.getByText('“cargo test -p orchard”').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  assert.equal(await page.getByRole('heading', { name: 'Rules' }).isVisible(), true)
  assert.deepEqual(complaints, [])
})
