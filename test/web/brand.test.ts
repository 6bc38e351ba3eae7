/** The colours of a site: every accent gives readable text, in light and in dark. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  coloursOf,
  contrast,
  isUsableAccent,
  NEUTRALS,
  nearestAccent,
  OWN_ACCENT,
} from '../../src/core/brand.ts'

/** Every 16th step of red, green and blue. */
const COLOURS = Array.from({ length: 16 ** 3 }, (_, n) =>
  [n >> 8, (n >> 4) & 15, n & 15].reduce((colour, part) => `${colour}${part.toString(16).repeat(2)}`, '#'),
)

const GROUNDS = { light: ['#ffffff', '#f7f4ee', '#f2eee6'], dark: ['#1f1c19', '#151311', '#2a2622'] }

test.each(['light', 'dark'] as const)('every accent gives readable text in %s', (mode) => {
  const faults = COLOURS.filter(isUsableAccent).filter((accent) => {
    const colours = coloursOf(accent, mode)
    const pairs = [
      [colours['on-accent'], colours.accent, 4.5],
      [colours['on-plate'], colours.plate, 4.5],
      ['#ffffff', colours.plate, 7],
      ...[...GROUNDS[mode], colours.wash].map((ground) => [colours.link, ground, 4.5]),
      ...GROUNDS[mode].map((ground) => [colours.accent, ground, 3]),
    ] as [string, string, number][]
    return pairs.some(([text, ground, least]) => contrast(text, ground) < least)
  })
  expect(faults).toEqual([])
})

test('an accent that cannot be seen on a light page is refused', () => {
  expect(isUsableAccent('#ffe680')).toBe(false)
  expect(isUsableAccent('#0e695f')).toBe(true)
})

test('the nearest accent of a colour can be used, and a usable colour is its own', () => {
  expect(COLOURS.filter((colour) => !isUsableAccent(nearestAccent(colour)))).toEqual([])
  expect(COLOURS.filter((colour) => isUsableAccent(colour) && nearestAccent(colour) !== colour)).toEqual([])
  expect(nearestAccent('#FFE680')).toBe('#9f860a')
})

test('a sample has the colours of the style sheet', () => {
  const style = readFileSync(join(import.meta.dirname, '../../views/assets/tessera.css'), 'utf8')
  const [, light, dark] = style.split(/^ *:root \{$/m)
  for (const [name, colour] of Object.entries(NEUTRALS.light))
    expect(light).toContain(`--${name}: ${colour};`)
  for (const [name, colour] of Object.entries(NEUTRALS.dark)) expect(dark).toContain(`--${name}: ${colour};`)
  expect(light).toContain(`--accent: ${OWN_ACCENT};`)
})
