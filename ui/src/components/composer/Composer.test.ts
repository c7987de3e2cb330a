import { fireEvent, render, screen } from '@testing-library/svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import { Composer } from '$lib/composer/composer.svelte'
import { Drafts } from '$lib/composer/drafts'
import { HostError } from '$lib/host/host'
import type { SendKey } from '$lib/protocol'
import ComposerField from './Composer.svelte'

const send = vi.fn<(text: string, mode: string) => Promise<void>>()
const readOnly = vi.fn<() => Promise<void>>()
const command = vi.fn<(name: string) => Promise<void>>()

function show(sendKey: SendKey = 'enter', working = false): HTMLTextAreaElement {
  const composer = new Composer('s1', new Drafts(undefined), {
    send,
    command,
    can: (name) => name === 'stop',
    readOnly,
  })
  render(ComposerField, { composer, working, sendKey })
  return screen.getByTestId('composer-input')
}

async function type(field: HTMLTextAreaElement, text: string): Promise<void> {
  await fireEvent.input(field, { target: { value: text } })
}

beforeEach(() => {
  send.mockReset().mockResolvedValue()
  command.mockReset().mockResolvedValue()
  readOnly.mockReset().mockResolvedValue()
})

test('Enter sends, Shift+Enter does not', async () => {
  const field = show()
  await type(field, 'fix it')
  await fireEvent.keyDown(field, { key: 'Enter', shiftKey: true })
  expect(send).not.toHaveBeenCalled()
  await fireEvent.keyDown(field, { key: 'Enter' })
  expect(send).toHaveBeenCalledWith('fix it', 'next_iteration')
  expect(field.value).toBe('')
})

test('an input method never sends', async () => {
  const field = show()
  await type(field, 'にほん')
  await fireEvent.keyDown(field, { key: 'Enter', isComposing: true })
  await fireEvent.keyDown(field, { key: 'Enter', keyCode: 229 })
  expect(send).not.toHaveBeenCalled()
})

test('with the other setting only Mod+Enter sends', async () => {
  const field = show('mod_enter')
  await type(field, 'fix it')
  await fireEvent.keyDown(field, { key: 'Enter' })
  expect(send).not.toHaveBeenCalled()
  await fireEvent.keyDown(field, { key: 'Enter', ctrlKey: true })
  expect(send).toHaveBeenCalledTimes(1)
})

test('a failed sending keeps the text and says why and what to do', async () => {
  send.mockRejectedValue(
    new HostError({ code: 'no_model', message: 'There is no model.', hint: 'Choose one.' }),
  )
  const field = show()
  await type(field, 'fix it')
  await fireEvent.click(screen.getByTestId('composer-send'))
  const alert = await screen.findByRole('alert')
  expect(alert.textContent).toContain('Connect a model to begin.')
  expect(alert.textContent).toContain('Choose one.')
  expect(field.value).toBe('fix it')
})

test('the command menu is steered from the field', async () => {
  const field = show()
  await type(field, '/')
  expect(screen.getAllByRole('option')).toHaveLength(4)
  expect(screen.getAllByRole('option')[1]?.getAttribute('aria-disabled')).toBe('true')
  await fireEvent.keyDown(field, { key: 'Enter' })
  expect(command).toHaveBeenCalledWith('stop')
  expect(send).not.toHaveBeenCalled()
})

test('Escape closes the command menu and keeps the text', async () => {
  const field = show()
  await type(field, '/st')
  await fireEvent.keyDown(field, { key: 'Escape' })
  expect(screen.queryByRole('option')).toBeNull()
  expect(field.value).toBe('/st')
})

test('the send mode is a choice only while the agent works', () => {
  show('enter', true)
  expect(screen.getByTestId('send-mode').textContent).toContain('At next iteration')
})
