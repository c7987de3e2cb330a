import { expect, test } from 'vitest'
import { Following } from './follow.svelte'

const at = (offset: number) => ({ offset, viewport: 500, size: 2000 })

test('an upward scroll by the person stops, coming back to the end resumes', () => {
  const follow = new Following()
  follow.scrolled(at(1500), true)
  follow.scrolled(at(1000), true)
  expect(follow.following).toBe(false)
  follow.arrived(3)
  expect(follow.missed).toBe(3)
  follow.scrolled(at(1460), true)
  expect(follow).toMatchObject({ following: true, missed: 0 })
})

test('content that grows does not stop the following', () => {
  const follow = new Following()
  follow.scrolled(at(1500), false)
  follow.scrolled({ offset: 1490, viewport: 500, size: 2400 }, false)
  expect(follow.following).toBe(true)
})

test('a size that brings the end into sight does not resume by itself', () => {
  const follow = new Following()
  follow.stop()
  follow.measured({ offset: 0, viewport: 500, size: 400 })
  expect(follow).toMatchObject({ following: false, atEnd: true })
})
