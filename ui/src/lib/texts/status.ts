/** The strip at the bottom: iterations, tokens, time, pause and stop. */
import { clock, count, counted, duration } from './words'

export const status = {
  region: 'Turn status',
  iteration: (n: number, of: number): string => `Iteration ${count(n)} of ${count(of)}`,
  left: (n: number): string => `${count(n)} left`,
  iterations: {
    title: 'Iterations in this turn',
    used: (n: number, of: number, each: number | undefined): string =>
      each === undefined
        ? `${count(n)} of ${count(of)} used`
        : `${count(n)} of ${count(of)} used · about ${duration(each)} each`,
    told: (left: number): string =>
      `The agent knows that ${count(left)} ${left === 1 ? 'remains' : 'remain'}.`,
    add: 'Add',
    addTen: '+10',
    addMore: '+25',
    addLabel: (n: number): string => `Add ${counted(n, 'iteration', 'iterations')}`,
    own: 'Own number of iterations',
    finish: 'Finish up now',
    finishWhy: 'One last request without tools: what is done, what is open.',
    pause: 'Pause after this iteration',
  },
  time: (millis: number): string => clock(millis),
  timeWhy: 'Working time of this turn, without waiting for you',
  pause: 'Pause after this iteration',
  cancelPause: 'Do not pause',
  stop: 'Stop now',
  stopping: 'Stopping…',
  retryNow: 'Retry now',
  workedFor: (millis: number): string => duration(millis),
} as const
