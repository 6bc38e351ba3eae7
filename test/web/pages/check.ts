/**
 * Checks every page of the list. A real browser opens the first page of each view, and each page that takes an act to reach: it fits a
 * phone, its targets are large enough for a thumb, it is light, prints dark on white and without what can be clicked, and loads nothing from
 * elsewhere. On the first page of each view, axe finds no fault in light or dark. Of the other pages the HTML is checked, in both languages.
 *
 * `LOOKS=left` opens in the browser what that left out: the other pages, and every page in Chinese. `TEST_TIMES=1` and photographs open all.
 * `PHOTOGRAPH=true` photographs each page into test/artifacts/pages/: on a phone in English and light, and on a desktop in Chinese and
 * dark. `PHOTOGRAPH=all` photographs every combination.
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { default as axe, RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isWithoutChromium, PHOTOGRAPHS, sharedChromium } from '../../harness/chromium.ts'
import { HTML } from '../../harness/harness.ts'
import { TIMES } from '../../harness/thoroughness.ts'
import { type ListedPage, PAGES, type PageGroup, pagesOf } from './list.ts'
import { markupFaults } from './markup.ts'
import { DESK, LOOKS, type Look, openWindow, PHONE, reach } from './windows.ts'
import { makeWorld, type Role, type World } from './world.ts'

const ARTIFACTS = join(import.meta.dirname, '../../artifacts/pages')
const PAGE_BYTES_MAX = 40 * 1024
const STYLE_BYTES_MAX = 28 * 1024
const TARGET_PIXELS_MIN = 44

const [ENGLISH, CHINESE] = LOOKS
/** Whether the browser opens every page in every look, and only what it otherwise leaves out. */
const OPENS_ALL = PHOTOGRAPHS.taken || TIMES >= 1
const OPENS_REST = process.env.LOOKS === 'left'

type Check = ListedPage & {
  /** The looks in which the browser opens it. */
  looks: Look[]
  /** The languages in which its HTML is checked. */
  languages: Look['language'][]
  hasAxe: boolean
}

function checkOf(listed: ListedPage): Check {
  const isFirst = PAGES.find(({ name }) => viewOf(name) === viewOf(listed.name)) === listed
  const isOpened = isFirst || listed.act !== undefined
  if (OPENS_ALL) return { ...listed, looks: LOOKS, languages: [], hasAxe: true }
  if (OPENS_REST) return { ...listed, looks: isOpened ? [CHINESE] : LOOKS, languages: [], hasAxe: !isFirst }
  const languages = listed.act === undefined ? LOOKS.map(({ language }) => language) : []
  return { ...listed, looks: isOpened ? [ENGLISH] : [], languages, hasAxe: isFirst }
}

const viewOf = (name: string) => name.split(' ')[0]

export function describePages(group: PageGroup): void {
  describe.skipIf(isWithoutChromium)('every page', () => {
    let world: World
    let axeSource: string
    const windows = new Map<string, Promise<Page>>()

    beforeAll(async () => {
      axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
      world = await makeWorld()
    })

    afterAll(async () => {
      for (const window of windows.values()) await (await window).context().close()
      await world?.close()
    })

    /** The window of this member for all pages in this look. */
    function windowOf(role: Role, look: Look): Promise<Page> {
      const key = `${role} ${look.language}`
      const opened =
        windows.get(key) ?? sharedChromium().then((chrome) => openWindow(chrome, world, role, look))
      windows.set(key, opened)
      return opened
    }

    test.each(pagesOf(group).map(checkOf))('$name', async ({ looks, languages, hasAxe, ...listed }) => {
      for (const look of looks) {
        const page = await windowOf(listed.as, look)
        await reach(page, listed, world)
        if (PHOTOGRAPHS.taken) await photograph(page, listed, look)
        expect(await page.getAttribute('html', 'lang')).toBe(look.language)
        const excess = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
        expect(excess, `wider than ${PHONE.width} pixels in ${look.language}`).toBeLessThanOrEqual(0)
        expect(await smallTargets(page)).toEqual([])
        expect(await printed(page)).toEqual([])
        const { document, style, strangers } = await weigh(page, world)
        expect(strangers).toEqual([])
        expect(document, 'bytes of the page').toBeLessThanOrEqual(PAGE_BYTES_MAX)
        expect(style, 'bytes of its style').toBeLessThanOrEqual(STYLE_BYTES_MAX)
        // Its rules are about marks and colours, which are the same in every language.
        if (hasAxe && look === ENGLISH) expect(await violations(page, axeSource)).toEqual([])
      }
      for (const language of languages) {
        const html = await fetched(listed, language, world)
        expect(Buffer.byteLength(html), 'bytes of the page').toBeLessThanOrEqual(PAGE_BYTES_MAX)
        expect(markupFaults(html, language, [world.test.url, world.open.url])).toEqual([])
      }
    })
  })
}

/** The HTML of a page, as its member gets it. */
async function fetched({ as, path }: ListedPage, language: Look['language'], world: World): Promise<string> {
  const url = new URL(path(world), world.test.url)
  const isKnown = as !== 'visitor' && url.href.startsWith(`${world.test.url}/`)
  const cookies = [...(isKnown ? world.cookies[as] : []), ['language', language]]
  const response = await fetch(url, {
    headers: { accept: HTML, cookie: cookies.map(([name, value]) => `${name}=${value}`).join('; ') },
  })
  expect(response.status).toBeLessThan(500)
  return response.text()
}

type Loaded = { name: string; decodedBodySize: number; initiatorType: string }

/** The bytes of the page and of its style, and the addresses of other sites that it loads from. */
async function weigh(
  page: Page,
  { test, open }: World,
): Promise<{ document: number; style: number; strangers: string[] }> {
  const loaded = await page.evaluate(() =>
    ['navigation', 'resource'].flatMap((type) =>
      performance
        .getEntriesByType(type)
        .map((entry) => (entry as PerformanceResourceTiming).toJSON() as Loaded),
    ),
  )
  const bytesOf = (isCounted: (one: Loaded) => boolean) =>
    loaded.filter(isCounted).reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0)
  return {
    document: bytesOf(({ initiatorType }) => initiatorType === 'navigation'),
    style: bytesOf(({ name }) => name.endsWith('.css')),
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

/** What a print in the dark colours shows that has no use on paper, and text that is light on white. */
async function printed(page: Page): Promise<string[]> {
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  const faults = await page.evaluate(() => {
    const clickable = [
      ...document.querySelectorAll('button, a.button, nav, main input, main select, main textarea'),
    ]
    const lightness = (colour: string) => Math.max(...(colour.match(/\d+/g) ?? ['0']).slice(0, 3).map(Number))
    const texts = [...document.querySelectorAll('h1, h2, p, td, dd, li')]
    return [
      ...clickable.filter((element) => element.checkVisibility({ visibilityProperty: true })),
      ...texts.filter(
        (element) => element.checkVisibility() && lightness(getComputedStyle(element).color) > 200,
      ),
    ].map((element) => element.outerHTML.slice(0, 120))
  })
  await page.emulateMedia({ media: 'screen', colorScheme: 'light' })
  return faults
}

/** The faults that axe finds in light, and in dark, where only colours can differ. */
async function violations(page: Page, axeSource: string): Promise<string[]> {
  await page.evaluate(axeSource)
  const run = (options: RunOptions) =>
    page.evaluate((given) => (globalThis as unknown as { axe: typeof axe }).axe.run(given), options)
  const byDay = await run({ resultTypes: ['violations'], elementRef: false, selectors: false })
  await page.emulateMedia({ colorScheme: 'dark' })
  const byNight = await run({
    resultTypes: ['violations'],
    elementRef: false,
    selectors: false,
    runOnly: ['color-contrast'],
  })
  await page.emulateMedia({ colorScheme: 'light' })
  return [...byDay.violations, ...byNight.violations].flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
  )
}

/** Photographs a page in its look, or in every look. */
async function photograph(page: Page, { name }: ListedPage, look: Look): Promise<void> {
  const looks = PHOTOGRAPHS.all
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
  await page.setViewportSize(PHONE)
  await page.emulateMedia({ colorScheme: look.colorScheme })
}
