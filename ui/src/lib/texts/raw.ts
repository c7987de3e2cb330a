/** The raw view: what was sent to the model and what came back, a call's arguments and its result. */
import { count, counted } from './words'

export type RawPage = 'request' | 'response' | 'arguments' | 'edited' | 'result'

export const raw = {
  title: (iteration: number): string => `Raw data of iteration ${count(iteration)}`,
  titleOf: (name: string): string => `Raw data: ${name}`,
  page: {
    request: 'Request',
    response: 'Response',
    arguments: 'Arguments',
    edited: 'Arguments, edited by you',
    result: 'Result',
  } satisfies Record<RawPage, string>,
  pages: 'Part',
  attempts: 'Requests of this iteration',
  attempt: (n: number): string => `Request ${count(n)}`,
  status: (status: number | undefined): string => (status === undefined ? 'no answer' : `HTTP ${status}`),
  cut: (bytes: number): string => `${counted(bytes, 'byte', 'bytes')} left out at the end`,
  gone: 'What was sent and received for this iteration is no longer kept.',
  goneWhy: 'Paddock keeps the newest exchanges only. The record of the session is complete without them.',
  loading: 'Reading what is kept…',
  empty: 'Empty.',
  find: 'Find',
  findPlaceholder: 'Find…',
  found: (at: number, of: number, more: boolean): string =>
    of === 0 ? 'nothing' : `${count(at)} of ${count(of)}${more ? '+' : ''}`,
  previous: 'Previous place',
  next: 'Next place',
  pretty: 'Formatted',
  wrap: 'Wrap lines',
  copy: 'Copy',
  notCopied: 'The system did not let Paddock copy.',
  masked: 'Keys are masked.',
} as const
