/**
 * Every page of the list, in a real browser: by phone, in English and by day; by desk, in Chinese and by night. Each is
 * photographed into test/artifacts/pages/. PHOTOGRAPH_ALL=true takes every combination instead of these.
 */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { default as axe, RunOptions } from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ListedPage, PAGES } from './list.ts'
import { makeWorld, type Role, type World } from './world.ts'

const CHROMIUM = '/usr/bin/chromium'
const CHROMIUM_ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
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
  const files = (await readdir(VIEWS)).filter((file) => file.endsWith('.eta') && file !== 'layout.eta')
  const texts = await Promise.all(files.map((file) => readFile(join(VIEWS, file), 'utf8')))
  const pages = files.filter((_file, i) => texts[i]!.includes("layout('/layout'"))
  const listed = new Set(PAGES.map(({ name }) => `${name.split(' ')[0]}.eta`))
  expect(pages.filter((file) => !listed.has(file))).toEqual([])
  expect([...listed].filter((file) => !pages.includes(file))).toEqual([])
  expect(new Set(PAGES.map(({ name }) => name)).size).toBe(PAGES.length)
})

describe.skipIf(!existsSync(CHROMIUM) && process.env.CI !== 'true')('every page', () => {
  let world: World
  let chrome: Browser
  let axeSource: string
  const windows = new Map<string, Promise<Page>>()

  beforeAll(async () => {
    axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
    world = await makeWorld()
    chrome = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_ARGS })
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
      await page.setViewportSize(look.viewport)
      expect(await violations(page, axeSource, look)).toEqual([])
      const { bytes, strangers } = await weigh(page, world)
      expect(strangers).toEqual([])
      expect(bytes, 'bytes of page, style and script').toBeLessThanOrEqual(PAGE_BYTES_MAX)
    }
  })
})

async function openWindow(chrome: Browser, world: World, role: Role, look: Look): Promise<Page> {
  const { language, colorScheme, viewport } = look
  const context = await chrome.newContext({ viewport, colorScheme, reducedMotion: 'reduce' })
  const { url } = world.test
  const cookies = role === 'visitor' ? [] : [...world.cookies[role]]
  await context.addCookies(
    [...cookies, ['language', language] as const].map(([name, value]) => ({ name, value, url })),
  )
  context.setDefaultTimeout(10_000)
  return context.newPage()
}

async function reach(page: Page, { path, act }: ListedPage, world: World): Promise<void> {
  await page.goto(`${world.test.url}${path(world)}`)
  await act?.(page, world)
}

type Loaded = { name: string; decodedBodySize: number; initiatorType: string }

/** The page and all it loaded: what it weighs without pictures, and what came from elsewhere. */
async function weigh(page: Page, { test }: World): Promise<{ bytes: number; strangers: string[] }> {
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
    strangers: loaded.map(({ name }) => name).filter((name) => !name.startsWith(`${test.url}/`)),
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

/** What axe finds. By night only colours can differ from what was found by day. */
async function violations(page: Page, axeSource: string, { colorScheme }: Look): Promise<string[]> {
  await page.evaluate(axeSource)
  const options: RunOptions = { resultTypes: ['violations'], elementRef: false }
  if (colorScheme === 'dark') options.runOnly = ['color-contrast']
  const { violations: found } = await page.evaluate(
    (given) => (globalThis as unknown as { axe: typeof axe }).axe.run(given),
    options,
  )
  return found.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary}`),
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
    const file = [name.replaceAll(' ', '-'), language, viewport.width, colorScheme].join('_')
    await page.screenshot({ path: join(ARTIFACTS, `${file}.jpg`), fullPage: true, quality: 70 })
  }
  await page.emulateMedia({ colorScheme: look.colorScheme })
}
