import { expect, test, vi } from 'vitest'
import type { Attachment } from '$lib/protocol'
import type { NewImage } from '$lib/host/client'
import { HostError } from '$lib/host/host'
import { Composer } from './composer.svelte'
import { Drafts } from './drafts'
import { ImageTray, LARGEST, MOST } from './images.svelte'

const keep = (image: NewImage): Promise<Attachment> =>
  Promise.resolve({
    id: image.name,
    name: image.name,
    media_type: image.media_type,
    bytes: image.data.length,
  })
const png = (name: string, size = 3): File => new File([new Uint8Array(size)], name, { type: 'image/png' })

test('an image is handed over in base64 and is ready then', async () => {
  const kept = vi.fn(keep)
  const tray = new ImageTray(kept)
  await tray.add([png('shot.png')])
  expect(kept).toHaveBeenCalledWith({ name: 'shot.png', media_type: 'image/png', data: 'AAAA' })
  expect(tray.ready.map(({ name }) => name)).toEqual(['shot.png'])
  expect(tray.images[0]?.source).toBe('data:image/png;base64,AAAA')
  expect(tray.busy).toBe(false)
})

test('what cannot go along is said in words', async () => {
  const tray = new ImageTray(keep)
  await tray.add([new File(['a'], 'notes.svg', { type: 'image/svg+xml' }), png('big.png', LARGEST + 1)])
  expect(tray.images).toEqual([])
  expect(tray.problems).toEqual([
    'notes.svg: only PNG, JPEG, GIF and WebP images can be attached.',
    'big.png is larger than 5 MB.',
  ])
  await tray.add(Array.from({ length: MOST + 2 }, (_, at) => png(`${at}.png`)))
  expect(tray.images).toHaveLength(MOST)
  expect(tray.problems).toEqual(['A message takes at most 8 images.'])
})

test('an image that the core refuses leaves the tray with the reason', async () => {
  const tray = new ImageTray(() =>
    Promise.reject(new HostError({ code: 'bad_request', message: 'This is no image.' })),
  )
  await tray.add([png('fake.png')])
  expect(tray.images).toEqual([])
  expect(tray.problems).toEqual(['fake.png could not be kept: This is no image.'])
})

test('a message takes images and effort along, and only a sent one empties the tray', async () => {
  localStorage.clear()
  const send = vi.fn<(text: string, mode: string, extras?: unknown) => Promise<void>>()
  const composer = new Composer('s1', new Drafts(undefined), {
    send,
    command: () => Promise.resolve(),
    can: () => false,
    readOnly: () => Promise.resolve(),
    keepImage: keep,
    efforts: () => ['low', 'high'],
  })
  await composer.attach([png('shot.png')])
  composer.effort = 'high'
  composer.text = 'look'
  send.mockRejectedValueOnce(new HostError({ code: 'no_model', message: 'No model.' }))
  await composer.send()
  expect(composer.tray?.images).toHaveLength(1)
  send.mockResolvedValue()
  await composer.send()
  expect(send.mock.lastCall).toMatchObject([
    'look',
    'next_iteration',
    { images: [{ name: 'shot.png' }], effort: 'high' },
  ])
  expect(composer.tray?.images).toHaveLength(0)
})

test('an effort is kept for its session, and not sent to a model that does not know it', () => {
  localStorage.clear()
  let efforts: ('low' | 'high')[] = ['low', 'high']
  const make = (session: string): Composer =>
    new Composer(session, new Drafts(undefined), {
      send: () => Promise.resolve(),
      command: () => Promise.resolve(),
      can: () => false,
      readOnly: () => Promise.resolve(),
      efforts: () => efforts,
    })
  make('s1').effort = 'high'
  expect(make('s1').effort).toBe('high')
  expect(make('s2').effort).toBeUndefined()
  efforts = ['low']
  expect(make('s1').effort).toBeUndefined()
})

test('images of an unsent message outlive the view, and what the core no longer has is said', async () => {
  sessionStorage.clear()
  const hash = (digit: string): string => digit.repeat(64)
  const send = vi.fn<(text: string, mode: string, extras?: unknown) => Promise<void>>().mockResolvedValue()
  const make = (): Composer =>
    new Composer('s1', new Drafts(sessionStorage), {
      send,
      command: () => Promise.resolve(),
      can: () => false,
      readOnly: () => Promise.resolve(),
      keepImage: async (image) => ({ ...(await keep(image)), id: hash(image.name.slice(0, 1)) }),
      imageData: (id) =>
        id === hash('b')
          ? Promise.reject(new HostError({ code: 'not_found', message: 'Gone.' }))
          : Promise.resolve('AAAA'),
    })
  const before = make()
  await before.attach([png('a.png'), png('b.png')])
  before.tray?.remove(before.tray.images[0]?.key ?? 0)
  await before.attach([png('a.png')])
  const after = make()
  await vi.waitFor(() =>
    expect(after.tray?.images.map(({ source }) => source)).toEqual(['data:image/png;base64,AAAA']),
  )
  expect(after.tray?.problems).toEqual(['b.png could not be read'])
  after.text = 'look'
  await after.send()
  expect(send.mock.lastCall).toMatchObject(['look', 'next_iteration', { images: [{ id: hash('a') }] }])
  expect(sessionStorage).toHaveLength(0)
  await vi.dynamicImportSettled()
  expect(make().tray).toBeUndefined()
})
