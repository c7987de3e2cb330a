import { expect, test, vi } from 'vitest'
import { App } from '$lib/app.svelte'
import type { Reply } from '$lib/protocol'
import type { Host, MenuCommand } from './host'

const project = { path: '/p/orchard', name: 'orchard', demo: true, git: false, guides: [] }

function host(
  beginning: Host['beginning'],
  asked: string[],
): { host: Host; menu: (command: MenuCommand) => void } {
  let menu: (command: MenuCommand) => void = () => undefined
  const replies: Record<string, unknown> = {
    about: { reply: 'about', about: {} },
    settings: { reply: 'settings', settings: {} },
    open_demo: { reply: 'project', project },
    open_project: { reply: 'project', project },
    sessions: { reply: 'sessions', sessions: [] },
  }
  return {
    menu: (command) => menu(command),
    host: {
      request: (request) => {
        asked.push(request.request)
        const reply = replies[request.request]
        return reply === undefined ? Promise.reject(new Error('no answer')) : Promise.resolve(reply as Reply)
      },
      attach: () => Promise.reject(new Error('no session')),
      chooseFolder: () => Promise.resolve('/p/orchard'),
      openLink: () => Promise.resolve(),
      onNavigate: () => () => undefined,
      onMenu: (listener) => {
        menu = listener
        return () => undefined
      },
      ...(beginning === undefined ? {} : { beginning }),
    },
  }
}

test('a program started for the demo opens it, one started for a folder opens that', async () => {
  const demo: string[] = []
  await new App(host(() => Promise.resolve({ demo: true }), demo).host).start()
  expect(demo).toContain('open_demo')

  const folder: string[] = []
  await new App(host(() => Promise.resolve({ demo: false, project: '/p/orchard' }), folder).host).start()
  expect(folder).toContain('open_project')
  expect(folder).not.toContain('open_demo')

  const nothing: string[] = []
  await new App(host(undefined, nothing).host).start()
  expect(nothing).toEqual(['about', 'settings'])
})

test('the menu opens a folder and the settings', async () => {
  const asked: string[] = []
  const made = host(undefined, asked)
  const app = new App(made.host)
  made.menu('settings')
  expect(app.view).toBe('settings')
  made.menu('open-folder')
  await vi.waitFor(() => expect(asked).toContain('open_project'))
})
