import { expect, test } from 'vitest'
import { grantDecision, grantOffer, outsideOf } from './grants'
import { groupsOf, tickedAtFirst } from './groups'
import { shownHost } from './hosts'
import {
  changeRequest,
  commandRequest,
  connectRequest,
  deleteRequest,
  outsideRequest,
  refusedRequest,
} from './requests.fixture'

const two = <T extends { id: string }>(make: (change: { id: string }) => T): T[] => [
  make({ id: 'one' }),
  make({ id: 'two' }),
]

test('two of one class make a group, one alone does not', () => {
  const groups = groupsOf([...two(changeRequest), commandRequest(), ...two(deleteRequest)])
  expect(groups.map(({ risk, requests }) => [risk, requests.length])).toEqual([
    ['write', 2],
    ['delete', 2],
  ])
})

test('only writes are ticked at first', () => {
  const first = (requests: ReturnType<typeof groupsOf>): string[] => requests.flatMap(tickedAtFirst)
  expect(first(groupsOf(two(changeRequest)))).toEqual(['one', 'two'])
  for (const make of [deleteRequest, outsideRequest, connectRequest, commandRequest]) {
    expect(first(groupsOf(two(make)))).toEqual([])
  }
})

test('a host may be granted for longer, and the proposed rule is not repeated', () => {
  const request = connectRequest()
  expect(grantOffer(request)?.exact).toEqual({ shape: 'host', host: 'api.example.com' })
  expect(grantDecision(request, { scope: 'once', wholeFolder: false })).toEqual({
    answer: 'approve',
    scope: 'once',
  })
  expect(grantDecision(request, { scope: 'session', wholeFolder: false })).toEqual({
    answer: 'approve',
    scope: 'session',
  })
})

test('the folder of an outside file is a rule of its own, reading stays reading', () => {
  const request = outsideRequest()
  expect(outsideOf(request)).toHaveLength(1)
  expect(grantDecision(request, { scope: 'session', wholeFolder: true })).toEqual({
    answer: 'approve',
    scope: 'session',
    rule: {
      shape: { shape: 'outside', path: '/home/mira/shared-config/', write: false },
      end: { end: 'never' },
    },
  })
})

test('what a refused run wanted is granted, not what it declared before', () => {
  const request = refusedRequest()
  expect(outsideOf(request).map(({ path }) => path)).toEqual(['/home/mira/.cache/tool/index'])
  expect(grantOffer(request)?.exact).toEqual({
    shape: 'outside',
    path: '/home/mira/.cache/tool/index',
    write: true,
  })
})

test('several things at once are granted as they are', () => {
  const run = refusedRequest().again
  if (run === undefined) throw new Error('no run')
  const refused = [...run.refused, { access: 'network' as const, host: 'a.example.com' }]
  expect(grantOffer(refusedRequest({ again: { ...run, refused } }))).toBeUndefined()
})

test('an ordinary command offers no grant', () => {
  expect(grantOffer(commandRequest())).toBeUndefined()
})

test('hosts of other scripts are shown in both forms', () => {
  expect(shownHost('xn--bcher-kva.example')).toMatchObject({
    own: 'bücher.example',
    plain: 'xn--bcher-kva.example',
  })
  expect(shownHost('xn--80ak6aa92e.com').own).toBe('аррӏе.com')
  expect(shownHost('xn--fsqu00a.xn--0zwm56d').own).toBe('例子.测试')
  expect(shownHost('example.com').own).toBeUndefined()
})

test('a name that is no such form stays as it is sent', () => {
  for (const host of ['xn--!.com', 'xn--.com', 'xn--99999999999999.com'])
    expect(shownHost(host).plain).toBe(host)
})

test('a long host gives up its beginning on a button', () => {
  const host = `${'login-to-your-bank.'.repeat(4)}evil.example`
  expect(shownHost(host).short).toMatch(/^….*evil\.example$/u)
})
