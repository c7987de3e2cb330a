import { expect, test } from 'vitest'
import { argumentRows, argumentsObject, editField, fieldText, withField } from './edits'
import { changeRequest, commandRequest, deleteRequest } from './requests.fixture'

test('a command is edited as one text and everything else stays', () => {
  const request = commandRequest()
  const field = editField(request)
  if (field === undefined) throw new Error('no field')
  expect(fieldText(request.arguments, field)).toBe('npm install --save-dev fake-clock')
  expect(argumentsObject(withField(request.arguments, field, 'npm ls'))).toEqual({
    command: 'npm ls',
    timeout_seconds: 60,
  })
})

test('a change is edited by its content, or by its new text', () => {
  expect(editField(changeRequest())).toEqual({ name: 'content', kind: 'content' })
  const replace = changeRequest({ arguments: '{"path":"a","old_text":"1","new_text":"2"}' })
  expect(editField(replace)).toEqual({ name: 'new_text', kind: 'replacement' })
})

test('what has no single text is edited as raw arguments only', () => {
  expect(editField(deleteRequest())).toBeUndefined()
  expect(editField(commandRequest({ arguments: 'not json' }))).toBeUndefined()
})

test('arguments become rows', () => {
  expect(argumentRows('{"title":"Flaky","labels":["a"],"n":2}')).toEqual([
    { name: 'title', value: 'Flaky' },
    { name: 'labels', value: '[\n  "a"\n]' },
    { name: 'n', value: '2' },
  ])
  expect(argumentRows('[1]')).toEqual([])
})
