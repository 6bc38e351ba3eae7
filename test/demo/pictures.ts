/**
 * Takes the pictures of the README from a demo: `npm run pictures`. A picture is a page of screenshots beside each other, so
 * that it stays true to what the pages show.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { brandStyle } from '../../src/core/brand.ts'
import { sharedChromium } from '../harness/chromium.ts'
import { type DemoProcess, removeDataDir, startDemoProcess } from '../harness/demo-process.ts'
import { messages } from '../harness/messages.ts'
import { makeScratchFolder } from '../harness/scratch.ts'

const FOLDER = join(import.meta.dirname, '../../docs/pictures')
const PHONE = { width: 390, height: 760 }
const DESK = { width: 1180, height: 760 }
const ACCENTS = ['#0e695f', '#8a3b12', '#4b3fb0']

type Look = { who: string; size: typeof PHONE; colorScheme?: 'light' | 'dark'; accent?: string }

/** Opens a page of the demo as one of its people, at twice the pixels. */
async function openAs(
  chrome: Browser,
  { demo }: DemoProcess,
  { who, size, colorScheme, accent }: Look,
): Promise<Page> {
  const context = await chrome.newContext({
    viewport: size,
    deviceScaleFactor: 2,
    locale: 'en',
    colorScheme: colorScheme ?? 'light',
    // The colour is put into the page as the service would send it.
    bypassCSP: accent !== undefined,
  })
  if (accent !== undefined) {
    const style = JSON.stringify(brandStyle(accent))
    await context.addInitScript(`addEventListener('DOMContentLoaded', () => {
      document.head.append(Object.assign(document.createElement('style'), { textContent: ${style} }))
    })`)
  }
  const page = await context.newPage()
  const { password } = demo.people.find(({ username }) => username === who)!
  await page.goto(`${demo.base_url}/sign-in`)
  await page.fill('[name=username]', who)
  await page.fill('[name=password]', password)
  await page.click('main button.primary')
  await page.waitForURL(`${demo.base_url}/**`)
  return page
}

/** Buys the first thing of the shop, up to the pay page. */
async function toPayPage(page: Page, { demo }: DemoProcess): Promise<void> {
  const { consent } = messages.en.identity
  await page.goto(demo.shop_url)
  await page.locator('main a[href="/login"]').first().click()
  await page.getByRole('button', { name: consent.allow }).click()
  await page.waitForURL(`${demo.shop_url}/`)
  await page.locator('main form[method=post] button').first().click()
  await page.waitForURL(/\/payment\/pay\//)
}

/** Puts screenshots beside each other on a plain ground. */
async function besideEachOther(
  chrome: Browser,
  name: string,
  pages: readonly Page[],
  height: number,
): Promise<void> {
  const pictures = await Promise.all(pages.map((page) => page.screenshot()))
  const shown = pictures.map(
    (picture) => `<img height="${height}" src="data:image/png;base64,${picture.toString('base64')}">`,
  )
  const sheet = await (await chrome.newContext({ deviceScaleFactor: 1.5 })).newPage()
  await sheet.setContent(`<style>
    body { margin: 0; background: #e9e4da; }
    main { display: inline-flex; gap: 28px; padding: 28px; }
    img { border-radius: 14px; box-shadow: 0 6px 24px #0003; }
  </style><main>${shown.join('')}</main>`)
  await writeFile(join(FOLDER, `${name}.png`), await sheet.locator('main').screenshot())
  await Promise.all([...pages, sheet].map((page) => page.context().close()))
}

const dataDir = await makeScratchFolder()
const started = await startDemoProcess({ dataDir })
const { demo } = started
try {
  const chrome = await sharedChromium()
  const open = (look: Look) => openAs(chrome, started, look)

  const [pay, home] = [
    await open({ who: 'alice', size: PHONE }),
    await open({ who: 'alice', size: DESK, colorScheme: 'dark' }),
  ]
  await toPayPage(pay, started)
  await home.goto(demo.base_url)
  await besideEachOther(chrome, 'pay-and-home', [pay, home], 560)

  const overview = await open({ who: 'bob', size: { width: 1280, height: 900 } })
  await overview.goto(`${demo.base_url}/payment/applications/${demo.gateway_app.payment_id}`)
  await besideEachOther(chrome, 'merchant', [overview], 640)

  const inColours = []
  for (const accent of ACCENTS) {
    const page = await open({ who: 'alice', size: PHONE, accent })
    await page.goto(demo.base_url)
    inColours.push(page)
  }
  await besideEachOther(chrome, 'colours', inColours, 520)
} finally {
  await (await sharedChromium()).close()
  await started.end('SIGTERM')
  await removeDataDir(dataDir)
}
