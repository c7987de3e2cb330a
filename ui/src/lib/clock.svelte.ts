/** One clock for everything that counts seconds on screen; it runs only while something shows it. */
import { createSubscriber } from 'svelte/reactivity'

let now = Date.now()

const subscribe = createSubscriber((update) => {
  now = Date.now()
  const timer = setInterval(() => {
    now = Date.now()
    update()
  }, 1000)
  return () => clearInterval(timer)
})

/** The present second, reactive inside of components. */
export function tickingNow(): number {
  subscribe()
  return Math.max(now, Date.now() - 1000)
}
