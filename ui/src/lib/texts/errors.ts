/** Plain words for what went wrong, and what to do about it. Texts depend on the kind of an error only. */
import type { ClientError, ErrorCode, ModelErrorKind } from '$lib/protocol'

/** An error in words: a bold title and, if there is more to say, one explanation. */
export interface ErrorWords {
  title: string
  body: string
}

export const modelErrorWords: Record<ModelErrorKind, ErrorWords> = {
  auth: { title: 'The provider refused the key.', body: 'It may be wrong or expired.' },
  quota: {
    title: 'The account has no credit left.',
    body: 'The provider refuses requests until it is topped up.',
  },
  rate_limit: { title: 'The provider asks to wait.', body: 'Too many requests in a short time.' },
  overloaded: { title: 'The model is busy.', body: 'Further tries were refused too.' },
  overflow: {
    title: 'The request is too long for this model.',
    body: 'Choose a model with a larger window.',
  },
  bad_request: { title: 'The server did not accept the request.', body: 'Its own words are under Details.' },
  not_found: { title: 'The server does not know this model.', body: 'Check its name and the address.' },
  blocked: {
    title: 'The provider blocked the answer.',
    body: 'Its filter stopped it. Another wording may help.',
  },
  network: { title: 'No connection.', body: 'Nothing is lost. Check the network and try again.' },
  timeout: { title: 'The model did not answer in time.', body: 'The server was silent for too long.' },
  protocol: { title: 'The answer could not be read.', body: 'The server sent something unexpected.' },
  cancelled: { title: 'The request was cancelled.', body: '' },
}

const codeTitle: Record<ErrorCode, string> = {
  bad_request: 'This cannot be done.',
  folder_refused: 'This folder cannot be opened.',
  not_found: 'It is not there any more.',
  not_now: 'Not possible right now.',
  busy: 'This session is busy.',
  folder_busy: 'Another session is changing this folder.',
  no_model: 'Connect a model to begin.',
  keyring: 'The keyring did not answer.',
  model: 'The model did not answer.',
  storage: 'It could not be saved.',
  internal: 'Something went wrong in Paddock.',
}

/** Title, explanation and remedy of an error the core reports. */
export function errorWords(error: ClientError): ErrorWords & { remedy: string | undefined } {
  return { title: codeTitle[error.code], body: error.message, remedy: error.hint }
}

export const unknownError: ClientError = {
  code: 'internal',
  message: 'The core did not answer.',
  hint: 'Close the window and open Paddock again. Nothing is lost.',
}
