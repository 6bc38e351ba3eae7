/**
 * Computes the colours of a site from its one accent colour, in light and in dark. All of them are readable: text has a
 * contrast of at least 4.5 : 1 on each ground on which it stands (WCAG 2.2, 1.4.3).
 */

/** Red, green and blue from 0 to 1, in linear light. */
type Light = [number, number, number]
/** Lightness, chroma and hue of OKLCH, in which an equal step of lightness looks equal in every hue. */
type Lch = { l: number; c: number; h: number }

/** The least contrast of the accent with the page, below which a button cannot be found (WCAG 2.2, 1.4.11). */
const CONTROL_CONTRAST_MIN = 3
const TEXT_CONTRAST_MIN = 4.5
/** The colours of tessera.css that no site replaces, for a sample of either mode on one page, and for mails. */
export const NEUTRALS = {
  light: {
    paper: '#f7f4ee',
    card: '#ffffff',
    well: '#f2eee6',
    line: '#e4ded2',
    ink: '#211e19',
    soft: '#5f594e',
  },
  dark: {
    paper: '#151311',
    card: '#1f1c19',
    well: '#2a2622',
    line: '#37322c',
    ink: '#f2eee7',
    soft: '#b4ab9d',
  },
}
/** The grounds of text: the darkest of light, and the lightest of dark. */
const GROUNDS = { light: NEUTRALS.light.well, dark: NEUTRALS.dark.well }
const DARK_CARD = NEUTRALS.dark.card

/** The accent of a site that has not chosen one. */
export const OWN_ACCENT = '#0e695f'

/** Whether a colour can be the accent of a site: it is visible on every ground of a light page. */
export function isUsableAccent(colour: string): boolean {
  return contrast(colour, GROUNDS.light) >= CONTROL_CONTRAST_MIN
}

/** Returns the colour itself where it can be the accent of a site, or else the nearest darker one that can. */
export const nearestAccent = (colour: string): string =>
  until(colour.toLowerCase(), 'darker', [GROUNDS.light], CONTROL_CONTRAST_MIN)

/** Returns the style sheet that replaces the colours of tessera.css by those of a site. */
export function brandStyle(accent: string): string {
  const [light, dark] = [coloursOf(accent, 'light'), coloursOf(accent, 'dark')].map(declarationsOf)
  return `:root{${light}}@media screen and (prefers-color-scheme:dark){:root{${dark}}}`
}

/** Returns the style sheet of a sample: the colours of both modes, each within its half. */
export function sampleStyle(accent: string): string {
  const half = (mode: 'light' | 'dark') =>
    `.sample.${mode}{color-scheme:${mode};${declarationsOf({ ...NEUTRALS[mode], ...coloursOf(accent, mode) })}}`
  return half('light') + half('dark')
}

const declarationsOf = (colours: Record<string, string>) =>
  Object.entries(colours)
    .map(([name, value]) => `--${name}:${value}`)
    .join(';')

/** Returns the colours of a site, by the names that tessera.css uses. */
export function coloursOf(accent: string, mode: 'light' | 'dark') {
  const { l, c, h } = lchOf(accent)
  const isDark = mode === 'dark'
  const tone = (lightness: number, chroma: number) => hexOf({ l: lightness, c: Math.min(c, chroma), h })
  const wash = isDark ? tone(0.3, 0.045) : tone(0.955, 0.02)
  const pressed = isDark
    ? until(tone(Math.max(l, 0.76), 0.12), 'lighter', [DARK_CARD], TEXT_CONTRAST_MIN)
    : accent.toLowerCase()
  return {
    accent: pressed,
    'accent-strong': shifted(pressed, isDark ? 0.06 : -0.07),
    'on-accent': contrast(pressed, '#ffffff') >= TEXT_CONTRAST_MIN ? '#ffffff' : '#000000',
    link: until(
      tone(isDark ? 0.8 : Math.min(l, 0.5), isDark ? 0.11 : 0.17),
      isDark ? 'lighter' : 'darker',
      [GROUNDS[mode], wash],
      TEXT_CONTRAST_MIN,
    ),
    wash,
    tint: isDark ? tone(0.44, 0.07) : tone(0.84, 0.06),
    plate: until(tone(isDark ? 0.34 : 0.4, isDark ? 0.08 : 0.12), 'darker', ['#ffffff'], 7),
    'plate-tile': isDark ? tone(0.52, 0.1) : tone(0.62, 0.11),
    'on-plate': tone(0.92, 0.03),
  }
}

/** Returns the contrast of two colours, from 1 to 21 (WCAG 2.2). */
export function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number]
  return (high + 0.05) / (low + 0.05)
}

function luminance(colour: string): number {
  const [r, g, b] = lightOf(colour)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

/** Moves a colour step by step until it has the contrast with every ground. */
function until(colour: string, direction: 'lighter' | 'darker', grounds: string[], least: number): string {
  const step = direction === 'lighter' ? 0.01 : -0.01
  let found = colour
  while (grounds.some((ground) => contrast(found, ground) < least)) {
    const next = shifted(found, step)
    if (next === found) break
    found = next
  }
  return found
}

function shifted(colour: string, step: number): string {
  const { l, c, h } = lchOf(colour)
  return hexOf({ l: Math.min(1, Math.max(0, l + step)), c, h })
}

function lightOf(colour: string): Light {
  return [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as Light
}

// The constants of the next two functions are those of the definition of Oklab.
function lchOf(colour: string): Lch {
  const [r, g, b] = lightOf(colour)
  const long = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
  const middle = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
  const short = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
  const x = 1.9779984951 * long - 2.428592205 * middle + 0.4505937099 * short
  const y = 0.0259040371 * long + 0.7827717662 * middle - 0.808675766 * short
  const l = 0.2104542553 * long + 0.793617785 * middle - 0.0040720468 * short
  return { l, c: Math.hypot(x, y), h: Math.atan2(y, x) }
}

/** Returns the colour, with less chroma where no screen can show it. */
function hexOf({ l, c, h }: Lch): string {
  const light = lightOfLch({ l, c, h })
  const isShown = light.every((part) => part > -0.0005 && part < 1.0005)
  if (!isShown && c > 0.002) return hexOf({ l, c: c * 0.95, h })
  const parts = light.map((part) => {
    const bounded = Math.min(1, Math.max(0, part))
    const value = bounded <= 0.0031308 ? bounded * 12.92 : 1.055 * bounded ** (1 / 2.4) - 0.055
    return Math.round(value * 255)
      .toString(16)
      .padStart(2, '0')
  })
  return `#${parts.join('')}`
}

function lightOfLch({ l, c, h }: Lch): Light {
  const [x, y] = [c * Math.cos(h), c * Math.sin(h)]
  const long = (l + 0.3963377774 * x + 0.2158037573 * y) ** 3
  const middle = (l - 0.1055613458 * x - 0.0638541728 * y) ** 3
  const short = (l - 0.0894841775 * x - 1.291485548 * y) ** 3
  return [
    4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * middle + 1.707614701 * short,
  ]
}
