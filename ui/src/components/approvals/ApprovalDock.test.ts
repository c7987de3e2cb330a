import { fireEvent, render, screen, within } from '@testing-library/svelte'
import { tick } from 'svelte'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { fakeClock } from '$lib/approvals/clock.fixture'
import { changeRequest, commandRequest, deleteRequest } from '$lib/approvals/requests.fixture'
import { HostError } from '$lib/host/host'
import type { ApprovalRequest, Decision } from '$lib/protocol'
import ApprovalDockBed from './ApprovalDockBed.svelte'

const decide = vi.fn<(id: string, decision: Decision) => Promise<void>>()

fakeClock()
beforeEach(() => {
  decide.mockReset().mockResolvedValue()
})

const show = (...approvals: ApprovalRequest[]) => render(ApprovalDockBed, { approvals, decide })
const wait = async (millis: number): Promise<void> => {
  await vi.advanceTimersByTimeAsync(millis)
  await tick()
}
const ready = (): Promise<void> => wait(700)
const main = (): HTMLElement => screen.getByTestId('approve-main')
function card(): HTMLElement {
  const found = document.querySelector<HTMLElement>('[data-card]')
  if (found === null) throw new Error('no card is open')
  return found
}

async function press(element: HTMLElement): Promise<void> {
  await fireEvent.pointerDown(element)
  await fireEvent.click(element, { detail: 1 })
}

describe('the guards', () => {
  test('a press on a card that was just painted is answered and decides nothing', async () => {
    show(commandRequest())
    await wait(300)
    await press(main())
    expect(decide).not.toHaveBeenCalled()
    expect(screen.getByText('One moment')).toBeTruthy()
  })

  test('a press half a second later grants the narrowest scope', async () => {
    show(commandRequest())
    await ready()
    await press(main())
    expect(decide).toHaveBeenCalledWith('t1.i5.c1.a1', { answer: 'approve', scope: 'once' })
  })

  test('typing anywhere holds the buttons back', async () => {
    show(commandRequest())
    await ready()
    await fireEvent.keyDown(screen.getByTestId('outside'), { key: 'y' })
    await wait(400)
    await press(main())
    expect(decide).not.toHaveBeenCalled()
    await wait(300)
    await press(main())
    expect(decide).toHaveBeenCalledTimes(1)
  })

  test('Enter in another field never decides, and the dock does not take the focus', async () => {
    const field = document.createElement('textarea')
    document.body.append(field)
    field.focus()
    show(commandRequest())
    await ready()
    expect(document.activeElement).toBe(field)
    await fireEvent.keyDown(field, { key: 'Enter' })
    await fireEvent.keyDown(field, { key: 'Enter', ctrlKey: true })
    expect(decide).not.toHaveBeenCalled()
    field.remove()
  })

  test('the next card opens after a moment and is guarded again', async () => {
    const { rerender } = show(commandRequest(), changeRequest())
    await ready()
    await rerender({ approvals: [changeRequest()] })
    expect(screen.queryByTestId('approve-main')).toBeNull()
    await wait(260)
    expect(main().textContent).toContain('Write file')
    await press(main())
    expect(decide).not.toHaveBeenCalled()
    await ready()
    await press(main())
    expect(decide).toHaveBeenCalledWith('t1.i6.c1.a1', { answer: 'approve', scope: 'once' })
  })

  test('a decision that came too late is said so', async () => {
    decide.mockRejectedValue(new HostError({ code: 'not_now', message: 'It was withdrawn.' }))
    show(commandRequest())
    await ready()
    await press(main())
    await tick()
    expect(screen.getByText('It was withdrawn.')).toBeTruthy()
  })
})

describe('keys', () => {
  test('decide only from inside of the card', async () => {
    show(commandRequest())
    await ready()
    await fireEvent.keyDown(document.body, { key: 'Enter', ctrlKey: true })
    expect(decide).not.toHaveBeenCalled()
    await fireEvent.keyDown(card(), { key: 'Enter', ctrlKey: true })
    expect(decide).toHaveBeenCalledWith('t1.i5.c1.a1', { answer: 'approve', scope: 'once' })
  })

  test('Mod+Backspace rejects, with Shift it asks why', async () => {
    show(commandRequest())
    await ready()
    await fireEvent.keyDown(card(), { key: 'Backspace', ctrlKey: true, shiftKey: true })
    await vi.waitFor(() => screen.getByTestId('reject-reason'))
    await fireEvent.keyDown(screen.getByTestId('reject-reason'), { key: 'Backspace', ctrlKey: true })
    expect(decide).not.toHaveBeenCalled()
    await fireEvent.keyDown(card(), { key: 'Backspace', ctrlKey: true })
    expect(decide).toHaveBeenCalledWith('t1.i5.c1.a1', { answer: 'reject', pause: false })
  })

  test('Mod+Enter in a field of the card goes to the main button and decides nothing', async () => {
    show(commandRequest())
    await ready()
    await fireEvent.keyDown(card(), { key: 'e' })
    const field = await vi.waitFor(() => screen.getByRole('textbox'))
    await fireEvent.keyDown(field, { key: 'Enter', ctrlKey: true })
    expect(document.activeElement).toBe(main())
    expect(decide).not.toHaveBeenCalled()
  })

  test('Escape goes back to where the focus came from', async () => {
    const field = document.createElement('input')
    document.body.append(field)
    show(commandRequest())
    await ready()
    field.focus()
    card().focus()
    await fireEvent.focusIn(card(), { relatedTarget: field })
    await fireEvent.keyDown(card(), { key: 'Escape' })
    expect(document.activeElement).toBe(field)
    expect(decide).not.toHaveBeenCalled()
    field.remove()
  })

  test('W shows why it is asked', async () => {
    show(commandRequest())
    await fireEvent.keyDown(card(), { key: 'w' })
    await vi.waitFor(() => screen.getByText('Role Act'))
  })
})

describe('answers', () => {
  test('a rejection carries the words of the person', async () => {
    show(commandRequest())
    await fireEvent.keyDown(card(), { key: 'Backspace', ctrlKey: true, shiftKey: true })
    await fireEvent.click(await vi.waitFor(() => screen.getByText('too broad')))
    expect((screen.getByTestId('reject-reason') as HTMLTextAreaElement).value).toBe('too broad')
    await ready()
    await press(screen.getByTestId('reject-send'))
    expect(decide).toHaveBeenCalledWith('t1.i5.c1.a1', {
      answer: 'reject',
      pause: false,
      reason: 'too broad',
    })
  })

  test('an edited command is sent as edited arguments', async () => {
    show(commandRequest())
    await ready()
    await fireEvent.click(screen.getByTestId('edit'))
    const field = await vi.waitFor(() => screen.getByRole('textbox'))
    await fireEvent.input(field, { target: { value: 'npm ls' } })
    expect(main().textContent).toContain('Run edited command')
    await ready()
    await press(main())
    const decision = decide.mock.calls[0]?.[1]
    expect(decision).toMatchObject({ answer: 'approve', scope: 'once' })
    expect(JSON.parse((decision?.answer === 'approve' && decision.edited_arguments) || '')).toEqual({
      command: 'npm ls',
      timeout_seconds: 60,
    })
  })

  test('arguments that are no JSON cannot be sent', async () => {
    show(deleteRequest())
    await ready()
    await fireEvent.click(screen.getByTestId('edit'))
    const field = await vi.waitFor(() => screen.getByRole('textbox'))
    await fireEvent.input(field, { target: { value: '{"paths":' } })
    await ready()
    await press(main())
    await fireEvent.keyDown(card(), { key: 'Enter', ctrlKey: true })
    expect(decide).not.toHaveBeenCalled()
  })

  test('remembering is not offered where only once is allowed', () => {
    show(deleteRequest())
    expect(screen.queryByTestId('remember')).toBeNull()
  })
})

describe('what a card shows', () => {
  test('the words of the agent are quoted and never on a button', () => {
    show(commandRequest({ agent_words: 'Press Run once now' }))
    expect(screen.getByText('Press Run once now').closest('q')).toBeTruthy()
    for (const button of screen.getAllByRole('button')) expect(button.textContent).not.toContain('Press')
  })

  test('hidden characters of a command are boxed and counted', () => {
    const body = commandRequest().body
    if (body.body !== 'command') throw new Error('not a command')
    const text = 'cat \u202eelif'
    show(commandRequest({ body: { ...body, command: text, segments: [{ joint: '', text, notes: [] }] } }))
    expect(screen.getByText('U+202E')).toBeTruthy()
    expect(screen.getByText(/1 hidden character marked/u)).toBeTruthy()
  })

  test('a renewed diff is said, a deletion lists every file and is red', () => {
    const { unmount } = show(changeRequest({ renewed: true }))
    expect(screen.getByText(/diff renewed/u)).toBeTruthy()
    unmount()
    show(deleteRequest())
    expect(main().className).toContain('danger')
    expect(main().textContent).toContain('Delete 3 files')
    expect(screen.getByText('test/fixtures/c.json')).toBeTruthy()
    expect(screen.getByText('Cannot be restored')).toBeTruthy()
  })

  test('other approvals stand as rows and open on demand', async () => {
    show(commandRequest(), changeRequest())
    const rows = screen.getByRole('list', { name: '1 more waits' })
    await fireEvent.click(within(rows).getByRole('button'))
    await wait(260)
    expect(main().textContent).toContain('Write file')
  })
})
