/** What a browser says of itself, in the two words a person knows it by. Pure; anybody can claim to be anything. */
import type { Messages } from '../../web/languages.ts'

/** The first that fits counts: most browsers also name the ones they descend from. */
const BROWSERS: [string, RegExp][] = [
  ['WeChat', /MicroMessenger\//],
  ['QQ Browser', /M?QQBrowser\//],
  ['UC Browser', /U(C|)Browser\//],
  ['Edge', /Edg(e|A|iOS)?\//],
  ['Opera', /(OPR|Opera|OPT)\//],
  ['Samsung Internet', /SamsungBrowser\//],
  ['Vivaldi', /Vivaldi\//],
  ['Firefox', /(Firefox|FxiOS)\//],
  ['Chrome', /(Chrome|Chromium|CriOS)\//],
  ['Safari', /Safari\//],
  ['curl', /^curl\//],
]

const SYSTEMS: [string, RegExp][] = [
  ['iPhone', /iPhone/],
  ['iPad', /iPad/],
  ['HarmonyOS', /HarmonyOS|OpenHarmony/],
  ['Android', /Android/],
  ['Windows', /Windows/],
  ['ChromeOS', /CrOS/],
  ['macOS', /Macintosh|Mac OS X/],
  ['Linux', /Linux|X11/],
]

/** The browser and the system that a User-Agent header names, as far as they are known. */
export function deviceOf(agent: string): { browser: string | undefined; system: string | undefined } {
  const named = (list: [string, RegExp][]) => list.find(([, pattern]) => pattern.test(agent))?.[0]
  return { browser: named(BROWSERS), system: named(SYSTEMS) }
}

/** A device in the words of a language. */
export function describeDevice(agent: string, { sessions }: Messages): string {
  const { browser, system } = deviceOf(agent)
  if (browser !== undefined && system !== undefined) return sessions.on(browser, system)
  return browser ?? system ?? sessions.unknown
}
