import { expect, test } from 'vitest'
import type { RuleShape } from '$lib/protocol'
import { endOf, endsFor } from './ends'
import { folderOf, targetsOf } from './targets'

const hosts = (host: string): string[] =>
  targetsOf({ shape: 'host', host }).map((shape) => (shape.shape === 'host' ? shape.host : ''))

test('a host may be widened to what is below a domain, never to a whole top level', () => {
  expect(hosts('a.b.example.com')).toEqual(['a.b.example.com', '*.b.example.com', '*.example.com'])
  expect(hosts('api.example.com')).toEqual(['api.example.com', '*.example.com'])
  expect(hosts('example.com')).toEqual(['example.com'])
  expect(hosts('localhost')).toEqual(['localhost'])
  expect(hosts('*.b.example.com')).toEqual(['*.b.example.com', '*.example.com'])
})

test('the address of a machine has no domain', () => {
  expect(hosts('10.0.0.1')).toEqual(['10.0.0.1'])
  expect(hosts('fe80::1')).toEqual(['fe80::1'])
})

test('a path may be widened to its folders, never to everything', () => {
  const paths = targetsOf({ shape: 'write_path', path: 'src/api/login.ts' })
  expect(paths).toEqual(
    ['src/api/login.ts', 'src/api/', 'src/'].map((path): RuleShape => ({ shape: 'write_path', path })),
  )
  expect(folderOf('/etc')).toBeUndefined()
  expect(folderOf('README.md')).toBeUndefined()
})

test('a place outside may be its file or its folder, and keeps whether it is written', () => {
  expect(targetsOf({ shape: 'outside', path: '/srv/shared/ports.json', write: false })).toEqual([
    { shape: 'outside', path: '/srv/shared/ports.json', write: false },
    { shape: 'outside', path: '/srv/shared/', write: false },
  ])
  expect(targetsOf({ shape: 'outside', path: '/srv/shared/', write: true })).toHaveLength(1)
})

test('ends fit their scope', () => {
  expect(endsFor('turn')).toEqual(['scope'])
  expect(endsFor('session')[0]).toBe('scope')
  expect(endsFor('project')[0]).toBe('unused')
  expect(endsFor('project')).not.toContain('scope')
  expect(endsFor('project', 'never')).not.toContain('unused')
})

test('ends are reckoned from now', () => {
  const now = new Date(2026, 4, 20, 9, 30).getTime()
  expect(endOf('hour', now)).toEqual({ end: 'at', at: now + 3_600_000 })
  expect(endOf('today', now)).toEqual({ end: 'at', at: new Date(2026, 4, 21).getTime() })
  expect(endOf('unused', now)).toEqual({ end: 'unused', days: 30 })
  expect(endOf('scope', now)).toEqual({ end: 'never' })
})
