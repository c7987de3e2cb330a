/**
 * The colours of the four themes, in OKLCH, and the style sheet made of them.
 *
 * `palette.json` is what a person edits; `tokens.css` is written from it by the test beside this file, which also
 * measures every pair of text and ground. All values lie inside sRGB, so the hex form is the same colour.
 */
import palette from './palette.json'

export type ThemeName = keyof typeof palette
export type ColourToken = keyof (typeof palette)['dark']

/** A function that turns an OKLCH colour into `#rrggbb`. */
export type HexOf = (colour: string) => string

const darkThemes: ThemeName[] = ['dark', 'high_contrast_dark']

function block(selector: string, theme: ThemeName, hex: HexOf, indent = ''): string {
  const lines = Object.entries(palette[theme]).map(
    ([name, value]) => `${indent}  --${name}: ${hex(value)}; /* ${value} */`,
  )
  const scheme = darkThemes.includes(theme) ? 'dark' : 'light'
  return [`${indent}${selector} {`, `${indent}  color-scheme: ${scheme};`, ...lines, `${indent}}`].join('\n')
}

function whenSystem(query: string, theme: ThemeName, hex: HexOf): string {
  return `@media ${query} {\n${block(':root:not([data-theme])', theme, hex, '  ')}\n}`
}

/** The text of `tokens.css`: one block per theme; without a `data-theme` the system decides. */
export function tokenSheet(hex: HexOf): string {
  const named = (Object.keys(palette) as ThemeName[]).map((theme) =>
    block(
      theme === 'light' ? `:root,\n:root[data-theme='light']` : `:root[data-theme='${theme}']`,
      theme,
      hex,
    ),
  )
  const [dark, light, highDark, highLight] = named
  return `${[
    '/* Written from palette.json by palette.test.ts: change the palette, then run `npx vitest run -u src/styles`. */',
    light,
    dark,
    highLight,
    highDark,
    whenSystem('(prefers-color-scheme: dark)', 'dark', hex),
    whenSystem('(prefers-contrast: more)', 'high_contrast_light', hex),
    whenSystem('(prefers-contrast: more) and (prefers-color-scheme: dark)', 'high_contrast_dark', hex),
  ].join('\n\n')}\n`
}

/** The colours of one theme by token. */
export function themeColours(theme: ThemeName): Record<ColourToken, string> {
  return palette[theme]
}

export const themeNames = Object.keys(palette) as ThemeName[]
