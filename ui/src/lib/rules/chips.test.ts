import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { WordShape } from '$lib/protocol'
import { chipsAs, chipsOf, chipsOfShape, shapeOf, withKind, withRest, type Chips } from './chips'
import { wordsOf } from './shell'

const exact = (text: string): WordShape => ({ word: 'exact', text })
const rest: WordShape = { word: 'rest' }

function chips(...parts: string[]): Chips {
  const found = chipsOf(parts)
  if (found === undefined) throw new Error('no words')
  return found
}

describe('words of a part', () => {
  test('quotes and backslashes are taken off', () => {
    expect(wordsOf(`git commit -m "a message" 'x y' a\\ b ''`)).toEqual([
      'git',
      'commit',
      '-m',
      'a message',
      'x y',
      'a b',
      '',
    ])
  })

  test.each([
    'echo $HOME',
    'echo `id`',
    'echo "$x"',
    'ls *.ts',
    'cat < in',
    'cat > out',
    'a && b',
    'a; b',
    '(a)',
    'ls ~',
    'echo {a,b}',
    'echo "open',
    '# note',
    '',
  ])('%s has no plain words', (text) => {
    expect(wordsOf(text)).toBeUndefined()
  })

  test('plain words come back as they were', () => {
    const word = fc.stringMatching(/^[A-Za-z0-9_./:@%+=,-]{1,12}$/u)
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), (list) => {
        expect(wordsOf(list.join(' '))).toEqual(list)
      }),
    )
  })

  test('single quotes keep everything but themselves', () => {
    const word = fc.string({ minLength: 1, maxLength: 12 }).filter((text) => !text.includes("'"))
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (list) => {
        expect(wordsOf(list.map((text) => `'${text}'`).join(' '))).toEqual(list)
      }),
    )
  })
})

describe('chips and the rule they make', () => {
  test('a line begins exact', () => {
    expect(shapeOf(chips('npm install --save-dev fake-clock'))).toEqual(
      ['npm', 'install', '--save-dev', 'fake-clock'].map(exact),
    )
  })

  test('a word can be any value, and any number of words may follow', () => {
    const line = chips('npm install --save-dev fake-clock')
    expect(shapeOf(withKind(line, 3, 'any'))).toEqual([
      exact('npm'),
      exact('install'),
      exact('--save-dev'),
      { word: 'any' },
    ])
    expect(shapeOf(withRest(line, 2))).toEqual([exact('npm'), exact('install'), rest])
    expect(shapeOf(withRest(line, 4))).toEqual([...shapeOf(line), rest])
  })

  test('the first word always stands for itself', () => {
    expect(shapeOf(withRest(chips('npm test'), 0))).toEqual([exact('npm'), rest])
  })

  test('taking further words back gives the hidden ones again', () => {
    const line = chips('npm test -- login')
    expect(shapeOf(withRest(withRest(line, 2), undefined))).toEqual(shapeOf(line))
  })

  test('parts of one shape have their values side by side', () => {
    const line = chips('npm test -- login', 'npm test -- session')
    expect(line.chips[3]).toEqual({ values: ['login', 'session'], kind: 'one_of' })
    expect(shapeOf(line)[3]).toEqual({ word: 'one_of', texts: ['login', 'session'] })
  })

  test('parts of different length need further words', () => {
    const line = chips('npm test', 'npm test -- login')
    expect(shapeOf(line)).toEqual([exact('npm'), exact('test'), rest])
    expect(withRest(line, undefined)).toBe(line)
  })

  test('a part that a shell would change gives no chips', () => {
    expect(chipsOf(['npm test', 'echo $(id)'])).toBeUndefined()
    expect(chipsOf([])).toBeUndefined()
  })

  test('the proposed rule is laid over the words of the line', () => {
    const laid = chipsAs(chips('npm install --save-dev fake-clock'), [exact('npm'), exact('install'), rest])
    expect(laid?.chips).toHaveLength(4)
    expect(laid?.rest).toBe(2)
    expect(shapeOf(laid ?? chips('x'))).toEqual([exact('npm'), exact('install'), rest])
  })

  test('a rule that does not fit the line is not laid over it', () => {
    const line = chips('npm install left-part')
    expect(chipsAs(line, [exact('npm'), exact('test'), rest])).toBeUndefined()
    expect(chipsAs(line, [exact('npm'), exact('install')])).toBeUndefined()
    expect(chipsAs(line, ['npm', 'install', 'left-part', 'more'].map(exact))).toBeUndefined()
  })

  test('any rule comes back from its own chips', () => {
    const word = fc.oneof(
      fc.record({ word: fc.constant('exact' as const), text: fc.string() }),
      fc.record({
        word: fc.constant('one_of' as const),
        texts: fc.uniqueArray(fc.string(), { minLength: 2, maxLength: 4 }),
      }),
      fc.constant({ word: 'any' as const }),
    )
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 6 }), fc.boolean(), (list, open) => {
        const shape: WordShape[] = open ? [...list, rest] : list
        expect(shapeOf(chipsOfShape(shape))).toEqual(shape)
      }),
    )
  })
})
