import { clearMocks, mockIPC } from '@tauri-apps/api/mocks'
import { afterEach, expect, test } from 'vitest'
import { Client } from './client'
import { tauriHost } from './tauri'
import { Story } from '../../fixtures/build'

afterEach(clearMocks)

test('requests go to the command of that name, errors keep their hint', async () => {
  mockIPC((command, payload) => {
    expect(command).toBe('request')
    const { request } = payload as { request: { request: string } }
    if (request.request === 'about') throw { code: 'internal', message: 'No core.', hint: 'Start again.' }
    return { reply: 'models', models: ['a'] }
  })
  const client = new Client(tauriHost())
  expect(await client.models('local')).toEqual(['a'])
  await expect(client.about()).rejects.toMatchObject({ error: { code: 'internal', hint: 'Start again.' } })
})

test('watching a session takes a channel and ends with detach', async () => {
  const commands: string[] = []
  mockIPC((command) => {
    commands.push(command)
    return command === 'attach' ? new Story('s', 'T').snapshot(undefined) : undefined
  })
  const attachment = await tauriHost().attach('s', () => undefined)
  expect(attachment.snapshot.session).toBe('s')
  attachment.detach()
  expect(commands).toEqual(['attach', 'detach'])
})
