import { fireEvent, render, screen, within } from '@testing-library/svelte'
import { tick } from 'svelte'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { fakeClock } from '$lib/approvals/clock.fixture'
import { changeRequest } from '$lib/approvals/requests.fixture'
import type { ApprovalRequest, ChangeNote, Decision, DiffLine, FileChange, Hunk } from '$lib/protocol'
import ApprovalDockBed from './ApprovalDockBed.svelte'

const decide = vi.fn<(id: string, decision: Decision) => Promise<void>>()

fakeClock()
beforeEach(() => {
  decide.mockReset().mockResolvedValue()
})

const line = (mark: DiffLine['mark'], text: string): DiffLine => ({ mark, text })
const hunk = (at: number): Hunk => ({
  old_start: at,
  new_start: at,
  lines: [line('same', 'before'), line('removed', `old ${at}`), line('added', `new ${at}`)],
})

function edit(places: readonly number[], change: Partial<FileChange> = {}, id = 'w1'): ApprovalRequest {
  return changeRequest({
    id,
    body: {
      body: 'change',
      change: {
        path: 'src/login.ts',
        kind: { change: 'edited' },
        added: places.length,
        removed: places.length,
        undoable: true,
        diff: { only_whitespace: false, hunks: places.map(hunk) },
        ...change,
      },
      base: { file: 'content', hash: 'ab' },
    },
  })
}

const wait = async (millis: number): Promise<void> => {
  await vi.advanceTimersByTimeAsync(millis)
  await tick()
}

/** A dock whose diff is there: it is loaded when it is needed. */
type Next = { approvals: ApprovalRequest[] }

async function show(...approvals: ApprovalRequest[]): Promise<{ rerender: (next: Next) => Promise<void> }> {
  const { rerender } = render(ApprovalDockBed, { approvals, decide })
  await vi.waitFor(() => screen.getAllByText('before'))
  await wait(700)
  return { rerender }
}

const main = (): HTMLElement => screen.getByTestId('approve-main')
const box = (place: number): HTMLInputElement => screen.getByTestId(`hunk-${place}`)

async function press(element: HTMLElement): Promise<void> {
  await fireEvent.pointerDown(element)
  await fireEvent.click(element, { detail: 1 })
}

describe('leaving parts of a change out', () => {
  test('the button says how many are written, waits again, and sends the places', async () => {
    await show(edit([10, 40, 80]))
    await fireEvent.click(box(1))
    expect(main().textContent).toContain('Write 2 of 3 changes')
    await press(main())
    expect(decide, 'the button says something else now').not.toHaveBeenCalled()
    await wait(700)
    await press(main())
    expect(decide).toHaveBeenCalledWith('w1', { answer: 'approve', scope: 'once', left_out: [1] })
  })

  test('each part has a box with its place and its lines in words', async () => {
    await show(edit([10, 40]))
    const second = screen.getByRole('checkbox', {
      name: /^Write change 2 of 2, near line 40: 1 line added, 1 removed$/u,
    })
    expect((second as HTMLInputElement).checked).toBe(true)
    await fireEvent.click(second)
    expect((second as HTMLInputElement).checked).toBe(false)
    const head = second.closest('tr')
    expect(within(head as HTMLElement).getByText('left out')).toBeTruthy()
    expect(screen.getByText('The agent is told what you leave out.')).toBeTruthy()
    await fireEvent.click(second)
    expect(main().textContent).toContain('Write file')
  })

  test('nothing at all cannot be written, by no key either', async () => {
    await show(edit([10, 40]))
    await fireEvent.click(box(1))
    await fireEvent.click(box(0))
    await wait(700)
    expect(main().getAttribute('aria-disabled')).toBe('true')
    expect(screen.getByText(/Reject the call instead/u)).toBeTruthy()
    await press(main())
    const card = document.querySelector<HTMLElement>('[data-card]')
    if (card === null) throw new Error('no card is open')
    await fireEvent.keyDown(card, { key: 'Enter', ctrlKey: true })
    expect(decide).not.toHaveBeenCalled()
    await fireEvent.click(box(0))
    await wait(700)
    await press(main())
    expect(decide).toHaveBeenCalledWith('w1', { answer: 'approve', scope: 'once', left_out: [1] })
  })

  test('a diff that was made again begins with all of it', async () => {
    const { rerender } = await show(edit([10, 40]))
    await fireEvent.click(box(0))
    await rerender({ approvals: [{ ...edit([10, 40], {}, 'w2'), renewed: true }] })
    await wait(1_000)
    expect(box(0).checked).toBe(true)
    expect(main().textContent).toContain('Write file')
  })

  test('one part alone has no box: it is rejected as a whole', async () => {
    await show(edit([10]))
    expect(screen.queryByRole('checkbox')).toBeNull()
  })

  test('what has a choice of its own is not decided together with others', async () => {
    await show(edit([10, 40]), edit([10, 40], {}, 'w2'))
    expect(screen.getByTestId('review-group')).toBeTruthy()
    await fireEvent.click(box(0))
    expect(screen.queryByTestId('review-group')).toBeNull()
  })
})

describe('what a diff does not show', () => {
  test('is said in words', async () => {
    const notes: ChangeNote[] = [
      { note: 'possible_key', lines: [12] },
      { note: 'line_ends', from: 'lf', to: 'cr_lf' },
      { note: 'encoding', from: 'not UTF-8, read as Latin-1', to: 'UTF-8' },
      { note: 'last_line_end', ends: false },
    ]
    await show(edit([10], { notes }))
    for (const words of [
      'Looks like a key: line 12.',
      'Line ends change from LF (Unix) to CRLF (Windows).',
      'The encoding changes from not UTF-8, read as Latin-1 to UTF-8.',
      'The last line loses its line end.',
    ])
      expect(screen.getByText(words)).toBeTruthy()
  })

  test('a long new file shows its beginning and opens large', async () => {
    const created = (lines: number, diff: boolean): ApprovalRequest => {
      const texts = Array.from({ length: lines }, (_, at) => `text ${at + 1}`)
      const added = texts.map((text) => line('added', text))
      const change: FileChange = {
        path: 'a.ts',
        kind: { change: 'created' },
        added: lines,
        removed: 0,
        undoable: true,
        ...(diff
          ? { diff: { only_whitespace: false, hunks: [{ old_start: 0, new_start: 1, lines: added }] } }
          : {}),
      }
      return {
        ...edit([]),
        arguments: JSON.stringify({ path: 'a.ts', content: `${texts.join('\n')}\n` }),
        body: { body: 'change', change, base: { file: 'absent' } },
      }
    }
    for (const [lines, diff] of [
      [401, true],
      [2_500, false],
    ] as const) {
      const { unmount } = render(ApprovalDockBed, { approvals: [created(lines, diff)], decide })
      await vi.waitFor(() => screen.getByText('text 80'))
      expect(screen.queryByText('text 81')).toBeNull()
      expect(screen.getByText(`${(lines - 80).toLocaleString('en')} more lines`)).toBeTruthy()
      await fireEvent.click(screen.getByText('Open large'))
      await vi.waitFor(() => screen.getByText('text 81'))
      unmount()
    }
    const { unmount } = render(ApprovalDockBed, { approvals: [created(400, true)], decide })
    await vi.waitFor(() => screen.getByText('text 400'))
    unmount()
  })
})
