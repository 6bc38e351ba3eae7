/**
 * A new merchant's first steps in a real browser, guided only by the pages: from an empty account to a first order in
 * test mode, which the sample shop verifies, and then to the approved live application.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makePerson, type Person } from '../harness/cast.ts'
import { isWithoutChromium, sharedChromium } from '../harness/chromium.ts'
import { freePort } from '../harness/free-port.ts'
import { startTestApp, type TestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { rowsOf } from '../harness/rows.ts'
import { thisPart } from '../harness/thoroughness.ts'

const { en } = messages
const SHOP = join(import.meta.dirname, '../../examples/gateway-shop/shop.js')
const CLICKS_MAX = 16
const PAGE_MS = 60_000

describe.skipIf(isWithoutChromium)('somebody new', () => {
  let test: TestApp
  let chrome: Browser
  const closing: (() => Promise<unknown>)[] = []

  beforeAll(async () => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    test = await startTestApp({ PUBLIC_URL: url, PORT: String(port), NOTIFY_ALLOW_CIDRS: '127.0.0.0/8' })
    // The shop uses the clock of the machine.
    test.clock.advance(Date.now() - test.clock.now().getTime())
    test.startNotifier()
    await test.app.listen({ port, host: '127.0.0.1' })
    chrome = await sharedChromium()
  })
  afterAll(async () => {
    for (const close of closing) await close()
    await test?.close()
  })

  /** Starts the sample shop with the settings that its merchant reads on the pages. */
  async function openShop(settings: Record<string, string>, port: number): Promise<string> {
    const env = { PATH: process.env.PATH, SHOP_PORT: String(port), ...settings }
    const child = spawn(process.execPath, [SHOP], { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    closing.push(async () => {
      child.kill()
      await once(child, 'exit')
    })
    await once(child, 'message')
    return `http://127.0.0.1:${port}`
  }

  // Without scripts, which no page needs. `npm run test:all` also walks with them.
  it.each(thisPart('LOOKS', [false], [true]))(
    `gets a test payment and an approved application (clicks: ${CLICKS_MAX}, scripts: %s)`,
    async (javaScriptEnabled) => {
      const newcomer = await makePerson(test, { username: 'newcomer', trust_level: 1 })
      const admin = await makePerson(test, { username: 'admin', is_admin: true })
      let clicks = 0
      const click = async (target: Locator) => {
        clicks += 1
        await target.click()
      }
      const openWindow = async () => {
        const context = await chrome.newContext({ javaScriptEnabled, locale: 'en' })
        context.setDefaultTimeout(PAGE_MS)
        closing.unshift(() => context.close())
        return context.newPage()
      }
      const button = (on: Page, name: string) => on.getByRole('button', { name, exact: true })
      const signIn = async (on: Page, { username, password }: Person) => {
        await on.getByLabel(en.signIn.username).fill(username)
        await on.getByLabel(en.signIn.password).fill(password)
        await click(button(on, en.signIn.submit))
      }
      const fillIn = async (on: Page, name: string, callback: string) => {
        await on.getByLabel(en.paymentApps.name, { exact: true }).fill(name)
        await on.getByLabel(en.paymentApps.callbackUrl).fill(callback)
      }

      const page = await openWindow()
      const shopPort = await freePort()
      const callback = `http://127.0.0.1:${shopPort}/return`
      await page.goto(test.url)
      await click(page.getByRole('heading', { name: en.front.takePayments }))
      await signIn(page, newcomer)
      await fillIn(page, 'Mugs', callback)
      await click(button(page, en.testMode.create))
      await click(page.getByRole('link', { name: en.shop.keys }).first())
      await click(page.getByRole('link', { name: en.developers.show }))
      const shown = async (id: string) => (await page.locator(`#${id}`).innerText()).trim()
      const settings = {
        V1_ADDRESS: await shown('gateway-v1'),
        V2_ADDRESS: await shown('gateway-v2'),
        PID: await shown('gateway-pid'),
        MERCHANT_KEY: await shown('gateway-key'),
        PLATFORM_PUBLIC_KEY: await shown('gateway-platform-key'),
      }
      await click(button(page, en.merchantGateway.makePair))
      // The key is there to copy, and masked until the merchant opens it.
      const privateKey = await page.locator('.key details > code').first().textContent()
      const shop = await openShop({ ...settings, MERCHANT_PRIVATE_KEY: privateKey!.trim() }, shopPort)

      await page.goto(shop)
      // By V1.
      await click(button(page, 'Buy'))
      const payHere = async () => {
        expect(await page.locator('.test-mark').innerText()).toContain(en.common.testMode)
        await click(button(page, en.pay.submit('990', 990n, true)))
        await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor()
        expect(new URL(page.url()).origin).toBe(shop)
        // The shop accepted the notification, which came before the payer returned.
        expect(await page.locator('.heard').innerText()).toContain('The gateway notified the shop.')
      }
      await payHere()
      await page.goto(shop)
      await click(page.locator('summary'))
      await click(button(page, 'V2 (RSA): the shop opens the payment'))
      await payHere()

      await page.goto(test.url)
      await click(page.getByRole('link', { name: en.common.payments, exact: true }).first())
      await fillIn(page, 'Mugs', callback)
      await click(button(page, en.paymentApps.submit))
      const office = await openWindow()
      await office.goto(`${test.url}/admin/reviews`)
      await signIn(office, admin)
      const decided = office.waitForEvent('load')
      await click(button(office, en.admin.approve))
      await decided
      const statuses = await rowsOf(test, 'payment_apps', { applicant_id: newcomer.id })
      expect(statuses).toMatchObject([
        { book: 'test', status: 'approved' },
        { book: 'live', status: 'approved' },
      ])
      expect(clicks).toBeLessThanOrEqual(CLICKS_MAX)
    },
  )
})
