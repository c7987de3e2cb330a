import { expect, test } from 'vitest'
import type { ParameterKind, WorkflowParameter } from '$lib/protocol'
import { keepDraft, keptDraft } from './kept'
import { faultsOf, isDate, isInside, problemOf, startDraft, valuesOf } from './values'

const parameter = (kind: ParameterKind, more: Partial<WorkflowParameter> = {}): WorkflowParameter => ({
  name: 'it',
  label: 'It',
  help: '',
  kind,
  required: false,
  ...more,
})

test('kept values come before defaults, and only where they still fit', () => {
  const choice = parameter({ kind: 'choice', options: ['a', 'b'] }, { default: 'b' })
  expect(startDraft([choice], { it: 'a' })).toEqual({ it: 'a' })
  expect(startDraft([choice], { it: 'gone' })).toEqual({ it: 'b' })
  expect(startDraft([parameter({ kind: 'switch' })], { it: 'yes' })).toEqual({ it: false })
  expect(startDraft([parameter({ kind: 'number' }, { default: 7 })])).toEqual({ it: '7' })
})

test('empty fields are faults only where something is required', () => {
  expect(problemOf(parameter({ kind: 'text' }), ' ')).toBeUndefined()
  expect(problemOf(parameter({ kind: 'text' }, { required: true }), ' ')).toBe('Fill this in.')
  expect(problemOf(parameter({ kind: 'choices', options: ['a'] }, { required: true }), [])).toBe(
    'Choose at least one.',
  )
  expect(problemOf(parameter({ kind: 'switch' }, { required: true }), false)).toBeUndefined()
})

test('numbers keep to their range', () => {
  const number = parameter({ kind: 'number', min: 1, max: 10 })
  expect(problemOf(number, '7')).toBeUndefined()
  for (const typed of ['0', '11', 'many', '1e999']) expect(problemOf(number, typed)).toBeDefined()
  expect(valuesOf([parameter({ kind: 'number' })], { it: '1,200.5' })).toEqual({ it: 1200.5 })
})

test('dates exist and paths stay inside', () => {
  expect(['2026-02-28', '2024-02-29'].every(isDate)).toBe(true)
  expect(['2026-02-29', '2026-13-01', '14.3.2026', ''].some(isDate)).toBe(false)
  expect(['src', 'src/a.ts', 'a..b'].every(isInside)).toBe(true)
  expect(['/etc', '~/x', '../up', 'a/../../b', 'C:\\x', 'a\\..\\b'].some(isInside)).toBe(false)
})

test('a pattern of a file is never run in the window', () => {
  const hostile = parameter({ kind: 'text', pattern: '(a+)+$' })
  const before = performance.now()
  expect(problemOf(hostile, `${'a'.repeat(60)}!`)).toBeUndefined()
  expect(performance.now() - before).toBeLessThan(200)
})

test('empty fields are left out of what is sent', () => {
  const form = [
    parameter({ kind: 'text' }, { name: 'text' }),
    parameter({ kind: 'choices', options: ['a', 'b'] }, { name: 'some' }),
    parameter({ kind: 'switch' }, { name: 'on' }),
  ]
  expect(valuesOf(form, { text: '', some: ['b'], on: false })).toEqual({ some: ['b'], on: false })
  expect(faultsOf(form, {})).toEqual([])
})

test('what was typed is kept per project and workflow; damaged storage is no obstacle', () => {
  localStorage.clear()
  keepDraft('/a', 'x', { it: '1' })
  expect(keptDraft('/a', 'x')).toEqual({ it: '1' })
  expect(keptDraft('/b', 'x')).toBeUndefined()
  localStorage.setItem('workflow:/a:x', '{not json')
  expect(keptDraft('/a', 'x')).toBeUndefined()
})
