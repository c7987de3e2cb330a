/** Words of the window around the views: regions, panels, first failure. */
export const shell = {
  appName: 'Paddock',
  starting: 'Starting…',
  coreSilent: 'The core does not answer.',
  tryAgain: 'Try again',
  viewFailed: 'This page could not be loaded.',
  viewFailedWhy: 'The rest of the window goes on working.',
  sessions: 'Sessions',
  sidebar: 'Sidebar',
  newSession: 'New session',
  settings: 'Settings',
  showSidebar: 'Show sessions',
  showPanel: 'Show side panel',
  hidePanel: 'Hide side panel',
  panelTabs: 'Pages of the side panel',
  panel: 'Side panel',
  map: 'Map',
  close: 'Close',
  dismiss: 'Dismiss',
  notices: 'Notices',
  openingSession: 'Opening session…',
  lost: 'The connection to the core was lost.',
  reconnect: 'Connect again',
  noSession: 'No session is open.',
  emptyTitle: (project: string): string =>
    project === '' ? 'What should be done?' : `What should be done in ${project}?`,
  emptyText:
    'Say what you want in your own words. You see every step, and you are asked before anything risky.',
  densityWords: { compact: 'Compact', normal: 'Normal', full: 'Full' },
  densityNow: (name: string): string => `Density: ${name}`,
  widthOf: (name: string): string => `Width of ${name}`,
} as const

/** What the live regions say when something happens while nobody looks. */
export const announcements = {
  answerReady: (words: number): string => `Answer ready, ${words === 1 ? '1 word' : `${words} words`}.`,
  approvalNeeded: (what: string, from: string | undefined, of: number): string =>
    `Approval needed${from === undefined ? '' : ` by sub-agent ${from}`}: ${what}. ${of === 1 ? '1 waits' : `${of} wait`} for you.`,
  overdue: (command: string): string =>
    `${command} did not end in time and is still running. Decide what becomes of it.`,
  question: (text: string): string => `The agent asks: ${text}`,
  turnDone: (facts: string): string => `Done. ${facts}.`,
  turnFailed: (reason: string): string => `Turn failed: ${reason}`,
  turnStopped: 'Stopped.',
  paused: 'Paused. The turn waits for you.',
  limit: (sentence: string): string => `Paused: ${sentence}.`,
  iterationsLeft: (iteration: number, of: number, left: number): string =>
    `Iteration ${iteration} of ${of}, ${left} left.`,
} as const
