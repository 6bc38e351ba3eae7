/**
 * Chromium, for tests that need a real browser. They are skipped without it, except with CI=true. Tests hand it functions
 * that run in a page, so their types are here.
 */
/// <reference lib="dom" />
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** The browser without windows, which costs two thirds of the processor time, and the whole one. */
const SHELL = '/usr/bin/chromium-headless-shell'
const WHOLE = '/usr/bin/chromium'
const executablePath = existsSync(SHELL) ? SHELL : WHOLE

/**
 * Features of the whole browser that are switched off. Its address bar is a page of its own (WebUIOmnibox…), at each
 * navigation. The last switch counts, so the list repeats those of Playwright's that Debian's build knows.
 */
const OFF = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AimEnabled',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
]

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
  // Names that never resolve elsewhere (RFC 6761), for tests of several hosts.
  '--host-resolver-rules=MAP *.test 127.0.0.1',
  ...(executablePath === WHOLE ? [`--disable-features=${OFF}`] : []),
]

export const isWithoutChromium = !existsSync(executablePath) && process.env.CI !== 'true'

/** Whether tests photograph pages, and in every look: `PHOTOGRAPH=true` or `PHOTOGRAPH=all`. */
export const PHOTOGRAPHS = {
  taken: process.env.PHOTOGRAPH !== undefined,
  all: process.env.PHOTOGRAPH === 'all',
}

let launched: Promise<Browser> | undefined

/** The browser of this worker, which ends with it. Each test opens and closes a context of its own. */
export function sharedChromium(): Promise<Browser> {
  launched ??= chromium.launch({ executablePath, args: ARGS })
  return launched
}
