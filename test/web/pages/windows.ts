/** Browser windows in which the members of the test site open its pages, as wide as a phone. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { WAIT_MS_MAX } from '../../harness/waiting.ts'
import type { Role, World } from './world.ts'

export const PHONE = { width: 360, height: 740 }
export const DESK = { width: 1280, height: 800 }

/** The look of a page. The viewport is that of its photograph. */
export type Look = { language: 'en' | 'zh-CN'; colorScheme: 'light' | 'dark'; viewport: typeof PHONE }

export const LOOKS: [Look, Look] = [
  { language: 'en', colorScheme: 'light', viewport: PHONE },
  { language: 'zh-CN', colorScheme: 'dark', viewport: DESK },
]

/** Opens a window with the session of this member. */
export async function openWindow(
  chrome: Browser,
  world: World,
  role: Role,
  { language, colorScheme }: Look,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await chrome.newContext({
    viewport: PHONE,
    colorScheme,
    reducedMotion: 'reduce',
    ...options,
  })
  const { test, open } = world
  const cookies = role === 'visitor' ? [] : [...world.cookies[role]]
  await context.addCookies([
    ...cookies.map(([name, value]) => ({ name, value, url: test.url })),
    // The sites have different hosts, so each needs a cookie of its own.
    ...[test, open].map(({ url }) => ({ name: 'language', value: language, url })),
  ])
  context.setDefaultTimeout(WAIT_MS_MAX)
  return context.newPage()
}
