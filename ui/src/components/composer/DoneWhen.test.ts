import { fireEvent, render, screen } from '@testing-library/svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import DoneWhen from './DoneWhen.svelte'

const onset = vi.fn<(command: string | null) => void>()

beforeEach(() => {
  document.body.innerHTML = ''
  onset.mockReset()
})

async function open(command?: string): Promise<HTMLInputElement> {
  render(DoneWhen, { command, onset })
  await fireEvent.click(screen.getByTestId('done-when'))
  return screen.getByLabelText('A turn is done when this command succeeds')
}

test('a command is set, without the blanks around it', async () => {
  const field = await open()
  await fireEvent.input(field, { target: { value: '  npm test ' } })
  await fireEvent.keyDown(field, { key: 'Enter' })
  expect(onset).toHaveBeenCalledWith('npm test')
})

test('what is set is shown, and nothing is sent when it stays', async () => {
  const field = await open('npm test')
  expect(screen.getByTestId('done-when').textContent).toContain('npm test')
  expect(field.value).toBe('npm test')
  await fireEvent.click(screen.getByText('Set'))
  expect(onset).not.toHaveBeenCalled()
})

test('it is taken back by its button or by an empty field', async () => {
  await open('npm test')
  await fireEvent.click(screen.getByText('No check'))
  expect(onset).toHaveBeenLastCalledWith(null)
})
