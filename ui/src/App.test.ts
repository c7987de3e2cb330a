import { clearMocks, mockIPC } from '@tauri-apps/api/mocks'
import { render, screen } from '@testing-library/svelte'
import { afterEach, expect, test } from 'vitest'
import App from './App.svelte'

afterEach(clearMocks)

test('shows the version the core reports', async () => {
  mockIPC((command) => (command === 'about' ? { name: 'Paddock', version: '7.8.9' } : undefined))
  render(App)
  expect((await screen.findByTestId('version')).textContent).toBe('Version 7.8.9')
})

test('says what to do when the core does not answer', async () => {
  mockIPC(() => {
    throw new Error('no core')
  })
  render(App)
  expect((await screen.findByRole('alert')).textContent).toContain('open Paddock again')
})
