import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  changeRequest,
  commandRequest,
  connectRequest,
  deleteRequest,
  outsideRequest,
  refusedRequest,
} from '$lib/approvals/requests.fixture'
import { mainButton, sentence } from './approvals'
import { LEAST_WINDOW } from './models'
import { stateWords } from './turn'
import { clock, counted, day, duration, tokens, type Piece } from './words'

const flat = (pieces: Piece[]): string =>
  pieces.map((piece) => (typeof piece === 'string' ? piece : piece.name)).join('')

test('the least window is the one that the core tests for', () => {
  const core = readFileSync('../src-tauri/crates/protocol/src/model.rs', 'utf8')
  const [, number = ''] = /LEAST_WINDOW: u32 = ([\d_]+);/u.exec(core) ?? []
  expect(Number(number.replaceAll('_', ''))).toBe(LEAST_WINDOW)
})

describe('figures', () => {
  test('plurals and separators', () => {
    expect(counted(1, 'file', 'files')).toBe('1 file')
    expect(counted(12_400, 'file', 'files')).toBe('12,400 files')
  })

  test('tokens are rounded', () => {
    expect([840, 48_000, 1_250, 212_400, 1_240_000].map(tokens)).toEqual([
      '840',
      '48 k',
      '1.3 k',
      '212 k',
      '1.2 M',
    ])
  })

  test('times', () => {
    expect([0, 48_900, 102_000, 3_727_000].map(clock)).toEqual(['0:00', '0:48', '1:42', '1:02:07'])
    expect([420, 12_000, 252_000, 3_900_000].map(duration)).toEqual([
      '0.4 s',
      '12 s',
      '4 min 12 s',
      '1 h 5 min',
    ])
  })

  test('days', () => {
    const now = new Date(2026, 4, 20, 9).getTime()
    expect(day(now - 3_600_000, now)).toBe('Today')
    expect(day(now - 12 * 3_600_000, now)).toBe('Yesterday')
    expect(day(now - 30 * 24 * 3_600_000, now)).toBe('Earlier')
  })
})

describe('states', () => {
  const facts = { iteration: 7, waiting: 2 }

  test('say exactly what the product promises', () => {
    expect(stateWords(undefined, facts).text).toBe('Ready')
    expect(stateWords({ state: 'thinking' }, facts).text).toBe('Thinking · iteration 7')
    expect(stateWords({ state: 'waiting_for_approval' }, facts).text).toBe('Waiting for you: 2 to decide')
    expect(stateWords({ state: 'paused', cause: { cause: 'person' } }, facts).text).toBe(
      'Paused after iteration 7',
    )
    expect(
      stateWords({ state: 'using_tools' }, { ...facts, running: { tool: 'Run', target: 'npm test' } }).text,
    ).toBe('Using Run: npm test')
    expect(
      stateWords({ state: 'waiting_to_retry', attempt: 2, of: 3, until: 0 }, { ...facts, seconds: 8 }).text,
    ).toBe('Trying again in 8 s (2 of 3)')
  })

  test('stopped and paused are never red', () => {
    expect(stateWords({ state: 'stopped' }, facts).tone).toBe('faint')
    expect(stateWords({ state: 'paused', cause: { cause: 'guard', pattern: 'same_call' } }, facts).tone).toBe(
      'warning',
    )
    expect(stateWords({ state: 'failed' }, facts).tone).toBe('danger')
  })
})

describe('approval cards', () => {
  test('the sentence names the thing', () => {
    expect(flat(sentence(commandRequest()))).toBe('Run a command in the project folder')
    expect(flat(sentence(changeRequest()))).toBe('Edit src/login.ts')
    expect(flat(sentence(deleteRequest()))).toBe('Delete 3 files')
    expect(flat(sentence(outsideRequest()))).toBe('Read outside the project: ../shared-config/ports.json')
  })

  test('the button says what will happen and never quotes the model', () => {
    expect(mainButton(commandRequest(), false)).toBe('Run once')
    expect(mainButton(commandRequest(), true)).toBe('Run edited command')
    expect(mainButton(changeRequest(), false)).toBe('Write file')
    expect(mainButton(deleteRequest(), false)).toBe('Delete 3 files')
    expect(mainButton(outsideRequest(), false)).toBe('Allow reading once')
  })

  test('a chosen grant is on the button, for how long and how far', () => {
    const session = { scope: 'session', wholeFolder: false } as const
    expect(mainButton(connectRequest(), false)).toBe('Allow api.example.com once')
    expect(mainButton(connectRequest(), false, session)).toBe('Allow api.example.com for this session')
    expect(mainButton(outsideRequest(), false, { ...session, wholeFolder: true })).toBe(
      'Allow reading in its folder for this session',
    )
    expect(mainButton(refusedRequest(), false)).toBe('Allow writing and run again')
    expect(flat(sentence(refusedRequest()))).toBe(
      'Blocked by the sandbox: writing to /home/mira/.cache/tool/index',
    )
  })

  test('no request puts its own words on the button', () => {
    for (const request of [commandRequest(), changeRequest(), deleteRequest(), outsideRequest()]) {
      const loud = { ...request, target: 'PRESS ME', tool: 'PRESS ME', agent_words: 'PRESS ME' }
      expect(mainButton(loud, false)).not.toContain('PRESS ME')
    }
  })
})
