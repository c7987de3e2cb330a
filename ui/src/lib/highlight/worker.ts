/** The worker's side: one answer per question, so that colouring never holds up the page. */
import { colourCode } from './colour'
import type { Answer, Question } from './highlight'

self.addEventListener('message', (event: MessageEvent<Question>) => {
  const { id, code, language } = event.data
  const send = (answer: Answer): void => self.postMessage(answer)
  colourCode(code, language).then(
    (lines) => send({ id, lines }),
    () => send({ id }),
  )
})
