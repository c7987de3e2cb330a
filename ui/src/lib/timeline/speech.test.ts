import { expect, test } from 'vitest'
import { connectRequest, refusedRequest } from '$lib/approvals/requests.fixture'
import type { ApprovalRequest, Item, TurnStatus } from '$lib/protocol'
import { Announcer } from '../announce'
import { Story } from '../../fixtures/build'
import { approval as approvalFixture } from '../../fixtures/sessions'
import { SessionSpeech } from './speech'

function listen(): { speech: SessionSpeech; urgent: string[]; polite: string[] } {
  const urgent: string[] = []
  const polite: string[] = []
  const announcer = new Announcer()
  announcer.interrupt = (text) => void urgent.push(text)
  announcer.say = (text) => void polite.push(text)
  return { speech: new SessionSpeech(announcer), urgent, polite }
}

const story = new Story('s', 'Speech')
story.you('Go')
story.next()

function turn(status: TurnStatus, iteration = 1) {
  const { turn } = story.snapshot(status)
  return turn && { ...turn, iteration }
}

const approvals = (): ApprovalRequest[] => approvalFixture().snapshots['s-login']?.approvals ?? []

test('what was there when the session was opened is not announced', () => {
  const { speech, urgent, polite } = listen()
  speech.hear({ turn: turn({ state: 'waiting_for_approval' }), approvals: approvals(), items: story.items })
  expect([...urgent, ...polite]).toEqual([])
})

test('a new approval is announced once, at once', () => {
  const { speech, urgent } = listen()
  const [first] = approvals()
  if (first === undefined) throw new Error('no approval')
  speech.hear({ turn: turn({ state: 'thinking' }), approvals: [], items: [] })
  speech.hear({ turn: turn({ state: 'waiting_for_approval' }), approvals: [first], items: [] })
  speech.hear({ turn: turn({ state: 'waiting_for_approval' }), approvals: [first], items: [] })
  expect(urgent.length).toBe(1)
  expect(urgent[0]).toContain('Approval needed: Run npm install')
})

test('a host that a running command wants is named, and what the sandbox refused', () => {
  const { speech, urgent } = listen()
  speech.hear({ turn: turn({ state: 'using_tools' }), approvals: [], items: [] })
  const asked = [connectRequest(), refusedRequest()]
  speech.hear({ turn: turn({ state: 'waiting_for_approval' }), approvals: asked, items: [] })
  expect(urgent[0]).toContain('Approval needed: Connect to api.example.com.')
  expect(urgent[1]).toContain('Approval needed: Blocked by the sandbox: writing to /home/mira/.cache')
})

test('an approval of a sub-agent says who asks', () => {
  const { speech, urgent } = listen()
  const [first] = approvals()
  if (first === undefined) throw new Error('no approval')
  const origin = { name: 'tests', session: 's-sub', approval: 't1.i1.c1.a1' }
  speech.hear({ turn: turn({ state: 'thinking' }), approvals: [], items: [] })
  speech.hear({ turn: turn({ state: 'using_tools' }), approvals: [{ ...first, origin }], items: [] })
  expect(urgent[0]).toContain('Approval needed by sub-agent tests: Run')
})

test('a command that is late is announced once', () => {
  const { speech, urgent } = listen()
  const late = new Story('s', 'Late')
  late.you('Go')
  late.next()
  late.call('run', 'npm test', { status: 'running', more: { overdue: true } })
  speech.hear({ turn: turn({ state: 'using_tools' }), approvals: [], items: [] })
  speech.hear({ turn: turn({ state: 'using_tools' }), approvals: [], items: late.items })
  speech.hear({ turn: turn({ state: 'using_tools' }), approvals: [], items: late.items })
  expect(urgent).toEqual(['npm test did not end in time and is still running. Decide what becomes of it.'])
})

test('a text is announced when it is complete, not while it streams', () => {
  const { speech, polite } = listen()
  const item = (status: Item['status']): Item => ({
    id: 5,
    turn: 1,
    iteration: 1,
    started: 0,
    status,
    kind: { type: 'agent_text', text: 'three small words' },
  })
  speech.hear({ turn: turn({ state: 'thinking' }), approvals: [], items: [] })
  speech.hear({ turn: turn({ state: 'thinking' }), approvals: [], items: [item('running')] })
  expect(polite).toEqual([])
  speech.hear({ turn: turn({ state: 'thinking' }), approvals: [], items: [item('done')] })
  expect(polite).toEqual(['Answer ready, 3 words.'])
})

test('the last iterations and the limit are announced', () => {
  const { speech, urgent, polite } = listen()
  speech.hear({ turn: turn({ state: 'thinking' }, 19), approvals: [], items: [] })
  speech.hear({ turn: turn({ state: 'thinking' }, 20), approvals: [], items: [] })
  expect(polite).toEqual(['Iteration 20 of 25, 5 left.'])
  const reached = [{ limit: 'iterations' as const, used: 25, allowed: 25 }]
  speech.hear({
    turn: turn({ state: 'paused', cause: { cause: 'limits', reached } }, 25),
    approvals: [],
    items: [],
  })
  expect(urgent).toEqual(['Paused: Iteration limit reached (25).'])
})
