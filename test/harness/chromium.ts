/** Chromium, for tests that need a real browser. They are skipped without it, except with CI=true. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const CHROMIUM = '/usr/bin/chromium'
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  // The page and its frames share a process, so a page loads in half the time.
  '--in-process-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export const isWithoutChromium = !existsSync(CHROMIUM) && process.env.CI !== 'true'

/** Whether tests photograph pages, and in every look: `PHOTOGRAPH=true` or `PHOTOGRAPH=all`. */
export const PHOTOGRAPHS = {
  taken: process.env.PHOTOGRAPH !== undefined,
  all: process.env.PHOTOGRAPH === 'all',
}

let launched: Promise<Browser> | undefined

/** The browser of this worker, which ends with it. Each test opens and closes a context of its own. */
export function sharedChromium(): Promise<Browser> {
  launched ??= chromium.launch({ executablePath: CHROMIUM, args: ARGS })
  return launched
}
