/** The sample of a site's colour on the page of settings: the colour that is tried, in both modes, with its contrasts. */
import { coloursOf, contrast, isUsableAccent, NEUTRALS, nearestAccent, OWN_ACCENT } from '../../core/brand.ts'
import { sampleAddress } from '../../web/site.ts'

/** Colours to start from. */
export const PRESETS = {
  green: OWN_ACCENT,
  indigo: '#3b4fa8',
  plum: '#8a3b6d',
  brick: '#a4432c',
  blue: '#1f6391',
  graphite: '#4a4f57',
} as const

export type BrandSample = {
  /** The colour of the sample: the tried one, or the nearest that can be used. */
  accent: string
  /** The nearest colour that can be used, where the tried one cannot. */
  nearest: string | undefined
  /** The address of the sample's style sheet. */
  style: string
  contrasts: { button: number; link: number; dark: number }
}

/** Returns the colour that a text means, as it is stored: `#3b4fa8`, also for `3B4FA8` and `#abc`. Undefined for other texts. */
export function colourIn(text: string): string | undefined {
  const digits = /^#?((?:[0-9a-f]{3}){1,2})$/i.exec(text.trim())?.[1]?.toLowerCase()
  return digits && `#${digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits}`
}

/** Returns the sample of a typed colour, or of the service's own. */
export function brandSample(typed: string): BrandSample {
  const colour = colourIn(typed) ?? OWN_ACCENT
  const accent = nearestAccent(colour)
  const [light, dark] = [coloursOf(accent, 'light'), coloursOf(accent, 'dark')]
  return {
    accent,
    nearest: isUsableAccent(colour) ? undefined : accent,
    style: sampleAddress(accent),
    contrasts: {
      button: contrast(light['on-accent'], light.accent),
      link: contrast(light.link, NEUTRALS.light.paper),
      dark: contrast(dark['on-accent'], dark.accent),
    },
  }
}
