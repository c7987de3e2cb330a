import { expect, test } from 'vitest'
import type { RuleDraft, RuleInfo } from '$lib/protocol'
import { readRules, writeRules } from './file'

const rules: RuleDraft[] = [
  {
    shape: {
      shape: 'command',
      words: [
        { word: 'exact', text: 'npm' },
        { word: 'one_of', texts: ['test', 't'] },
        { word: 'any' },
        { word: 'rest' },
      ],
    },
    answer: 'allow',
    scope: { scope: 'project' },
    end: { end: 'unused', days: 30 },
  },
  {
    shape: { shape: 'write_path', path: 'docs/' },
    answer: 'ask',
    scope: { scope: 'project' },
    end: { end: 'never' },
  },
  {
    shape: { shape: 'host', host: '*.example.com' },
    answer: 'never',
    scope: { scope: 'everywhere' },
    end: { end: 'never' },
  },
  {
    shape: { shape: 'outside', path: '/srv/shared/', write: false },
    answer: 'allow',
    scope: { scope: 'project' },
    end: { end: 'at', at: 1_800_000_000_000 },
  },
  {
    shape: { shape: 'external_tool', server: 'tracker', tool: 'create' },
    answer: 'ask',
    scope: { scope: 'project' },
    end: { end: 'never' },
  },
]

const infos = rules.map((rule, at): RuleInfo => ({
  rule: { ...rule, id: `r${at}`, created: 1, uses: 9, last_used: 5 },
  words: '',
  asleep: false,
}))

test('rules come back as they were written, without their history', () => {
  expect(readRules(writeRules(infos))).toEqual(rules)
  expect(writeRules(infos)).not.toContain('uses')
})

const file = (change: unknown): string => JSON.stringify({ paddock_rules: 1, rules: [change] })
const [first] = rules

test.each([
  ['no JSON', '{'],
  ['another file', '{"rules":[]}'],
  ['another version', '{"paddock_rules":2,"rules":[]}'],
  ['an unknown answer', file({ ...first, answer: 'yes' })],
  ['a rule of a session', file({ ...first, scope: { scope: 'session' } })],
  ['an unknown shape', file({ ...first, shape: { shape: 'regex', text: '.*' } })],
  ['a command without words', file({ ...first, shape: { shape: 'command', words: [] } })],
  ['an unknown word', file({ ...first, shape: { shape: 'command', words: [{ word: 'glob', text: '*' }] } })],
  ['a place without its access', file({ ...first, shape: { shape: 'outside', path: '/srv' } })],
  ['an end without a time', file({ ...first, end: { end: 'at' } })],
  ['too many', JSON.stringify({ paddock_rules: 1, rules: Array.from({ length: 501 }, () => first) })],
])('%s is refused as a whole', (_, text) => {
  expect(readRules(text)).toBeUndefined()
})

test('fields that are not known are left out', () => {
  expect(readRules(file({ ...first, id: 'mine', shape: { ...first?.shape, extra: 1 } }))).toEqual([first])
})
