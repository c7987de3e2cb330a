import './styles/base.css'
import { mount } from 'svelte'
import AppView from './App.svelte'
import { App, appContext } from '$lib/app.svelte'
import { chooseHost } from '$lib/host/choose'

/** Not awaited at the top: scripts that are loaded later wait for this one to have run. */
async function begin(target: HTMLElement): Promise<void> {
  const query = new URLSearchParams(location.search)
  const app = new App(await chooseHost(query))
  mount(AppView, { target, context: appContext(app) })
  await app.start()
  // Recordings of a session open it at once.
  if (import.meta.env.DEV || import.meta.env.MODE === 'fixture') {
    const { openRecording } = await import('./fixtures/open')
    await openRecording(app, query)
  }
}

const target = document.getElementById('app')
if (target === null) throw new Error('index.html has no #app element')
void begin(target)
