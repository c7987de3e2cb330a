import { converter, differenceEuclidean, formatHex, parse, wcagContrast } from 'culori'
import { describe, expect, test } from 'vitest'
import { themeColours, themeNames, tokenSheet, type ColourToken } from './palette'

const surfaces: ColourToken[] = [
  'bg-canvas',
  'bg-panel',
  'bg-raised',
  'bg-overlay',
  'bg-inset',
  'bg-hover',
  'bg-selected',
]
const codeGrounds: ColourToken[] = [
  'bg-canvas',
  'bg-inset',
  'diff-add-bg',
  'diff-add-word',
  'diff-del-bg',
  'diff-del-word',
]
const statusTints: [ColourToken, ColourToken][] = [
  ['ok-text', 'ok-tint'],
  ['warn-text', 'warn-tint'],
  ['danger-text', 'danger-tint'],
  ['info-text', 'info-tint'],
]

const rgb = converter('rgb')

function hexOf(colour: string): string {
  const hex = formatHex(parse(colour))
  if (hex === undefined) throw new Error(`not a colour: ${colour}`)
  return hex
}

test('the style sheet is the palette', async () => {
  await expect(tokenSheet(hexOf)).toMatchFileSnapshot('./tokens.css')
})

describe.each(themeNames)('theme %s', (theme) => {
  const colours = themeColours(theme)
  const high = theme.startsWith('high_contrast')
  const tokens = Object.keys(colours) as ColourToken[]
  const contrast = (a: ColourToken, b: ColourToken): number =>
    wcagContrast(hexOf(colours[a]), hexOf(colours[b]))
  const pairsBelow = (limit: number, texts: ColourToken[], grounds: ColourToken[]): string[] =>
    texts.flatMap((text) =>
      grounds
        .filter((ground) => contrast(text, ground) < limit)
        .map((ground) => `${text} on ${ground}: ${contrast(text, ground).toFixed(2)}`),
    )

  test('every colour lies inside sRGB, so that its hex form looks the same', () => {
    const distance = differenceEuclidean('oklab')
    expect(tokens.filter((token) => distance(colours[token], hexOf(colours[token])) > 0.006)).toEqual([])
  })

  test('body text has 7 : 1 on every surface', () => {
    expect(pairsBelow(7, ['text-default'], surfaces)).toEqual([])
  })

  test('other text has 4.5 : 1 on every surface, 7 : 1 in high contrast', () => {
    const status: ColourToken[] = ['ok-text', 'warn-text', 'danger-text', 'info-text', 'accent-text']
    const risks = tokens.filter((token) => token.startsWith('risk-'))
    const limit = high ? 7 : 4.5
    expect(pairsBelow(limit, ['text-muted', 'text-faint', ...status, ...risks], surfaces)).toEqual([])
  })

  test('status text has 4.5 : 1 on its tint, 7 : 1 in high contrast', () => {
    expect(statusTints.flatMap(([text, tint]) => pairsBelow(high ? 7 : 4.5, [text], [tint]))).toEqual([])
  })

  test('code colours have 4.5 : 1 on code and diff grounds', () => {
    const syntax = tokens.filter((token) => token.startsWith('syn-'))
    expect(pairsBelow(4.5, syntax, codeGrounds)).toEqual([])
  })

  test('control borders and the focus ring have 3 : 1, 4.5 : 1 in high contrast', () => {
    expect(pairsBelow(high ? 4.5 : 3, ['border-control', 'border-focus'], surfaces)).toEqual([])
  })

  test('class colours of pictures have 3.2 : 1 on their ground, 4.6 : 1 in high contrast', () => {
    const pictures = tokens.filter((token) => token.startsWith('picture-'))
    expect(pictures).toHaveLength(6)
    expect(pairsBelow(high ? 4.6 : 3.2, pictures, ['bg-canvas'])).toEqual([])
  })

  test('solid buttons are readable and stand out', () => {
    const limit = high ? 7 : 4.5
    expect(pairsBelow(limit, ['accent-on'], ['accent-solid'])).toEqual([])
    expect(pairsBelow(limit, ['danger-on'], ['danger-solid'])).toEqual([])
    expect(pairsBelow(3, ['accent-solid', 'danger-solid'], ['bg-canvas'])).toEqual([])
  })

  test('pressed buttons, which are darker by 16 %, stay readable', () => {
    const darker = (token: ColourToken): string => {
      const { r = 0, g = 0, b = 0 } = { ...rgb(colours[token]) }
      return formatHex({ mode: 'rgb', r: r * 0.84, g: g * 0.84, b: b * 0.84 })
    }
    const limit = high ? 7 : 4.5
    expect(wcagContrast(hexOf(colours['accent-on']), darker('accent-solid'))).toBeGreaterThanOrEqual(limit)
    expect(wcagContrast(hexOf(colours['danger-on']), darker('danger-solid'))).toBeGreaterThanOrEqual(limit)
  })
})
