/** Walks through the demo in Chromium. `PHOTOGRAPH=true` photographs every page into test/artifacts/. */
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { textsFor } from '../../examples/shop/texts.js'
import { PHOTOGRAPHS, sharedChromium } from '../harness/chromium.ts'
import { WAIT_MS_MAX } from '../harness/waiting.ts'

const ARTIFACTS = join(import.meta.dirname, '../artifacts')
const SCHEMES = ['light', 'dark'] as const

export const PHONE = { width: 360, height: 740 }
export const DESK = { width: 1280, height: 800 }

/** Opens a window with cookies of its own, and closes it after the test. */
export async function openWindow(options: BrowserContextOptions): Promise<Page> {
  const context = await (await sharedChromium()).newContext(options)
  context.setDefaultTimeout(WAIT_MS_MAX)
  onTestFinished(() => context.close())
  return context.newPage()
}

/** The texts of the demo's shop. It calls the site by the names that the demo gives to it. */
export const shopTexts = (language: string) =>
  textsFor(language, { SITE_NAME_EN: 'Spark Forum', SITE_NAME_ZH: '星火论坛' })

/** Signs in on the service's page. */
export async function signInAtTessera(
  page: Page,
  { username, password }: { username: string; password: string },
): Promise<void> {
  await page.locator('input[name=username]').fill(username)
  await page.locator('input[name=password]').fill(password)
  await page.locator('input[name=password]').press('Enter')
}

/** Checks that a page is no wider than the screen, and photographs it in light and dark if requested. */
export type Photographer = (name: string, tab?: Page) => Promise<void>

/** Looks at each page of a walk on these screens. */
export function photographer(page: Page, series: string, screens = [PHONE, DESK]): Photographer {
  let count = 0
  return async (name, tab = page) => {
    count += 1
    await tab.waitForLoadState()
    for (const screen of screens) {
      await tab.setViewportSize(screen)
      for (const colorScheme of PHOTOGRAPHS.taken ? SCHEMES : []) {
        await tab.emulateMedia({ colorScheme })
        const path = join(ARTIFACTS, `${series}-${count}-${name}-${screen.width}-${colorScheme}.png`)
        await tab.screenshot({ path, fullPage: true })
      }
      const excess = await tab.evaluate('document.documentElement.scrollWidth - innerWidth')
      expect(excess, `${name} is wider than ${screen.width} pixels`).toBeLessThanOrEqual(0)
    }
  }
}
