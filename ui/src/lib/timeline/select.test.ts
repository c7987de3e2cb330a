import { describe, expect, test } from 'vitest'
import { Story } from '../../fixtures/build'
import { finishes, investigates } from '../../fixtures/login'
import { selectRows, staysOpen, type Row } from './select'

const none = { openTurns: new Set<number>() }

function login(): Story {
  const story = new Story('s', 'Login')
  investigates(story)
  return story
}

const itemsOf = (rows: readonly Row[]): number[] =>
  rows.flatMap((row) => (row.type === 'item' ? [row.id] : []))

describe('a turn that is going', () => {
  test('shows every item, in order', () => {
    const story = login()
    expect(itemsOf(selectRows(story.items, none))).toEqual(story.items.map((item) => item.id))
  })

  test('names an iteration only when it has several calls', () => {
    const rows = selectRows(login().items, none)
    expect(rows.flatMap((row) => (row.type === 'iteration' ? [row.iteration] : []))).toEqual([1])
  })

  test('puts a bracket around calls that ran at the same time', () => {
    const story = new Story('s', 'Bracket')
    story.you('Go')
    story.next()
    for (let call = 0; call < 3; call++) {
      story.call('read', `file-${call}`, { takes: 100 })
      story.now -= 50
    }
    story.now += 500
    story.call('run', 'ls', { takes: 100 })
    const rows = selectRows(story.items, none).flatMap((row) => (row.type === 'item' ? [row] : []))
    expect(rows.map((row) => row.bracket)).toEqual(['none', 'first', 'middle', 'last', 'none'])
    expect(rows[1]?.sideBySide).toEqual({ calls: 3, millis: 200 })
  })
})

test('reasoning that only its provider can read has no row once it has ended', () => {
  const story = new Story('s', 'Sealed')
  story.you('Go')
  story.next()
  story.add({ type: 'reasoning', text: '' })
  expect(itemsOf(selectRows(story.items, none))).toEqual([0])
  story.add({ type: 'reasoning', text: '' }, 0, 'running')
  expect(itemsOf(selectRows(story.items, none))).toEqual([0, 2])
})

describe('a turn that ended', () => {
  const story = login()
  finishes(story)

  test('folds everything but messages, text, changes and failures under its summary', () => {
    const rows = selectRows(story.items, none)
    const shown = itemsOf(rows).map((id) => story.items[id])
    expect(shown.every((item) => item !== undefined && staysOpen(item))).toBe(true)
    const fold = rows.find((row) => row.type === 'fold')
    const away = story.items.filter((item) => !staysOpen(item)).length
    expect(fold).toMatchObject({ hidden: away, open: false })
    expect(rows.indexOf(fold as Row)).toBe(1)
    expect(rows.length).toBe(story.items.length - away)
  })

  test('shows its rows when it is opened', () => {
    const rows = selectRows(story.items, { openTurns: new Set([1]) })
    expect(itemsOf(rows).length).toBe(story.items.length - 1)
    expect(rows.find((row) => row.type === 'fold')).toMatchObject({ open: true })
  })
})

test('keys are unique', () => {
  const story = login()
  finishes(story)
  story.you('Again')
  const keys = selectRows(story.items, { openTurns: new Set([1]), full: true }).map((row) => row.key)
  expect(new Set(keys).size).toBe(keys.length)
})
