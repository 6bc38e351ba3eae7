/** Moves through pages by keyboard, as people do, and reports the visible focus. */
import type { Page } from 'playwright-core'

/** The focused element, and whether the focus is visible. Undefined at the end of the page. */
export type Stop = { tag: string; text: string; isVisible: boolean }

/** Returns 'inside' where the focus moved within the same element, such as between the parts of a date. */
function stopOf(page: Page): Promise<Stop | 'inside' | undefined> {
  return page.evaluate(() => {
    const element = document.activeElement
    if (element === null || element === document.body) return undefined
    const memory = globalThis as { lastStop?: Element }
    if (memory.lastStop === element) return 'inside'
    memory.lastStop = element
    const { outlineStyle, outlineWidth } = getComputedStyle(element)
    const { top, bottom, width, height } = element.getBoundingClientRect()
    const isInView = bottom > 0 && top < innerHeight && width > 1 && height > 1
    return {
      tag: element.tagName.toLowerCase(),
      text: (element.textContent || element.getAttribute('name') || '').replace(/\s+/g, ' ').trim(),
      isVisible: isInView && outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2,
    }
  })
}

/** Moves through a page with the tab key, to its end or until `isThere`. Returns every stop. */
export async function tabThrough(
  page: Page,
  isThere: (stop: Stop) => boolean = () => false,
): Promise<Stop[]> {
  const stops: Stop[] = []
  for (;;) {
    await page.keyboard.press('Tab')
    const stop = await stopOf(page)
    if (stop === undefined) return stops
    if (stop === 'inside') continue
    stops.push(stop)
    if (isThere(stop)) return stops
  }
}

/** Counts the elements of the page that take the focus. */
export function stopsOn(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      [
        ...document.querySelectorAll<HTMLInputElement>('a[href], button, input, select, textarea, summary'),
      ].filter((element) => element.checkVisibility() && !element.disabled && element.type !== 'hidden')
        .length,
  )
}
