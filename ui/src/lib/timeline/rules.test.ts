import { describe, expect, test } from 'vitest'
import type { EventMsg, Rule, RuleScope } from '$lib/protocol'
import { Story } from '../../fixtures/build'
import { fold, fromSnapshot, type TimelineState } from './reduce'
import { isOfSession } from './session'

const story = new Story('s-rules', 'Rules')

const rule = (id: string, scope: RuleScope = { scope: 'session' }): Rule => ({
  id,
  shape: { shape: 'write_path', path: 'docs/' },
  answer: 'allow',
  scope,
  created: 1,
  end: { end: 'never' },
  uses: 0,
})

const byRule = (approval: string, id: string): EventMsg => ({
  type: 'approval_resolved',
  approval,
  outcome: {
    outcome: 'decided',
    decision: { answer: 'approve', scope: 'once' },
    by: { by: 'rule', rule: id },
  },
})

const byPerson = (approval: string): EventMsg => ({
  type: 'approval_resolved',
  approval,
  outcome: { outcome: 'decided', decision: { answer: 'approve', scope: 'session' }, by: { by: 'person' } },
})

function folded(...messages: EventMsg[]): TimelineState {
  const state = fromSnapshot({ ...story.snapshot(undefined), seq: 0, rules: [rule('old')] })
  fold(
    state,
    messages.map((msg, at) => ({ session: story.id, seq: at + 1, at, msg })),
  )
  return state
}

const ids = (state: TimelineState): string[] => state.rules.map(({ id }) => id)

describe('rules in force', () => {
  test('begin with the snapshot, come and go', () => {
    expect(ids(folded())).toEqual(['old'])
    expect(ids(folded({ type: 'rule_added', rule: rule('new') }))).toEqual(['old', 'new'])
    expect(ids(folded({ type: 'rule_removed', rule: 'old' }))).toEqual([])
  })

  test('a rule that comes again is the same one', () => {
    const added: EventMsg = { type: 'rule_added', rule: rule('new') }
    expect(ids(folded(added, added))).toEqual(['old', 'new'])
  })

  test('those beyond the session are replaced as a whole, its own stay', () => {
    const project = rule('project', { scope: 'project' })
    const turn = rule('turn', { scope: 'turn', turn: 1 })
    const state = folded(
      { type: 'rule_added', rule: turn },
      { type: 'rules_loaded', rules: [project] },
      { type: 'rules_loaded', rules: [rule('everywhere', { scope: 'everywhere' })] },
    )
    expect(ids(state)).toEqual(['old', 'turn', 'everywhere'])
    expect(state.rules.filter(isOfSession)).toHaveLength(2)
  })
})

describe('what a new rule let start', () => {
  const added: EventMsg = { type: 'rule_added', rule: rule('new') }

  test('is counted for the rule, and the decided call itself is not', () => {
    expect(folded(byPerson('a'), added, byRule('b', 'new'), byRule('c', 'new')).covered).toEqual({
      rule: 'new',
      calls: 2,
    })
  })

  test('a rule that forbids starts nothing', () => {
    const refused: EventMsg = {
      type: 'approval_resolved',
      approval: 'b',
      outcome: {
        outcome: 'decided',
        decision: { answer: 'reject', pause: false },
        by: { by: 'rule', rule: 'new' },
      },
    }
    expect(folded(added, refused).covered).toBeUndefined()
  })

  test('is forgotten with the rule and with the next turn', () => {
    expect(folded(added, byRule('b', 'new'), { type: 'rule_removed', rule: 'new' }).covered).toBeUndefined()
    const turn: EventMsg = { type: 'turn_started', turn: 2, iteration_limit: 25, without_model: false }
    expect(folded(added, byRule('b', 'new'), turn).covered).toBeUndefined()
  })
})
