/**
 * Terminal output as pieces with style names that the tokens know. Colours are mapped to the theme, so that they keep
 * their contrast; movements of the cursor are reduced to the line they leave behind.
 */
import Anser from 'anser'

export interface StyledPiece {
  text: string
  /** Classes of the style sheet: `ansi-red`, `ansi-bold`, … */
  styles: string
}

const colours: Record<string, string> = {
  'ansi-black': 'ansi-faint',
  'ansi-bright-black': 'ansi-faint',
  'ansi-red': 'ansi-red',
  'ansi-bright-red': 'ansi-red',
  'ansi-green': 'ansi-green',
  'ansi-bright-green': 'ansi-green',
  'ansi-yellow': 'ansi-yellow',
  'ansi-bright-yellow': 'ansi-yellow',
  'ansi-blue': 'ansi-blue',
  'ansi-bright-blue': 'ansi-blue',
  'ansi-magenta': 'ansi-magenta',
  'ansi-bright-magenta': 'ansi-magenta',
  'ansi-cyan': 'ansi-cyan',
  'ansi-bright-cyan': 'ansi-cyan',
}

const decorations: Record<string, string> = {
  bold: 'ansi-bold',
  dim: 'ansi-faint',
  italic: 'ansi-italic',
  underline: 'ansi-underline',
}

// The control characters are what is looked for.
/* eslint-disable no-control-regex */
const notColour =
  /\u001b(?:\[[0-9;?]*[A-LN-Za-ln-z@]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[()][A-Z0-9]|[=>78])/g

const otherControls = /[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f]/g
/* eslint-enable no-control-regex */

/** What a terminal would show at the end: carriage returns overwrite their line, other control codes go. */
export function settled(text: string): string {
  return text
    .replace(notColour, '')
    .replace(/\r\n/g, '\n')
    .split('\n')
    .map((line) => (line.includes('\r') ? (line.replace(/\r+$/, '').split('\r').pop() ?? '') : line))
    .join('\n')
    .replace(otherControls, '')
}

/** Settled text in styled pieces. */
export function styled(text: string): StyledPiece[] {
  return Anser.ansiToJson(text, { use_classes: true, remove_empty: true }).map((piece) => {
    const colour = piece.fg === null ? undefined : colours[piece.fg]
    const marks = piece.decorations.map((decoration) => decorations[decoration])
    return {
      text: piece.content,
      styles: [colour, ...marks].filter((style) => style !== undefined).join(' '),
    }
  })
}

/** Text without any terminal codes, for copying and for one-line previews. */
export function unstyled(text: string): string {
  return Anser.ansiToText(settled(text))
}
