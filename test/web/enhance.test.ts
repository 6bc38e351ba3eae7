/** What the script of all pages adds, in Chromium. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startAtLocalhost } from '../harness/at-localhost.ts'
import { makePerson } from '../harness/cast.ts'
import { isWithoutChromium, sharedChromium } from '../harness/chromium.ts'
import type { TestApp } from '../harness/harness.ts'
import { makeLink } from '../harness/links.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'

describe.skipIf(isWithoutChromium)('in Chromium', () => {
  let test: TestApp

  beforeAll(async () => {
    test = await startAtLocalhost()
  })
  afterAll(() => test.close())

  async function open(
    path: string,
    { locale = 'en', cookies = new Map<string, string>() } = {},
  ): Promise<Page> {
    const context = await (await sharedChromium()).newContext({ locale })
    onTestFinished(() => context.close())
    await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: test.url })))
    const page = await context.newPage()
    await page.goto(test.url + path)
    return page
  }

  it.each(['en', 'zh-CN'] as const)(
    'the bar that saves settings names those that changed: %s',
    async (locale) => {
      const { cookies } = await (await makePerson(test, { is_admin: true })).signIn()
      const page = await open('/admin/settings?area=brand', { locale, cookies })
      const { changes, careful, names } = messages[locale].settings
      const bar = page.locator('.savebar p')
      const name = page.locator('[name="site_name_en"]')
      const before = await name.inputValue()
      expect(await bar.textContent()).toBe(careful)
      await name.fill('Fern')
      const english = names.site_name_en!.label
      expect(await bar.textContent()).toBe(changes.one + english)
      await page.locator('[name="site_accent"]').fill('#123456')
      const both = [english, names.site_accent!.label].join(changes.separator)
      expect(await bar.textContent()).toBe(changes.many.replace('#', '2') + both)
      await name.fill(before)
      expect(await bar.textContent()).toBe(changes.one + names.site_accent!.label)
      await page.locator('[name="site_accent"]').fill('')
      expect(await bar.textContent()).toBe(careful)
    },
  )

  it('another amount and a chosen amount replace each other', async () => {
    const merchant = await makeMerchant(test)
    const link = await makeLink(test, merchant, {
      ...{ amount: null, amount_min: 5n, amount_max: 900n, suggestions: [10n, 50n, 200n] },
    })
    const { cookies } = await (await makePerson(test)).signIn()
    const page = await open(`/l/${link.slug}`, { cookies })
    const other = page.locator('[name="amount"]')
    const chosen = () =>
      page
        .locator('[name="choice"]:checked')
        .evaluateAll((all) => all.map((each) => (each as HTMLInputElement).value))
    expect(await chosen()).toEqual(['50'])
    await other.fill('7')
    expect(await chosen()).toEqual([])
    await other.fill('')
    expect(await chosen()).toEqual(['50'])
    await other.fill('7')
    await page.locator('.choices label').first().click()
    expect([await chosen(), await other.inputValue()]).toEqual([['10'], ''])
  })

  it('two buttons count a quantity within its bounds, with scripts only', async () => {
    const link = await makeLink(test, await makeMerchant(test), { amount: 9n, quantity_max: 2 })
    const { cookies } = await (await makePerson(test)).signIn()
    const page = await open(`/l/${link.slug}`, { cookies })
    const quantity = page.locator('[name="quantity"]')
    for (const [name, counted] of [
      ['more', '2'],
      ['more', '2'],
      ['fewer', '1'],
      ['fewer', '1'],
    ] as const) {
      await page.getByRole('button', { name: messages.en.paymentLinks[name] }).click()
      expect(await quantity.inputValue()).toBe(counted)
    }
    const { body } = await test.app.inject({ url: `/l/${link.slug}` })
    expect(body.match(/<button type="button" data-step="-?1" [^>]* hidden>/g)).toHaveLength(2)
  })

  it.each([360, 1280])('the copy button shares the row of six languages at %i pixels', async (width) => {
    const page = await open('/docs/payment/post_payment_query')
    await page.setViewportSize({ width, height: 900 })
    const tabs = page.locator('.code-tabs:has(label:nth-of-type(6))').first()
    const topOf = async (of: string) => (await tabs.locator(of).first().boundingBox())!.y
    expect(await topOf('button:visible')).toBe(await topOf('label'))
  })
})
