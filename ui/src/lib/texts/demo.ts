/** The words around the scripted demo: its banner and the six hint bubbles. */

/** The moments of the demo at which a hint appears. */
export type DemoMoment = 'reads' | 'edit' | 'command' | 'network' | 'circles' | 'limit'

export const demo = {
  banner: 'Demo – answers are scripted, tools are real, all inside the sample folder',
  leave: 'Open my own folder',
  /** The first message of the demo, for one click. */
  task: 'Customers say that the discount is too small. Find out why and fix it.',
  hint: 'Hint',
  close: 'Close this hint',
  step: (n: number, of: number): string => `${n} of ${of}`,
  moment: {
    reads: {
      title: 'It reads first',
      body: 'Each row is one call: what it read, how much, how long it took. Open a row to see everything.',
    },
    edit: {
      title: 'A change waits for you',
      body: 'This is the real diff. Write it, edit the text first, or reject it with a reason the agent will read.',
    },
    command: {
      title: 'A real command',
      body: 'It runs inside the sample folder, and its output comes in line by line. You can end it at any time.',
    },
    network: {
      title: 'This one wants the network',
      body: 'Nothing leaves this computer until you decide. Reject it, and the agent goes on without it.',
    },
    circles: {
      title: 'Paddock noticed a circle',
      body: 'The same thing failed again and again, so the turn paused by itself. Give a hint, or let it go on.',
    },
    limit: {
      title: 'A limit is a question',
      body: 'Add iterations or let it finish up. Afterwards you can take back every change of the turn.',
    },
  } satisfies Record<DemoMoment, { title: string; body: string }>,
} as const
