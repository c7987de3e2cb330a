import { expect, test } from 'vitest'
import { changeRequest, commandRequest, deleteRequest } from '$lib/approvals/requests.fixture'
import type { CallItem, Item, RiskClass } from '$lib/protocol'
import { momentOf } from './moments'

const call = (...classes: RiskClass[]): Item => {
  const kind: CallItem = {
    call: 't1.i1.c1',
    server_id: '',
    tool: 'read_file',
    arguments: '{}',
    verb: 'read',
    target: 'a',
    classes,
  }
  return { id: 1, turn: 1, iteration: 1, started: 0, status: 'done', kind: { type: 'call', ...kind } }
}

test('each moment of the demo is recognised', () => {
  const thinking = { state: 'thinking' } as const
  const scene = { status: thinking, approvals: [], items: [] }
  expect(momentOf(scene)).toBeUndefined()
  expect(momentOf({ ...scene, items: [call('read')] })).toBe('reads')
  expect(momentOf({ ...scene, items: [call('read'), call('write')] })).toBeUndefined()
  expect(momentOf({ ...scene, approvals: [changeRequest()] })).toBe('edit')
  expect(momentOf({ ...scene, approvals: [commandRequest({ classes: ['command'] })] })).toBe('command')
  expect(momentOf({ ...scene, approvals: [commandRequest()] })).toBe('network')
  expect(momentOf({ ...scene, approvals: [deleteRequest()] })).toBeUndefined()
  const paused = { state: 'paused', cause: { cause: 'guard', pattern: 'same_call' } } as const
  expect(momentOf({ ...scene, status: paused })).toBe('circles')
  expect(momentOf({ ...scene, status: { state: 'paused', cause: { cause: 'limits', reached: [] } } })).toBe(
    'limit',
  )
})
