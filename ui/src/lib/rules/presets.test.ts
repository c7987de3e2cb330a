import { describe, expect, test } from 'vitest'
import type { RuleInfo } from '$lib/protocol'
import { hostPresets, missingRules, presetOf, presetRules } from './presets'

const info = (host: string, more: Partial<RuleInfo['rule']> = {}): RuleInfo => ({
  rule: {
    id: host,
    shape: { shape: 'host', host },
    answer: 'allow',
    scope: { scope: 'project' },
    created: 0,
    end: { end: 'never' },
    uses: 0,
    ...more,
  },
  words: host,
  asleep: false,
})

describe('presets of hosts', () => {
  const npm = presetOf('registry.npmjs.org')

  test('every host belongs to one preset and is a whole name', () => {
    const hosts = hostPresets.flatMap((preset) => preset.hosts)
    expect(new Set(hosts).size).toBe(hosts.length)
    for (const host of hosts) expect(host).toMatch(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/u)
    expect(presetOf('registry.npmjs.org.example.com')).toBeUndefined()
  })

  test('only what is missing is made, and a rule that refuses does not count', () => {
    if (npm === undefined) throw new Error('no preset')
    expect(missingRules(npm, []).map(({ shape }) => shape)).toEqual(
      npm.hosts.map((host) => ({ shape: 'host', host })),
    )
    expect(
      missingRules(
        npm,
        npm.hosts.map((host) => info(host)),
      ),
    ).toEqual([])
    expect(missingRules(npm, [info('registry.npmjs.org', { answer: 'never' })])).toHaveLength(2)
    expect(missingRules(npm, [{ ...info('registry.npmjs.org'), asleep: true }])).toHaveLength(2)
  })

  test('taking a preset back leaves rules for all projects', () => {
    if (npm === undefined) throw new Error('no preset')
    const everywhere = info('registry.npmjs.org', { scope: { scope: 'everywhere' } })
    const own = info('registry.yarnpkg.com')
    expect(presetRules(npm, [everywhere, own, info('example.com')])).toEqual([own])
  })
})
