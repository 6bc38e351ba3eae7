/**
 * The whole flow in a real browser: the demo's shop, sign-in, consent, payment and return. Needs Chromium; only CI=true
 * requires it.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { textsFor as mugTextsFor } from '../../examples/gateway-shop/texts.js'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { isWithoutChromium } from '../harness/chromium.ts'
import { messages } from '../harness/messages.ts'
import { makeMember, openSharedDemo, type SharedDemo } from '../harness/shared-demo.ts'
import { thisPart } from '../harness/thoroughness.ts'
import { openWindow, type Photographer, photographer, shopTexts, signInAtTessera } from './walk.ts'

const PRICE = 120
const t = messages.en
const shop = shopTexts('en')
const payNow = t.pay.submit(String(PRICE), BigInt(PRICE), false)

type Buyer = { username: string; password: string }

describe.skipIf(isWithoutChromium)('the shop', () => {
  let opened: SharedDemo

  beforeAll(async () => {
    opened = await openSharedDemo()
  })
  afterAll(() => opened?.close())

  function personOf(username: string) {
    const { id, ...person } = opened.demo.people.find((each) => each.username === username)!
    return { ...person, id: BigInt(id) }
  }

  /** What the payment of an order moved: from the buyer, to the fee account and to bob. */
  async function movedBy(transaction_id: string) {
    const entries = await opened.db
      .selectFrom('entries')
      .innerJoin('journal', 'journal.id', 'entries.journal_id')
      .innerJoin('ledger_accounts as account', 'account.id', 'entries.account_id')
      .innerJoin('orders', 'orders.journal_id', 'journal.id')
      .where('orders.transaction_id', '=', transaction_id)
      .orderBy('entries.amount')
      .select(['account.kind', 'account.user_id', 'entries.amount'])
      .execute()
    return entries.map(({ kind, user_id, amount }) => [user_id ?? kind, amount])
  }

  /** From the shop's front page to Tessera's consent page. */
  async function askToSignIn(page: Page, buyer: Buyer, seen: Photographer): Promise<void> {
    await page.goto(opened.demo.shop_url)
    await seen('shop')
    await page.getByRole('link', { name: shop.product.signIn }).click()
    await seen('sign-in')
    await page.getByLabel(t.signIn.username).fill(buyer.username)
    await page.getByLabel(t.signIn.password, { exact: true }).fill(buyer.password)
    await page.getByRole('button', { name: t.signIn.submit, exact: true }).click()
    await page.getByRole('button', { name: t.identity.consent.allow }).waitFor()
    await seen('consent')
  }

  async function signIn(page: Page, buyer: Buyer, seen: Photographer): Promise<void> {
    await askToSignIn(page, buyer, seen)
    await page.getByRole('button', { name: t.identity.consent.allow }).click()
    await page.getByText(`@${buyer.username}`).waitFor()
    expect(page.url()).toBe(`${opened.demo.shop_url}/`)
    await seen('shop-signed-in')
  }

  async function order(page: Page, seen: Photographer): Promise<void> {
    await page.getByRole('button', { name: shop.product.buy(PRICE) }).click()
    await page.getByText(t.pay.payingAs, { exact: true }).waitFor()
    await seen('pay')
  }

  const unseen = async () => {}

  test.each(thisPart('LOOKS', [false], [true]))(
    'sells stickers (JavaScript in the browser: %s)',
    async (javaScriptEnabled) => {
      // The demo tells its user to begin as alice.
      const buyer = javaScriptEnabled ? personOf('alice') : await makeMember(opened, { points: 500n })
      const page = await openWindow({ javaScriptEnabled })
      const seen = photographer(page, `buy${javaScriptEnabled ? '' : '-without-javascript'}`)

      await signIn(page, buyer, seen)
      await order(page, seen)
      await page.getByRole('button', { name: payNow }).click()
      await page.getByRole('heading', { name: shop.order.paid }).waitFor()
      await seen('paid')

      expect(page.url()).toContain(`${opened.demo.shop_url}/payment/callback?`)
      const transaction_id = new URL(page.url()).searchParams.get('transaction_id')!
      const text = await page.getByRole('main').textContent()
      for (const fact of [
        shop.product.name,
        shop.points(PRICE),
        'order_',
        transaction_id,
        shop.order.shares(114, 6),
      ])
        expect(text).toContain(fact)
      const moved = [
        [buyer.id, -120n],
        ['fee', 6n],
        [personOf('bob').id, 114n],
      ]
      expect(await movedBy(transaction_id)).toEqual(moved)
    },
  )

  test('runs beside `npm run books`, which finds the books sound', async () => {
    expect(await verifyBooks(opened.dataDir)).toMatchObject({ isSound: true })
  })

  test('hears it from Tessera when a member denies consent', async () => {
    const page = await openWindow({})
    const seen = photographer(page, 'deny')
    await askToSignIn(page, personOf('carol'), seen)
    await page.getByRole('button', { name: t.identity.consent.deny }).click()
    await page.getByRole('heading', { name: shop.messages.denied.title }).waitFor()
    await seen('denied')
    await page.getByRole('link', { name: shop.back }).click()
    await page.getByRole('link', { name: shop.product.signIn }).waitFor()
  })

  test('takes nothing from a member with too few points, who sees what is missing', async () => {
    const page = await openWindow({})
    const seen = photographer(page, 'short')
    const dora = personOf('dora')
    await signIn(page, dora, seen)
    await order(page, seen)
    await page.getByText(t.pay.missing('70', 70n), { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: payNow }).count()).toBe(0)
    await page.getByRole('link', { name: t.pay.cancel('Sticker Shop') }).click()
    await page.getByText(shop.orders.unpaid).waitFor()
    await seen('back-unpaid')
    await page.getByRole('link', { name: shop.product.name }).click()
    await page.getByRole('heading', { name: shop.order.unpaid }).waitFor()
    await seen('order-unpaid')
    expect(await balanceOf(opened.db, dora.id)).toBe(50n)
  })

  test('refuses a callback that was forged or altered', async () => {
    const page = await openWindow({})
    await signIn(page, await makeMember(opened, { points: 500n }), unseen)
    await order(page, unseen)
    await page.getByRole('button', { name: payNow }).click()
    await page.getByRole('heading', { name: shop.order.paid }).waitFor()

    const genuine = new URL(page.url())
    const altered = [
      (url: URL) => url.searchParams.set('amount', '1'),
      (url: URL) => url.searchParams.set('external_reference', 'order_of_somebody_else'),
      (url: URL) => url.searchParams.append('extra', '1'),
      (url: URL) => url.searchParams.append('amount', '120'),
      (url: URL) => url.searchParams.delete('signature'),
      (url: URL) => url.searchParams.set('signature', '0'.repeat(64)),
    ].map((alter) => {
      const url = new URL(genuine)
      alter(url)
      return url.href
    })
    for (const url of altered) {
      const answer = await page.goto(url)
      expect(answer?.status(), url).toBe(400)
      await page.getByRole('heading', { name: shop.messages.unproven.title }).waitFor()
    }
    await photographer(page, 'altered')('refused')
    const again = await page.goto(genuine.href)
    expect(again?.status()).toBe(200)
  })

  test('finds the payment of a buyer who closed the browser after paying', async () => {
    const page = await openWindow({})
    const buyer = await makeMember(opened, { points: 500n })
    await signIn(page, buyer, unseen)
    await order(page, unseen)
    // She pays, and the browser closes before the answer that would send it back to the shop arrives.
    await page.route(`${opened.demo.base_url}/payment/pay/**`, async (route) => {
      const answer = await route.fetch({ maxRedirects: 0 })
      expect(answer.status()).toBe(303)
      await route.abort()
    })
    const lost = page.waitForEvent('requestfailed')
    await page.getByRole('button', { name: payNow }).click()
    await lost
    await page.context().close()

    const later = await openWindow({})
    const seen = photographer(later, 'closed-browser')
    await later.goto(opened.demo.shop_url)
    await later.getByRole('link', { name: shop.product.signIn }).click()
    await signInAtTessera(later, buyer)
    // The event has told the shop, or is about to.
    const paid = later
      .getByRole('listitem')
      .filter({ has: later.getByText(shop.orders.paid, { exact: true }) })
    await expect
      .poll(async () => {
        await later.reload()
        return paid.count()
      })
      .toBe(1)
    await paid.getByRole('link').click()
    await later.getByRole('heading', { name: shop.order.paid }).waitFor()
    expect(new URL(later.url()).pathname).toMatch(/^\/orders\/order_/)
    await seen('found')
  })

  describe('that was made for a gateway', () => {
    const { ways, product, confirm, order } = mugTextsFor('en')
    const crossed = [ways.v1.form, ways.v2.api]
    // The button of everyone is V1, opened by the shop.
    const others = [product.buy, ways.v2.form]

    test.each(thisPart('LOOKS', crossed, others))('sells by %s, and hears of it', async (way) => {
      const buyer = await makeMember(opened, { points: 2_000n })
      const page = await openWindow({})
      // The pages are the same for all ways.
      const seen = way === crossed[0] ? photographer(page, 'mug') : unseen
      await page.goto(opened.demo.gateway_shop_url)
      await seen('shop')
      if (way !== product.buy) await page.getByText(ways.title).click()
      await page.getByRole('button', { name: way, exact: true }).click()
      if (way === ways.v1.form || way === ways.v2.form) {
        await seen('confirm')
        await page.getByRole('button', { name: confirm.go }).click()
      }
      await signInAtTessera(page, buyer)
      const payMug = page.getByRole('button', { name: t.pay.submit('990', 990n, false) })
      await payMug.waitFor()
      await seen('pay')
      expect(await page.getByRole('main').textContent()).toContain('9.90')
      const transaction_id = new URL(page.url()).pathname.split('/').at(-1)!
      await payMug.click()
      await page.getByRole('heading', { name: order.paid }).waitFor()
      expect(new URL(page.url()).pathname).toMatch(/^\/orders\/mug_/)
      await page.getByText(order.heard.return).waitFor()
      const isNotified = async () => {
        await page.reload()
        return page.getByText(order.heard.notify).isVisible()
      }
      await expect.poll(isNotified, { interval: 500 }).toBe(true)
      await seen('paid')
      const moved = [
        [buyer.id, -990n],
        ['fee', 49n],
        [personOf('bob').id, 941n],
      ]
      expect(await movedBy(transaction_id)).toEqual(moved)
    })
  })
})

/** The answer of `npm run books` beside the running demo. */
async function verifyBooks(dataDir: string): Promise<unknown> {
  const command = ['src/cli/tessera.js', 'books', 'verify', '--json']
  const { stdout } = await promisify(execFile)(process.execPath, command, {
    cwd: join(import.meta.dirname, '../..'),
    env: { PATH: process.env.PATH ?? '', DATA_DIR: dataDir },
  })
  return JSON.parse(stdout)
}
