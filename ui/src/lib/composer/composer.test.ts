import { beforeEach, describe, expect, test, vi } from 'vitest'
import { HostError } from '$lib/host/host'
import { Composer } from './composer.svelte'
import { Drafts } from './drafts'

const send = vi.fn<(text: string, mode: string) => Promise<void>>()
const readOnly = vi.fn<() => Promise<void>>()
const command = vi.fn<(name: string) => Promise<void>>()
let drafts: Drafts
const make = (session = 's1'): Composer =>
  new Composer(session, drafts, { send, command, can: (name) => name === 'stop', readOnly })

beforeEach(() => {
  sessionStorage.clear()
  send.mockReset().mockResolvedValue()
  command.mockReset().mockResolvedValue()
  readOnly.mockReset().mockResolvedValue()
  drafts = new Drafts(sessionStorage)
})

describe('a message', () => {
  test('is sent trimmed, and the field is empty afterwards', async () => {
    const composer = make()
    composer.text = '  fix it \n'
    await composer.send()
    expect(send).toHaveBeenCalledWith('fix it', 'next_iteration')
    expect(composer.text).toBe('')
  })

  test('stays when it could not be sent, with the reason', async () => {
    send.mockRejectedValue(new HostError({ code: 'no_model', message: 'No model.', hint: 'Choose one.' }))
    const composer = make()
    composer.text = 'fix it'
    await composer.send()
    expect(composer.text).toBe('fix it')
    expect(composer.problem).toMatchObject({ code: 'no_model', hint: 'Choose one.' })
  })

  test('does not take along what is typed while it is on its way', async () => {
    let arrive = (): void => undefined
    send.mockReturnValue(new Promise((resolve) => (arrive = resolve)))
    const composer = make()
    composer.text = 'one'
    const sending = composer.send()
    composer.text = 'one and two'
    arrive()
    await sending
    expect(composer.text).toBe(' and two')
  })

  test('is not sent twice', async () => {
    let arrive = (): void => undefined
    send.mockReturnValue(new Promise((resolve) => (arrive = resolve)))
    const composer = make()
    composer.text = 'one'
    const first = composer.send()
    await composer.send()
    arrive()
    await first
    expect(send).toHaveBeenCalledTimes(1)
  })
})

describe('a folder that another session changes', () => {
  const busy = new HostError({ code: 'folder_busy', message: '“Docs” works here.' })

  test('keeps the text, and waits with the mode that waits', async () => {
    send.mockRejectedValueOnce(busy)
    const composer = make()
    composer.text = 'fix it'
    await composer.send()
    expect(composer.problem?.code).toBe('folder_busy')
    expect(composer.text).toBe('fix it')
    await composer.send('when_free')
    expect(send).toHaveBeenLastCalledWith('fix it', 'when_free')
    expect(composer.text).toBe('')
    expect(composer.mode).toBe('next_iteration')
  })

  test('is left alone by a read-only role, which comes before the message', async () => {
    const order: string[] = []
    readOnly.mockImplementation(() => Promise.resolve(void order.push('role')))
    send.mockImplementation(() => Promise.resolve(void order.push('send')))
    const composer = make()
    composer.text = 'look at it'
    await composer.sendReadOnly()
    expect(order).toEqual(['role', 'send'])
  })

  test('is not written to when the role was refused', async () => {
    readOnly.mockRejectedValue(new HostError({ code: 'not_now', message: 'Not now.' }))
    const composer = make()
    composer.text = 'look at it'
    await composer.sendReadOnly()
    expect(send).not.toHaveBeenCalled()
    expect(composer.text).toBe('look at it')
  })
})

test('to interrupt is meant for one message', async () => {
  const composer = make()
  composer.mode = 'interrupt'
  composer.text = 'stop that'
  await composer.send()
  expect(send).toHaveBeenCalledWith('stop that', 'interrupt')
  expect(composer.mode).toBe('next_iteration')
})

describe('a draft', () => {
  test('belongs to its session and outlives the field', () => {
    make('s1').text = 'half a thought'
    expect(make('s1').text).toBe('half a thought')
    expect(make('s2').text).toBe('')
  })

  test('survives a reload of the view', () => {
    make('s1').text = 'half a thought'
    drafts = new Drafts(sessionStorage)
    expect(make('s1').text).toBe('half a thought')
  })

  test('survives a storage that refuses', () => {
    const broken = {
      getItem: () => null,
      setItem: () => {
        throw new Error('full')
      },
    } as unknown as Storage
    drafts = new Drafts(broken)
    make('s1').text = 'kept'
    expect(make('s1').text).toBe('kept')
  })
})

describe('a command', () => {
  test('runs and is never sent as a message', async () => {
    const composer = make()
    composer.text = '/stop'
    await composer.send()
    expect(command).toHaveBeenCalledWith('stop')
    expect(send).not.toHaveBeenCalled()
    expect(composer.text).toBe('')
  })

  test('that is unknown or makes no sense now says so and keeps the text', async () => {
    const composer = make()
    composer.text = '/halt'
    await composer.send()
    expect(composer.problem?.message).toContain('/halt')
    composer.text = '/continue'
    await composer.send()
    expect(composer.problem?.code).toBe('not_now')
    expect(composer.text).toBe('/continue')
    expect(send).not.toHaveBeenCalled()
    expect(command).not.toHaveBeenCalled()
  })

  test('is offered while it is typed', () => {
    const composer = make()
    composer.text = '/'
    expect(composer.commands).toHaveLength(4)
    composer.move(-1)
    expect(composer.at).toBe(3)
    composer.closeMenu()
    expect(composer.commands).toEqual([])
    composer.text = '/p'
    expect(composer.commands).toEqual(['pause'])
  })
})
