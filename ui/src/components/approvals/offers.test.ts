import { fireEvent, render, screen } from '@testing-library/svelte'
import { tick } from 'svelte'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { commandRequest } from '$lib/approvals/requests.fixture'
import type { ApprovalRequest, Decision, RuleDraft, RuleInfo, RulePreview } from '$lib/protocol'
import type { RuleDoor } from '$lib/rules/door'
import ApprovalDockBed from './ApprovalDockBed.svelte'

const decide = vi.fn<(id: string, decision: Decision) => Promise<void>>()
let kept: RuleDraft[] = []
let preview: RulePreview

const infos = (): RuleInfo[] =>
  kept.map((rule, at) => ({
    rule: { ...rule, id: `r${at}`, created: 0, uses: 0 },
    words: 'a rule',
    asleep: false,
  }))

const rules: RuleDoor = {
  list: () => Promise.resolve(infos()),
  preview: () => Promise.resolve(preview),
  save: (rule) => {
    kept.push(rule)
    return Promise.resolve(infos())
  },
  remove: () => Promise.resolve(infos()),
  judge: () => Promise.reject(new Error('not asked')),
}

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'performance', 'requestAnimationFrame', 'cancelAnimationFrame'],
  })
  localStorage.clear()
  decide.mockReset().mockResolvedValue()
  kept = []
  preview = { words: 'npm test, any arguments', wide: [], covered: [], near: [] }
})

afterEach(() => vi.useRealTimers())

const ready = async (): Promise<void> => {
  await vi.advanceTimersByTimeAsync(1_000)
  await tick()
}

async function press(element: HTMLElement): Promise<void> {
  await fireEvent.pointerDown(element)
  await fireEvent.click(element, { detail: 1 })
  if (vi.isFakeTimers()) await vi.advanceTimersByTimeAsync(0)
  await tick()
}

const like = (at: number, change: Partial<ApprovalRequest> = {}): ApprovalRequest =>
  commandRequest({
    id: `t1.i${at}.c1.a1`,
    rule: {
      shape: 'command',
      words: [{ word: 'exact', text: 'npm' }, { word: 'exact', text: 'test' }, { word: 'rest' }],
    },
    remembered_as: 'npm test, any arguments',
    ...change,
  })

async function allow(times: number, change: Partial<ApprovalRequest> = {}): Promise<void> {
  const { rerender } = render(ApprovalDockBed, { approvals: [like(1, change)], decide, doors: { rules } })
  for (let at = 1; at <= times; at += 1) {
    await rerender({ approvals: [like(at, change)] })
    await ready()
    await press(screen.getByTestId('approve-main'))
  }
  await rerender({ approvals: [] })
  await ready()
}

describe('after ten like approvals', () => {
  test('a rule is offered, and kept for the project', async () => {
    await allow(9)
    expect(screen.queryByTestId('suggestion')).toBeNull()
  })

  test('the tenth makes the offer, outside of any card', async () => {
    await allow(10)
    expect(screen.getByTestId('suggestion').textContent).toContain('npm test, any arguments')
    expect(screen.getByTestId('suggestion').closest('[data-card]')).toBeNull()
    await press(screen.getByTestId('keep-suggestion'))
    expect(kept).toEqual([
      { shape: like(1).rule, answer: 'allow', scope: { scope: 'project' }, end: { end: 'unused', days: 30 } },
    ])
    expect(screen.queryByTestId('suggestion')).toBeNull()
  })

  test('a wide rule is said in full before it is kept', async () => {
    preview.wide = ['npm may be run with every argument.']
    await allow(10)
    await press(screen.getByTestId('keep-suggestion'))
    expect(kept).toEqual([])
    expect(screen.getByText('npm may be run with every argument.')).toBeTruthy()
    await press(screen.getByTestId('keep-suggestion'))
    expect(kept).toHaveLength(1)
  })

  test('what no rule may cover is never offered', async () => {
    const bare = commandRequest()
    expect(bare.rule).toBeUndefined()
    const { rerender } = render(ApprovalDockBed, { approvals: [bare], decide, doors: { rules } })
    for (let at = 1; at <= 11; at += 1) {
      await rerender({ approvals: [{ ...bare, id: `t1.i${at}.c1.a1` }] })
      await ready()
      await press(screen.getByTestId('approve-main'))
    }
    expect(screen.queryByTestId('suggestion')).toBeNull()
  })

  test('it can be switched off for good', async () => {
    await allow(10)
    await press(screen.getByText('Do not suggest rules'))
    expect(screen.queryByTestId('suggestion')).toBeNull()
    await allow(10)
    expect(screen.queryByTestId('suggestion')).toBeNull()
  })
})

describe('a connection to a known group of hosts', () => {
  const connect = (change: Partial<ApprovalRequest> = {}): ApprovalRequest =>
    commandRequest({
      access: [{ access: 'network', host: 'pypi.org' }],
      classes: ['network'],
      body: { body: 'connect', host: 'pypi.org', port: 443, reach: 'unknown', command: 'pip install x' },
      ask: 1,
      scopes: ['once', 'turn', 'session', 'project'],
      ...change,
    })

  test('all of it is allowed for the project with one press', async () => {
    render(ApprovalDockBed, { approvals: [connect()], decide, doors: { rules } })
    await press(screen.getByTestId('allow-preset'))
    expect(kept, 'the button is guarded like the others').toEqual([])
    await ready()
    await press(screen.getByTestId('allow-preset'))
    expect(kept.map(({ shape }) => shape)).toEqual([
      { shape: 'host', host: 'pypi.org' },
      { shape: 'host', host: 'files.pythonhosted.org' },
    ])
    expect(decide).not.toHaveBeenCalled()
  })

  test('a name that leads to this machine gets no such offer', async () => {
    render(ApprovalDockBed, { approvals: [connect({ scopes: ['once'] })], decide, doors: { rules } })
    await ready()
    expect(screen.queryByTestId('allow-preset')).toBeNull()
  })
})

describe('the full window', () => {
  test('O gives a card the whole window, where its buttons wait again', async () => {
    vi.useRealTimers()
    render(ApprovalDockBed, { approvals: [commandRequest()], decide, doors: { rules } })
    const card = document.querySelector<HTMLElement>('[data-card]')
    if (card === null) throw new Error('no card is open')
    await fireEvent.keyDown(card, { key: 'o' })
    const window = await screen.findByRole('dialog')
    await vi.waitFor(() => expect(window.querySelector('[data-card]')).not.toBeNull())
    expect(document.querySelectorAll('[data-card]')).toHaveLength(1)
    await press(screen.getByTestId('approve-main'))
    expect(decide).not.toHaveBeenCalled()
  })
})
