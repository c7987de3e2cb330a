/** The review of a workflow or role file that came with a project. */
import { count, counted } from './words'

export const review = {
  workflow: 'This workflow came with the project. It is off until you have read it.',
  role: 'This role came with the project. It is off until you have read it.',
  changedTitle: 'It changed since you reviewed it.',
  changedBody: 'It is off again. Read it as if it were new: what you switched on was another text.',
  path: 'File',
  steps: 'Steps',
  commands: (n: number): string =>
    n === 0 ? 'It runs no commands.' : `It runs ${counted(n, 'command', 'commands')} on this computer.`,
  text: 'The whole file',
  reading: 'Reading the file…',
  hidden: (n: number): string =>
    n === 1
      ? '1 character in this file could fool the eye. It is marked with a box.'
      : `${count(n)} characters in this file could fool the eye. They are marked with boxes.`,
  clean: 'No hidden characters.',
  otherTitle: 'The file changed while this page was open.',
  otherBody: 'What you would read is not what would be switched on.',
  again: 'Read again',
  on: 'Switch on',
  off: 'Leave off',
  isOn: (name: string): string => `“${name}” is switched on.`,
  isOff: (name: string): string => `“${name}” stays off.`,
  brokenTitle: 'It cannot be switched on.',
} as const
