/** Images that go with the next message: checked, kept by the core at once, shown small until the message is sent. */
import type { Attachment } from '$lib/protocol'
import type { NewImage } from '$lib/host/client'
import { hostError } from '$lib/host/host'
import { images as words } from '$lib/texts/images'

/** Kinds that models take. */
export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
/** Largest image in bytes, and how many go with one message. */
export const LARGEST = 5 * 1024 * 1024
export const MOST = 8

/** An image of the tray. */
export interface TrayImage {
  key: number
  name: string
  /** The bytes as an address for the page. */
  source: string
  /** Set once the core has kept it. */
  kept?: Attachment
}

/** Where the images of an unsent message are remembered. */
export interface ImageDraft {
  get: () => string
  set: (kept: string) => void
}

export class ImageTray {
  images = $state.raw<readonly TrayImage[]>([])
  /** What could not be added, in words. */
  problems = $state.raw<readonly string[]>([])
  readonly busy: boolean = $derived.by(() => this.images.some(({ kept }) => kept === undefined))
  readonly #keep: (image: NewImage) => Promise<Attachment>
  readonly #draft: ImageDraft | undefined
  #next = 1

  constructor(keep: (image: NewImage) => Promise<Attachment>, draft?: ImageDraft) {
    this.#keep = keep
    this.#draft = draft
  }

  /** Brings back what an unsent message held: the core still has the bytes. */
  async restore(load: (id: string) => Promise<string>): Promise<void> {
    const kept = remembered(this.#draft?.get() ?? '')
    const restored = kept.map((one) => ({ key: this.#next++, name: one.name, source: '', kept: one }))
    this.images = [...restored, ...this.images]
    await Promise.all(
      restored.map(async ({ key, kept: one }) => {
        try {
          this.#change(key, { source: `data:${one.media_type};base64,${await load(one.id)}` })
        } catch {
          this.remove(key)
          this.#say(words.missing(one.name))
        }
      }),
    )
  }

  /** What a message takes along. */
  get ready(): Attachment[] {
    return this.images.flatMap(({ kept }) => kept ?? [])
  }

  /** Adds what can be added; the rest is said. */
  async add(files: readonly File[]): Promise<void> {
    this.problems = []
    await Promise.all(files.map((file) => this.#addOne(file)))
  }

  remove(key: number): void {
    this.images = this.images.filter((image) => image.key !== key)
    this.#remember()
  }

  /** The message took these along. */
  sent(images: readonly Attachment[]): void {
    this.images = this.images.filter(({ kept }) => kept === undefined || !images.includes(kept))
    this.#remember()
  }

  #remember(): void {
    const kept = this.ready
    this.#draft?.set(kept.length === 0 ? '' : JSON.stringify(kept))
  }

  async #addOne(file: File): Promise<void> {
    const fault = !IMAGE_TYPES.includes(file.type)
      ? words.badType(file.name)
      : file.size > LARGEST
        ? words.tooLarge(file.name)
        : this.images.length >= MOST
          ? words.tooMany(MOST)
          : undefined
    if (fault !== undefined) {
      this.#say(fault)
      return
    }
    const key = this.#next++
    const name = file.name === '' ? words.pasted : file.name
    this.images = [...this.images, { key, name, source: '' }]
    try {
      const source = await read(file)
      this.#change(key, { source })
      const data = source.slice(source.indexOf(',') + 1)
      this.#change(key, { kept: await this.#keep({ name, media_type: file.type, data }) })
    } catch (thrown) {
      this.remove(key)
      this.#say(words.notKept(name, hostError(thrown).message))
    }
  }

  #say(problem: string): void {
    if (!this.problems.includes(problem)) this.problems = [...this.problems, problem]
  }

  #change(key: number, part: Partial<TrayImage>): void {
    this.images = this.images.map((image) => (image.key === key ? { ...image, ...part } : image))
    if (part.kept !== undefined) this.#remember()
  }
}

function remembered(stored: string): Attachment[] {
  try {
    const kept = JSON.parse(stored) as Attachment[]
    return kept.filter(({ id, media_type }) => /^[0-9a-f]{64}$/u.test(id) && IMAGE_TYPES.includes(media_type))
  } catch {
    return []
  }
}

function read(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(String(reader.result)))
    reader.addEventListener('error', () => reject(reader.error ?? new Error(file.name)))
    reader.readAsDataURL(file)
  })
}
