/**
 * Checks every page of the list. A real browser opens the first page of every third view, and the few that take one to reach: it
 * fits a phone, its targets are large enough for a thumb, it is light, prints dark on white and without what can be clicked, loads
 * nothing from elsewhere, and axe finds no fault. Half of these are seen in light, and half in dark. The HTML of every page is
 * checked without a browser, in both languages.
 *
 * `LOOKS=left` opens in the browser what that left out, and every page with extreme values. `TEST_TIMES=1` and photographs open
 * every page in both looks, and those.
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
import { TIMES } from '../../harness/thoroughness.ts'
import { formsIn } from '../form-markup.ts'
import { FORMS } from '../typed-forms.ts'
import { testExtremes } from './extremes.ts'
import { type ListedPage, PAGES, type PageGroup, pagesOf } from './list.ts'
import { markupFaults } from './markup.ts'
import { fetchListed, reach } from './ways.ts'
import { DESK, LOOKS, type Look, openWindow, PHONE } from './windows.ts'
import { makeWorld, type Role, type World } from './world.ts'

const ARTIFACTS = join(import.meta.dirname, '../../artifacts/pages')
const PAGE_BYTES_MAX = 40 * 1024
/** The style sheet of all pages, and what a page may have beside it. */
const STYLE_BYTES_MAX = 32 * 1024
const OWN_STYLE_BYTES_MAX = 2 * 1024
const PRINT_STYLE_BYTES_MAX = 4 * 1024
const TARGET_PIXELS_MIN = 44

/** Whether the browser opens every page in both looks, and only what it otherwise leaves out. */
const OPENS_ALL = PHOTOGRAPHS.taken || TIMES >= 1
const OPENS_REST = process.env.LOOKS === 'left'

const viewOf = ({ name }: ListedPage) => name.split(' ')[0]!
/** The first page of each view. */
const FIRST = [...Map.groupBy(PAGES, viewOf).values()].map(([first]) => first)

/** The looks in which the browser opens a page. */
function looksOf(listed: ListedPage): Look[] {
  const [english, chinese] = LOOKS
  const position = FIRST.indexOf(listed)
  if (OPENS_ALL || (OPENS_REST && position === -1)) return LOOKS
  if (position === -1) return listed.act === undefined ? [] : [english]
  const [one, other] = position % 4 < 2 ? (['light', 'dark'] as const) : (['dark', 'light'] as const)
  const [first, second] = [
    { ...english, colorScheme: one },
    { ...chinese, colorScheme: other },
  ]
  if (position % 3 === 0) return OPENS_REST ? [second] : [first]
  return OPENS_REST ? [first, second] : []
}

export function describePages(group: PageGroup): void {
  const pages = pagesOf(group)
  let world: World

  beforeAll(async () => {
    world = await makeWorld()
  })
  afterAll(() => world?.close())

  describe.skipIf(isWithoutChromium)('a page in the browser', () => {
    let axeSource: string
    const windows = new Map<string, Promise<Page>>()

    beforeAll(async () => {
      axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
    })
    afterAll(async () => {
      for (const window of windows.values()) await (await window).context().close()
    })

    /** The window of this member for all pages in this look. */
    function windowOf(role: Role, look: Look): Promise<Page> {
      const key = `${role} ${look.language} ${look.colorScheme}`
      const opened =
        windows.get(key) ?? sharedChromium().then((chrome) => openWindow(chrome, world, role, look))
      windows.set(key, opened)
      return opened
    }

    const opened = pages.map((listed) => ({ ...listed, listed, looks: looksOf(listed) }))
    test.each(opened.filter(({ looks }) => looks.length > 0))('$name', async ({ listed, looks }) => {
      for (const [i, look] of looks.entries()) {
        const page = await windowOf(listed.as, look)
        await reach(page, listed, world)
        if (PHOTOGRAPHS.taken) await photograph(page, listed, look)
        expect(await page.getAttribute('html', 'lang')).toBe(look.language)
        const excess = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
        expect(excess, `wider than ${PHONE.width} pixels in ${look.language}`).toBeLessThanOrEqual(0)
        expect(await smallTargets(page)).toEqual([])
        expect(await danglingDots(page)).toEqual([])
        const { document, style, ownStyle, printStyle, strangers } = await weigh(page, world)
        expect(strangers).toEqual([])
        expect(document, 'bytes of the page').toBeLessThanOrEqual(PAGE_BYTES_MAX)
        expect(style, 'bytes of the style sheet').toBeLessThanOrEqual(STYLE_BYTES_MAX)
        expect(ownStyle, 'bytes of its own style').toBeLessThanOrEqual(OWN_STYLE_BYTES_MAX)
        expect(printStyle, 'bytes of the style of prints').toBeLessThanOrEqual(PRINT_STYLE_BYTES_MAX)
        // In its second look only the colours are new to axe.
        expect(await violations(page, axeSource, i === 0 ? {} : { runOnly: ['color-contrast'] })).toEqual([])
        expect(await printed(page, look)).toEqual([])
      }
    })
  })

  if (!OPENS_REST) describeHtml(pages, () => world)
  if ((OPENS_ALL || OPENS_REST) && group !== 'docs')
    describe.skipIf(isWithoutChromium)('a page with extreme values', () => testExtremes(pages, () => world))
}

function describeHtml(pages: ListedPage[], worldOf: () => World): void {
  describe('the HTML of a page', () => {
    const fetched = LOOKS.flatMap(({ language }) => pages.map((listed) => ({ ...listed, listed, language })))
    test.each(fetched.filter(({ act }) => act === undefined))(
      '$name ($language)',
      async ({ listed, language }) => {
        const { test: site, open } = worldOf()
        const { status, body } = await fetchListed(listed, language, worldOf())
        expect(status).toBeLessThan(500)
        expect(Buffer.byteLength(body), 'bytes of the page').toBeLessThanOrEqual(PAGE_BYTES_MAX)
        expect(markupFaults(body, language, [site.url, open.url])).toEqual([])
        if (language === 'en' && listed.steps === undefined) expect(unlistedForms(body)).toEqual([])
      },
    )
  })
}

/** The addresses of forms in which people type and that refused-forms.test.ts does not try, because FORMS lacks them. */
function unlistedForms(body: string): string[] {
  return formsIn(body)
    .filter(({ fields }) => fields.some(({ isTyped }) => isTyped))
    .filter((form) => !Object.keys(FORMS).some((route) => form.isOf(route)))
    .map(({ action }) => action)
}

type Loaded = { name: string; decodedBodySize: number; initiatorType: string }

/** The bytes of the page and of its style, and the addresses of other sites that it loads from. */
async function weigh(
  page: Page,
  { test, open }: World,
): Promise<{
  document: number
  style: number
  ownStyle: number
  printStyle: number
  strangers: string[]
}> {
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
    style: bytesOf(({ name }) => name.endsWith('/tessera.css')),
    ownStyle: bytesOf(({ name }) => name.endsWith('.css') && !/\/(tessera|print)\.css$/.test(name)),
    printStyle: bytesOf(({ name }) => name.endsWith('/print.css')),
    strangers: loaded
      .map(({ name }) => name)
      .filter((name) => ![test, open].some(({ url }) => name.startsWith(`${url}/`))),
  }
}

/** Leaves out the bars of a chart: they share its width, and the page has their figures in a table too. */
async function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate((min) => {
    const shown = [
      ...document.querySelectorAll('a[href], button, input:not(.tips *), select, textarea, summary'),
    ]
    return shown
      .filter((element) => element.checkVisibility() && getComputedStyle(element).display !== 'inline')
      .map((element) => element.closest('label') ?? element)
      .map((element) => [element, element.getBoundingClientRect()] as const)
      .filter(([, { height, width }]) => height > 1 && (height < min || width < min))
      .map(([element, { height, width }]) => `${element.outerHTML.slice(0, 120)} ${width} × ${height}`)
  }, TARGET_PIXELS_MIN)
}

/** Lines that end in the dot between two parts. */
async function danglingDots(page: Page): Promise<(string | null)[]> {
  return page.evaluate(() => {
    const shown = [...document.querySelectorAll('.mid')].flatMap((dot) => {
      const drawn = [...dot.getClientRects()].find(({ width }) => width > 1)
      return drawn === undefined ? [] : [{ dot, drawn }]
    })
    return shown
      .filter(({ dot, drawn }) => {
        const rest = document.createRange()
        rest.setStartAfter(dot)
        rest.setEndAfter(dot.closest('p, td, dd, li, div, legend')!.lastChild!)
        const next = [...rest.getClientRects()].find(({ width }) => width > 1)
        return next === undefined || next.top >= drawn.bottom - 1
      })
      .map(({ dot }) => dot.parentElement!.textContent)
  })
}

/** What a print in the dark colours shows that has no use on paper, and text that is light on white. */
async function printed(page: Page, { colorScheme }: Look): Promise<string[]> {
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
  await page.emulateMedia({ media: 'screen', colorScheme })
  return faults
}

/** The faults that axe finds. */
async function violations(page: Page, axeSource: string, options: RunOptions): Promise<string[]> {
  await page.evaluate(axeSource)
  const found = await page.evaluate(
    (given) => (globalThis as unknown as { axe: typeof axe }).axe.run(given),
    { resultTypes: ['violations'], elementRef: false, selectors: false, ...options } satisfies RunOptions,
  )
  return found.violations.flatMap(({ id, nodes }) =>
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
