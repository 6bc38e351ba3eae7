/** The style sheets as they are sent. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { assetUrl } from '../../src/web/assets.ts'
import { isWithoutChromium, sharedChromium } from '../harness/chromium.ts'
import { useTestApp } from '../harness/harness.ts'

const test = await useTestApp()

/** A value with `var()` keeps the text in which it was written, so two ways to write it become one. */
const inOneForm = (rule: string) =>
  rule
    .replaceAll(/\btransparent\b|rgba\(0, 0, 0, 0\)/g, '#0000')
    .replaceAll(/\s*([(),:;>/])\s*/g, '$1')
    .replaceAll(/#([\da-f])\1([\da-f])\2([\da-f])\3(?![\da-f])/g, '#$1$2$3')
    .replaceAll(/(?<![\d.#\w])0(?=\.\d)/g, '')

describe.skipIf(isWithoutChromium)('a style sheet', () => {
  it.each(['tessera.css', 'docs.css', 'print.css'] as const)(
    'has the same rules after it was shortened: %s',
    async (name) => {
      const written = readFileSync(join(import.meta.dirname, '../../views/assets', name), 'utf8')
      const { body: sent } = await test.app.inject(assetUrl(name))
      expect(sent.length).toBeLessThan(written.length)
      const page = await (await sharedChromium()).newPage()
      const rulesOf = async (css: string) => {
        const rules = await page.evaluate((text) => {
          const sheet = new CSSStyleSheet()
          sheet.replaceSync(text)
          return [...sheet.cssRules].map(({ cssText }) => cssText)
        }, css)
        return rules.map(inOneForm)
      }
      expect(await rulesOf(sent)).toEqual(await rulesOf(written))
      await page.close()
    },
  )
})
