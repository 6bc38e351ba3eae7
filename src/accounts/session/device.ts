// This room: the session of a browser: cookie, row, hooks, recent sign-in, and the throttle of guesses.
// Verbs: startSession, requireUser, requireFreshSignIn, endSessionsOf, registerAttempt.
// Tables: sessions, sign_in_attempts.
// Clauses: spec/accounts 2.2, 3.1–3.2.
/** Names the browser and the system of a User-Agent header. Any client can send any header. */
import type { Icon } from '../../web/icons.ts'
import type { Messages, Text } from '../../web/languages.ts'
import { sessions as texts } from './sessions.texts.ts'

/** The first match counts, because most browsers also name the ones they descend from. */
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

/** Returns the browser and the system that a User-Agent header names, or undefined for unknown ones. */
export function deviceOf(agent: string): { browser: string | undefined; system: string | undefined } {
  const named = (list: [string, RegExp][]) => list.find(([, pattern]) => pattern.test(agent))?.[0]
  return { browser: named(BROWSERS), system: named(SYSTEMS) }
}

/** The systems of devices that are held in the hand. */
const HANDHELD = ['iPhone', 'iPad', 'HarmonyOS', 'Android']

/** The icon of a device by its system. One that names no system, as a program may, gets that of a browser. */
export function deviceIcon(system: string | undefined): Icon {
  if (system === undefined) return 'globe'
  return HANDHELD.includes(system) ? 'phone' : 'desktop'
}

/** Names the browser and the system of a User-Agent header in both languages, for a mail. */
export function deviceText(agent: string): Text {
  const { browser, system } = deviceOf(agent)
  return deviceNamed(browser, system)
}

/** Says the names of a browser and its system in both languages. */
export function deviceNamed(browser: string | undefined, system: string | undefined): Text {
  if (browser !== undefined && system !== undefined) return texts.on(browser, system)
  const name = browser ?? system
  return name === undefined ? texts.unknown : { en: name, zh: name }
}

/** Names the browser and the system of a session in the reader's language. */
export function describeDevice(agent: string, { sessions }: Messages): string {
  const { browser, system } = deviceOf(agent)
  if (browser !== undefined && system !== undefined) return sessions.on(browser, system)
  return browser ?? system ?? sessions.unknown
}
