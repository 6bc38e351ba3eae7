/**
 * A payer's whole flow in a real browser, which the harness only imitates: a form of another site, the sign-in, the
 * pay page, and the redirect back that the page's own policy must allow. With and without scripts.
 */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makePerson, type Person } from '../harness/cast.ts'
import { isWithoutChromium, sharedChromium } from '../harness/chromium.ts'
import { freePort } from '../harness/free-port.ts'
import { type Fields, gatewayText, makeShop, md5, type Shop } from '../harness/gateway-shop.ts'
import { startTestApp, type TestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'

describe.skipIf(isWithoutChromium)('a buyer', () => {
  let test: TestApp
  let shop: Shop
  let alice: Person
  let chrome: Browser
  let site: Server
  let order: Fields

  beforeAll(async () => {
    const port = await freePort()
    test = await startTestApp({
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      PORT: String(port),
      NOTIFY_ALLOW_CIDRS: '127.0.0.0/8',
    })
    await test.app.listen({ port, host: '127.0.0.1' })
    shop = await makeShop(test)
    alice = await makePerson(test, { points: 10_000n })
    site = createServer((request, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8')
      if (request.url !== '/') return response.end('<h1>Back at the shop</h1>')
      const inputs = Object.entries(order).map(
        ([name, value]) => `<input type="hidden" name="${name}" value="${value}">`,
      )
      response.end(
        `<form method="post" action="${test.url}/payment/api/submit.php">${inputs.join('')}<button>Buy</button></form>`,
      )
    }).listen(0, '127.0.0.1')
    await once(site, 'listening')
    chrome = await sharedChromium()
  })
  afterAll(async () => {
    site?.close()
    await test?.close()
  })

  it.each([true, false])('pays what a shop of another site asks, scripts: %s', async (javaScriptEnabled) => {
    // Browsers treat it as another site than 127.0.0.1.
    const address = `http://localhost:${(site.address() as AddressInfo).port}`
    order = shop.signMd5({
      pid: shop.pidText,
      out_trade_no: `B-${javaScriptEnabled}`,
      name: 'Stickers 贴纸',
      money: '1.20',
      notify_url: `${address}/notify`,
      return_url: `${address}/return?shop=1`,
    })
    const context = await chrome.newContext({ javaScriptEnabled, locale: 'en' })
    const page = await context.newPage()
    await page.goto(address)
    await page.getByRole('button', { name: 'Buy' }).click()
    await page.getByLabel('Username').fill(alice.username)
    await page.getByLabel('Password').fill(alice.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText(messages.en.pay.converted('1.20', '120', '100')).waitFor()
    await page.getByRole('button', { name: messages.en.pay.submit('120', 120n, false) }).click()
    await page.getByRole('heading', { name: 'Back at the shop' }).waitFor()
    const { shop: own, sign, ...fields } = Object.fromEntries(new URL(page.url()).searchParams)
    expect(own).toBe('1')
    expect(sign).toBe(md5(gatewayText(fields) + shop.merchant_key))
    expect(fields).toMatchObject({ trade_status: 'TRADE_SUCCESS', money: '1.20' })

    // The shop opens the payment again, and the payer is signed in: the receipt, and the link to the shop once more.
    await page.goto(address)
    await page.getByRole('button', { name: 'Buy' }).click()
    await page.getByRole('heading', { name: messages.en.pay.states.paid }).waitFor()
    await page.getByRole('link', { name: /^Back to / }).click()
    await page.getByRole('heading', { name: 'Back at the shop' }).waitFor()
    expect(new URL(page.url()).searchParams.get('sign')).toBe(sign)
    await context.close()
  })
})
