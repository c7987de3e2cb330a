import { fireEvent, render, screen } from '@testing-library/svelte'
import { expect, test, vi } from 'vitest'
import Row from './Row.svelte'
import Markdown from '../markdown/Markdown.svelte'
import { Story } from '../../fixtures/build'
import { everythingStory } from '../../fixtures/everything'
import { investigates } from '../../fixtures/login'
import { around } from '../../fixtures/places'
import { App, appContext } from '$lib/app.svelte'
import { recordedHost, type RecordedHost } from '$lib/host/fixture'
import { OpenSession } from '$lib/timeline/timeline.svelte'
import { TimelineView } from '$lib/timeline/view.svelte'

interface Shown {
  view: TimelineView
  host: RecordedHost
  show: (id: number) => HTMLElement
}

async function open(story: Story): Promise<Shown> {
  const host = recordedHost(around(story, story.snapshot({ state: 'using_tools' })))
  const app = new App(host)
  const session = new OpenSession(app.client, story.id)
  await session.open()
  const view = new TimelineView(session)
  const show = (id: number): HTMLElement => {
    const row = { type: 'item' as const, key: String(id), id, bracket: 'none' as const, begins: false }
    return render(Row, { props: { view, row }, context: appContext(app) }).container
  }
  return { view, host, show }
}

function login(): Story {
  const story = new Story('s', 'Login')
  investigates(story)
  return story
}

const idOf = (story: Story, verb: string): number =>
  story.items.findIndex((item) => item.kind.type === 'call' && item.kind.verb === verb)

test('a row is an article with a sentence as its name, and one button that opens it', async () => {
  const story = login()
  const { show } = await open(story)
  show(idOf(story, 'run'))
  const article = screen.getByRole('article')
  expect(article.getAttribute('aria-label')).toBe('Run npm test -- login, failed, exit 1, 12 s, iteration 2')
  expect(article.getAttribute('aria-setsize')).toBe(String(story.items.length))
  const button = screen.getByRole('button', { expanded: false })
  await fireEvent.click(button)
  expect(button.getAttribute('aria-expanded')).toBe('true')
  expect(await screen.findByText(/1 failed/)).toBeTruthy()
})

test('an edit shows its lines with words, marks and row names, and can be undone', async () => {
  const story = login()
  const { show, host } = await open(story)
  show(idOf(story, 'edit'))
  await fireEvent.click(screen.getByRole('button', { expanded: false }))
  expect(await screen.findByRole('rowheader', { name: 'removed, line 41' })).toBeTruthy()
  const marks = [...document.querySelectorAll('mark')].map((mark) => mark.textContent)
  expect(marks).toContain('setTimeout')
  await fireEvent.click(screen.getByRole('button', { name: 'Undo this change' }))
  expect(host.requests.at(-1)).toMatchObject({ op: { op: 'undo', call: 't1.i3.c1' } })
})

test('an image that a call read is shown in its row, and opens', async () => {
  const story = login()
  story.call('read', 'docs/login.png', {
    output: {
      text: 'It is a PNG image.',
      images: [{ id: 'i1', name: 'login.png', media_type: 'image/png', bytes: 74_000 }],
    },
  })
  const { show, host } = await open(story)
  show(story.items.length - 1)
  await fireEvent.click(screen.getByRole('button', { expanded: false }))
  const image = await screen.findByRole('img', { name: 'login.png' })
  expect(image.getAttribute('src')).toMatch(/^data:image\/png;base64,./)
  expect(host.requests.at(-1)).toEqual({ request: 'attachment_data', session: 's', attachment: 'i1' })
  await fireEvent.click(screen.getByRole('button', { name: 'login.png' }))
  expect(await screen.findByRole('dialog', { name: 'login.png' })).toBeTruthy()
})

test('every kind of item renders and has a name', async () => {
  const story = everythingStory()
  const { show } = await open(story)
  const nameless: string[] = []
  for (const item of story.items) {
    if (item.kind.type === 'turn_summary') continue
    const article = show(item.id).querySelector('article')
    const name = article?.getAttribute('aria-label') ?? ''
    if (name === '' || (article?.textContent ?? '').trim() === '')
      nameless.push(`${item.id} ${item.kind.type}`)
  }
  expect(nameless).toEqual([])
})

test('text of the model never becomes markup', async () => {
  const { host } = await open(login())
  const app = new App(host)
  const text =
    '<img src=x onerror="alert(1)"> **bold** [bad](javascript:alert(1)) ![pic](https://example.com/a.png)'
  const { container } = render(Markdown, { props: { text }, context: appContext(app) })
  expect(container.querySelector('img, a, script')).toBeNull()
  expect(container.querySelector('strong')?.textContent).toBe('bold')
  expect(container.textContent).toContain('<img src=x onerror="alert(1)">')
  expect(container.textContent).toContain('Image, not loaded: pic')
})

test('a link is opened by the host, not by the page', async () => {
  const { host } = await open(login())
  const openLink = vi.spyOn(host, 'openLink').mockResolvedValue()
  render(Markdown, {
    props: { text: '[docs](https://example.com/docs)' },
    context: appContext(new App(host)),
  })
  await fireEvent.click(screen.getByRole('link', { name: 'docs' }))
  expect(openLink).toHaveBeenCalledWith('https://example.com/docs')
})

test('a call that could not be read has a name all the same', async () => {
  const story = login()
  story.call('use', '', { tool: '', status: 'failed', output: { ok: false, text: 'Not readable.' } })
  story.call('use', '', { tool: 'tracker.list' })
  const { show } = await open(story)
  const nameless = show(story.items.length - 2)
  expect(nameless.querySelector('.line')?.textContent).toContain('a call without a name')
  expect(screen.getByLabelText(/^Use a call without a name, failed/u)).toBeTruthy()
  expect(show(story.items.length - 1).querySelector('.line')?.textContent).toContain('tracker.list')
})

test('a check of Paddock says which one it is and how it ended', async () => {
  const story = login()
  story.call('run', 'npm test', {
    status: 'failed',
    more: { check: { attempt: 1, of: 3 } },
    output: { ok: false, exit_code: 1, text: '1 failed' },
  })
  const { show } = await open(story)
  const line = show(story.items.length - 1).querySelector('.line')?.textContent
  expect(line).toContain('Check 1 of 3')
  expect(line).toMatch(/npm test.*exit 1.*failed/su)
  expect(screen.getByLabelText(/^Check 1 of 3: npm test, failed, exit 1/u)).toBeTruthy()
})
