import { fireEvent, render, screen } from '@testing-library/svelte'
import { tick } from 'svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import { ApprovalDesk } from '$lib/approvals.svelte'
import { fakeClock } from '$lib/approvals/clock.fixture'
import { changeRequest, commandRequest } from '$lib/approvals/requests.fixture'
import { HostError } from '$lib/host/host'
import type { ApprovalRequest, Decision, RuleDraft, RuleInfo, RulePreview } from '$lib/protocol'
import type { RuleDoor } from '$lib/rules/door'
import RememberDialog from './RememberDialog.svelte'

const decide = vi.fn<(id: string, decision: Decision) => Promise<void>>()
const preview = vi.fn<RuleDoor['preview']>()
const save = vi.fn<(rule: RuleDraft) => Promise<RuleInfo[]>>()
const onclose = vi.fn()
const plain: RulePreview = { words: 'npm install, any arguments', wide: [], covered: [], near: [] }

fakeClock(new Date(2026, 4, 20, 9, 30))
beforeEach(() => {
  decide.mockReset().mockResolvedValue()
  preview.mockReset().mockResolvedValue(plain)
  save.mockReset().mockResolvedValue([])
  onclose.mockReset()
})

const wait = async (millis: number): Promise<void> => {
  await vi.advanceTimersByTimeAsync(millis)
  await tick()
}

const request = (change: Partial<ApprovalRequest> = {}): ApprovalRequest =>
  commandRequest({
    rule: {
      shape: 'command',
      words: [{ word: 'exact', text: 'npm' }, { word: 'exact', text: 'install' }, { word: 'rest' }],
    },
    scopes: ['once', 'turn', 'session', 'project'],
    ...change,
  })

async function show(asked: ApprovalRequest): Promise<void> {
  const rules: RuleDoor = {
    preview,
    save,
    list: () => Promise.resolve([]),
    remove: () => Promise.resolve([]),
    judge: () => Promise.reject(new Error('not asked')),
  }
  const desk = new ApprovalDesk(() => [asked], decide, { rules })
  render(RememberDialog, { desk, rules, request: asked, onclose })
  await wait(900)
}

async function press(name: string): Promise<void> {
  const button = screen.getByTestId(name)
  await fireEvent.pointerDown(button)
  await fireEvent.click(button, { detail: 1 })
  await tick()
}

test('the rule that is kept is the one that was shown', async () => {
  await show(request())
  expect(screen.getByText(/npm install, any arguments/u)).toBeTruthy()
  await fireEvent.click(screen.getByLabelText('this project'))
  await wait(900)
  await press('remember-keep')
  expect(decide).toHaveBeenCalledWith('t1.i5.c1.a1', {
    answer: 'approve',
    scope: 'project',
    rule: {
      shape: {
        shape: 'command',
        words: [{ word: 'exact', text: 'npm' }, { word: 'exact', text: 'install' }, { word: 'rest' }],
      },
      end: { end: 'unused', days: 30 },
    },
  })
  expect(onclose).toHaveBeenCalled()
})

test('nothing is kept before its meaning is known, nor right after the dialog has come', async () => {
  preview.mockReturnValue(new Promise(() => undefined))
  await show(request())
  await press('remember-keep')
  expect(decide).not.toHaveBeenCalled()
})

test('a press in the first half second decides nothing', async () => {
  const asked = request()
  await show(asked)
  await fireEvent.keyDown(document.body, { key: 'y' })
  await wait(200)
  await press('remember-keep')
  expect(decide).not.toHaveBeenCalled()
  expect(screen.getByText('One moment')).toBeTruthy()
})

test('a wide rule is confirmed a second time, with its buttons guarded again', async () => {
  preview.mockResolvedValue({ ...plain, wide: ['npm may be run with every argument.'] })
  await show(request())
  await press('remember-keep')
  expect(decide).not.toHaveBeenCalled()
  expect(screen.getByText('npm may be run with every argument.')).toBeTruthy()
  await press('remember-wide')
  expect(decide).not.toHaveBeenCalled()
  await wait(900)
  await press('remember-wide')
  expect(decide).toHaveBeenCalledTimes(1)
})

test('a refused shape says why and can only be allowed once', async () => {
  preview.mockResolvedValue({ ...plain, refused: 'bash can run any code.' })
  await show(request({ scopes: ['once'] }))
  expect(screen.getByText(/bash can run any code/u)).toBeTruthy()
  expect(screen.queryByTestId('remember-keep')).toBeNull()
  await press('remember-once')
  expect(decide).toHaveBeenCalledWith('t1.i5.c1.a1', { answer: 'approve', scope: 'once' })
})

test('a command that cannot be told apart offers no rule', async () => {
  const { body } = commandRequest()
  if (body.body !== 'command') throw new Error('not a command')
  const text = 'echo $(id)'
  const { rule, ...without } = request({
    scopes: ['once'],
    body: { ...body, command: text, segments: [{ joint: '', text, notes: [] }] },
  })
  void rule
  await show(without)
  expect(preview).not.toHaveBeenCalled()
  expect(screen.getByText(/cannot be told apart/u)).toBeTruthy()
  expect(screen.getByTestId('remember-once')).toBeTruthy()
})

test('never keeps the rule for the project without an end, and rejects', async () => {
  await show(request())
  await fireEvent.click(screen.getByLabelText('never allow'))
  await wait(900)
  await press('remember-keep')
  await wait(10)
  expect(save).toHaveBeenCalledWith(
    expect.objectContaining({ answer: 'never', scope: { scope: 'project' }, end: { end: 'never' } }),
  )
  expect(decide).toHaveBeenCalledWith('t1.i5.c1.a1', { answer: 'reject', pause: false })
})

test('always ask keeps the rule and decides nothing', async () => {
  await show(request())
  await fireEvent.click(screen.getByLabelText('always ask'))
  await wait(900)
  await press('remember-keep')
  await wait(10)
  expect(save).toHaveBeenCalledTimes(1)
  expect(decide).not.toHaveBeenCalled()
  expect(onclose).toHaveBeenCalled()
})

test('a decision that is not taken stays in sight', async () => {
  decide.mockRejectedValue(
    new HostError({ code: 'bad_request', message: 'The rule does not cover this call.' }),
  )
  await show(request())
  await press('remember-keep')
  await wait(10)
  expect(screen.getByText('The rule does not cover this call.')).toBeTruthy()
  expect(onclose).not.toHaveBeenCalled()
})

test('a file may be remembered with its folder', async () => {
  await show(
    changeRequest({
      rule: { shape: 'write_path', path: 'src/login.ts' },
      scopes: ['once', 'turn', 'session', 'project'],
    }),
  )
  await fireEvent.click(screen.getByLabelText('changes in src and below'))
  await wait(900)
  await press('remember-keep')
  expect(decide.mock.calls[0]?.[1]).toEqual({
    answer: 'approve',
    scope: 'session',
    rule: { shape: { shape: 'write_path', path: 'src/' }, end: { end: 'never' } },
  })
})
