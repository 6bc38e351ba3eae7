/**
 * Every page of the list, in a real browser: by phone, in English and by day; by desk, in Chinese and by night. Each is
 * photographed into test/artifacts/pages/. PHOTOGRAPH_ALL=true takes every combination instead of these.
 */
import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { default as axe, RunOptions } from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { messages } from '../../src/texts.ts'
import { isWithoutChromium, launchChromium } from '../chromium.ts'
import { type ListedPage, PAGES } from './list.ts'
import { stopsOn, tabThrough } from './walks.ts'
import { makeWorld, type Role, type World } from './world.ts'

const ARTIFACTS = join(import.meta.dirname, '../artifacts/pages')
const VIEWS = join(import.meta.dirname, '../../views')
/** Two browsers' loads on a busy machine. */
const TEST_MS = 60_000
const PAGE_BYTES_MAX = 40 * 1024
const TARGET_PIXELS_MIN = 44
const PHONE = { width: 360, height: 740 }
const DESK = { width: 1280, height: 800 }
const isEverything = process.env.PHOTOGRAPH_ALL === 'true'

type Look = { language: 'en' | 'zh-CN'; colorScheme: 'light' | 'dark'; viewport: typeof PHONE }

const LOOKS: Look[] = [
  { language: 'en', colorScheme: 'light', viewport: PHONE },
  { language: 'zh-CN', colorScheme: 'dark', viewport: DESK },
]

test('every view is a page of the list, or a part of one', async () => {
  const files = (await readdir(VIEWS, { recursive: true })).filter(
    (file) => file.endsWith('.eta') && file !== 'layout.eta',
  )
  const texts = await Promise.all(files.map((file) => readFile(join(VIEWS, file), 'utf8')))
  const pages = files.filter((_file, i) => texts[i]!.includes("layout('/layout'"))
  const listed = new Set(PAGES.map(({ name }) => `${name.split(' ')[0]}.eta`))
  expect(pages.filter((file) => !listed.has(file))).toEqual([])
  expect([...listed].filter((file) => !pages.includes(file))).toEqual([])
  expect(new Set(PAGES.map(({ name }) => name)).size).toBe(PAGES.length)
})

describe.skipIf(isWithoutChromium)('every page', () => {
  let world: World
  let chrome: Browser
  let axeSource: string
  const windows = new Map<string, Promise<Page>>()

  beforeAll(async () => {
    axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
    world = await makeWorld()
    chrome = await launchChromium()
  })

  afterAll(async () => {
    await chrome?.close()
    await world?.close()
  })

  /** The one window in which this person looks at all their pages like this. */
  function windowOf(role: Role, look: Look): Promise<Page> {
    const key = `${role} ${look.language}`
    const opened = windows.get(key) ?? openWindow(chrome, world, role, look)
    windows.set(key, opened)
    return opened
  }

  test.each(PAGES)('$name', { timeout: TEST_MS }, async (listed) => {
    for (const look of LOOKS) {
      const page = await windowOf(listed.as, look)
      await reach(page, listed, world)
      await photograph(page, listed, look)
      expect(await page.getAttribute('html', 'lang')).toBe(look.language)
      await page.setViewportSize(PHONE)
      const excess = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      expect(excess, `wider than ${PHONE.width} pixels in ${look.language}`).toBeLessThanOrEqual(0)
      expect(await smallTargets(page)).toEqual([])
      const { bytes, strangers } = await weigh(page, world)
      expect(strangers).toEqual([])
      expect(bytes, 'bytes of page, style and script').toBeLessThanOrEqual(PAGE_BYTES_MAX)
      // Its rules are about marks and colours, which are the same in every language.
      if (look === LOOKS[0]) expect(await violations(page, axeSource)).toEqual([])
      await page.setViewportSize(look.viewport)
    }
  })

  /** A window of its own, for a walk. */
  async function openWalk(
    role: Role,
    language: Look['language'],
    options: BrowserContextOptions = {},
  ): Promise<Page> {
    const page = await openWindow(chrome, world, role, { ...LOOKS[0]!, language }, options)
    onTestFinished(() => page.context().close())
    return page
  }

  test.each([
    ['en', true],
    ['en', false],
    ['zh-CN', true],
    ['zh-CN', false],
  ] as const)(
    'the way of a buyer in %s (JavaScript: %s)',
    { timeout: TEST_MS },
    async (language, javaScriptEnabled) => {
      const t = messages[language]
      const page = await openWalk('buyer', language, { javaScriptEnabled })
      const { path, transaction_id } = await world.order('15')
      await page.goto(path)
      await page.getByText(t.pay.elsewhere.title).click()
      await page.getByRole('img', { name: t.pay.elsewhere.qr }).waitFor()
      await page.getByRole('button', { name: t.pay.submit('15', 15n) }).click()
      await page.getByText('"isGenuine":true').waitFor()

      await page.goto(path)
      await page.getByRole('heading', { name: t.pay.states.paid }).waitFor()
      await page.getByText(t.pay.telling.title).click()
      await page.getByText(t.pay.telling.byBrowser).waitFor()
      await page.getByRole('link', { name: t.pay.returnToShop }).click()
      await page.getByText('"isGenuine":true').waitFor()

      await page.goto(`${world.test.url}/`)
      await page.getByRole('link', { name: t.common.wallet, exact: true }).click()
      await page.getByLabel(t.lists.search).fill(transaction_id)
      await page.getByRole('button', { name: t.lists.find }).click()
      await page.getByText('−15').waitFor()
      await page.getByRole('link', { name: t.common.myPayments }).first().click()
      await page.getByRole('heading', { name: t.common.myPayments }).waitFor()
      await page.locator(`a[href$="${transaction_id}"]`).click()
      await page.getByRole('heading', { name: t.pay.states.paid }).waitFor()
      expect((await page.getByRole('main').textContent())?.includes(transaction_id)).toBe(true)
    },
  )

  test('the way of a buyer by the keyboard alone', { timeout: TEST_MS }, async () => {
    const page = await openWalk('visitor', 'en')
    const { username, password } = world.people.buyer
    const { path } = await world.order('16')
    await page.goto(path)
    await tabThrough(page, ({ text }) => text === 'username')
    await page.keyboard.type(username)
    await page.keyboard.press('Tab')
    await page.keyboard.type(password)
    await page.keyboard.press('Enter')
    await page.waitForURL(path)
    const stops = await tabThrough(page, ({ text }) => text === 'Pay 16 points')
    expect(stops.filter(({ isVisible }) => !isVisible)).toEqual([])
    await page.keyboard.press('Enter')
    await page.getByText('"isGenuine":true').waitFor()
  })

  test.each([
    ['a form', 'sign-in'],
    ['a decision', 'consent'],
    ['a list', 'account found'],
    ['a console', 'admin-payment-app'],
  ])(
    '%s is gone through by the keyboard, and shows where one is',
    { timeout: TEST_MS },
    async (_kind, name) => {
      const listed = PAGES.find((page) => page.name === name)!
      const page = await openWalk(listed.as, 'en')
      await reach(page, listed, world)
      // From the beginning, wherever the page has put the cursor.
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
      const stops = await tabThrough(page)
      expect(stops[0]).toMatchObject({ text: 'Skip to content' })
      expect(stops.filter(({ isVisible }) => !isVisible)).toEqual([])
      expect(stops).toHaveLength(await stopsOn(page))
    },
  )

  test('the account menu opens and closes by the keyboard, and signs out', { timeout: TEST_MS }, async () => {
    const page = await openWalk('visitor', 'en')
    const session = [...(await world.people.newcomer.signIn()).cookies]
    await page.context().addCookies(session.map(([name, value]) => ({ name, value, url: world.test.url })))
    await page.goto(`${world.test.url}/`)
    await tabThrough(page, ({ tag }) => tag === 'summary')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Sign out' }).waitFor({ state: 'hidden' })
    await page.keyboard.press('Enter')
    await tabThrough(page, ({ text }) => text === 'Sign out')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Sign in', exact: true }).waitFor()
  })

  test('a choice of language is kept, and the page stays where it is', { timeout: TEST_MS }, async () => {
    const page = await openWalk('visitor', 'en')
    await page.goto(`${world.test.url}/account/recover`)
    await page.getByRole('button', { name: '中文' }).click()
    await page.getByRole('heading', { name: messages['zh-CN'].security.recover.title }).waitFor()
    await page.goto(`${world.test.url}/sign-in`)
    expect(await page.getAttribute('html', 'lang')).toBe('zh-CN')
  })

  test('the time to pay is counted down at its end, aloud, and then the page says so', {
    timeout: TEST_MS,
  }, async () => {
    const page = await openWalk('buyer', 'en')
    await page.clock.install()
    const { path, transaction_id } = await world.order('17')
    await page.goto(path)
    const clock = page.locator('[data-clock]')
    expect(await clock.isVisible()).toBe(false)
    await page.clock.fastForward('24:30')
    await clock.waitFor()
    expect(await clock.textContent()).toMatch(/^5:(30|29) left$/)
    await page.clock.fastForward('00:40')
    await page.getByRole('status').getByText('Minutes left to pay: 5').waitFor({ state: 'attached' })
    await page.clock.fastForward('04:00')
    await page.getByRole('status').getByText('Minutes left to pay: 1').waitFor({ state: 'attached' })
    await world.expire(transaction_id)
    await page.clock.fastForward('01:00')
    await page.getByRole('heading', { name: 'Expired' }).waitFor()
  })

  test('a page that waits for another device turns into the receipt', { timeout: TEST_MS }, async () => {
    const page = await openWalk('buyer', 'en')
    const { path, pay } = await world.order('18')
    await page.goto(path)
    await page.getByText('Continue on another device').click()
    await pay(world.people.buyer)
    await page.getByRole('heading', { name: 'Paid' }).waitFor()
  })
})

async function openWindow(
  chrome: Browser,
  world: World,
  role: Role,
  { language, colorScheme, viewport }: Look,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await chrome.newContext({ viewport, colorScheme, reducedMotion: 'reduce', ...options })
  const { url } = world.test
  const cookies = role === 'visitor' ? [] : [...world.cookies[role]]
  await context.addCookies(
    [...cookies, ['language', language] as const].map(([name, value]) => ({ name, value, url })),
  )
  context.setDefaultTimeout(20_000)
  return context.newPage()
}

async function reach(page: Page, { path, act }: ListedPage, world: World): Promise<void> {
  await page.goto(new URL(path(world), world.test.url).href)
  await act?.(page, world)
}

type Loaded = { name: string; decodedBodySize: number; initiatorType: string }

/** The page and all it loaded: what it weighs without pictures, and what came from elsewhere. */
async function weigh(page: Page, { test, open }: World): Promise<{ bytes: number; strangers: string[] }> {
  const loaded = await page.evaluate(() =>
    ['navigation', 'resource'].flatMap((type) =>
      performance
        .getEntriesByType(type)
        .map((entry) => (entry as PerformanceResourceTiming).toJSON() as Loaded),
    ),
  )
  const texts = loaded.filter(({ name }) => !name.endsWith('.svg'))
  return {
    bytes: texts.reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0),
    strangers: loaded
      .map(({ name }) => name)
      .filter((name) => ![test, open].some(({ url }) => name.startsWith(`${url}/`))),
  }
}

async function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate((min) => {
    const shown = [...document.querySelectorAll('a[href], button, input, select, textarea, summary')]
    return shown
      .filter((element) => element.checkVisibility() && getComputedStyle(element).display !== 'inline')
      .map((element) => element.closest('label') ?? element)
      .map((element) => [element, element.getBoundingClientRect()] as const)
      .filter(([, { height, width }]) => height > 1 && (height < min || width < min))
      .map(([element, { height, width }]) => `${element.outerHTML.slice(0, 120)} ${width} × ${height}`)
  }, TARGET_PIXELS_MIN)
}

/** What axe finds by day, and by night, when only colours can be different. */
async function violations(page: Page, axeSource: string): Promise<string[]> {
  await page.evaluate(axeSource)
  const run = (options: RunOptions) =>
    page.evaluate((given) => (globalThis as unknown as { axe: typeof axe }).axe.run(given), options)
  const byDay = await run({ resultTypes: ['violations'], elementRef: false })
  await page.emulateMedia({ colorScheme: 'dark' })
  const byNight = await run({ resultTypes: ['violations'], elementRef: false, runOnly: ['color-contrast'] })
  await page.emulateMedia({ colorScheme: 'light' })
  return [...byDay.violations, ...byNight.violations].flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
  )
}

async function photograph(page: Page, { name }: ListedPage, look: Look): Promise<void> {
  const looks = isEverything
    ? [PHONE, DESK].flatMap((viewport) =>
        (['light', 'dark'] as const).map((colorScheme) => ({ ...look, viewport, colorScheme })),
      )
    : [look]
  for (const { viewport, colorScheme, language } of looks) {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme })
    const file = [name.replaceAll(/[ /]/g, '-'), language, viewport.width, colorScheme].join('_')
    await page.screenshot({ path: join(ARTIFACTS, `${file}.jpg`), fullPage: true, quality: 70 })
  }
  await page.emulateMedia({ colorScheme: look.colorScheme })
}
