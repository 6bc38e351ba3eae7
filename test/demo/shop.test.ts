/**
 * The whole flow in a real browser: the demo's shop, sign-in, consent, payment and return, by the members of the
 * demo. `PHOTOGRAPH=true` photographs every page into test/artifacts/. Needs Chromium; only CI=true requires it.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Db } from '../../src/database/connection.ts'
import type { Demo } from '../../src/demo/world.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { isWithoutChromium, PHOTOGRAPHS, sharedChromium } from '../harness/chromium.ts'
import { type OpenDemo, openDemo } from '../harness/demo-process.ts'

const ARTIFACTS = join(import.meta.dirname, '../artifacts')
const WIDTHS = [360, 1280]
const SCHEMES = ['light', 'dark'] as const
const PAGE_MS = 60_000

describe.skipIf(isWithoutChromium)('the shop', () => {
  let opened: OpenDemo | undefined
  let demo: Demo
  let db: Db
  let chrome: Browser

  beforeAll(async () => {
    opened = await openDemo()
    demo = opened.demo
    db = opened.db
    chrome = await sharedChromium()
  })

  afterAll(() => opened?.close())

  // The service remembers consent, and every test needs its page.
  beforeEach(async () => {
    await db.deleteFrom('consents').execute()
  })

  /** Opens a window of a new browser. */
  async function openWindow(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await chrome.newContext(options)
    context.setDefaultTimeout(PAGE_MS)
    onTestFinished(() => context.close())
    return context.newPage()
  }

  function personOf(username: string) {
    return demo.people.find((person) => person.username === username)!
  }

  async function balances() {
    const [alice, bob] = [personOf('alice'), personOf('bob')].map((person) => BigInt(person.id))
    const fees = await db
      .selectFrom('entries')
      .innerJoin('ledger_accounts as account', 'account.id', 'entries.account_id')
      .where('account.kind', '=', 'fee')
      .select((eb) => eb.fn.coalesce(eb.fn.sum<bigint>('entries.amount'), eb.lit(0)).as('total'))
      .executeTakeFirstOrThrow()
    return { alice: await balanceOf(db, alice!), bob: await balanceOf(db, bob!), fees: BigInt(fees.total) }
  }

  /** From the shop's front page to Tessera's consent page. */
  async function signInAtTessera(page: Page, username: string, seen: Photographer): Promise<void> {
    const { password } = personOf(username)
    await page.goto(demo.shop_url)
    await seen('shop')
    await page.getByRole('link', { name: 'Sign in with Tessera' }).click()
    await seen('sign-in')
    await page.getByLabel('Username').fill(username)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('button', { name: 'Allow' }).waitFor()
    await seen('consent')
  }

  async function signIn(page: Page, username: string, seen: Photographer): Promise<void> {
    await signInAtTessera(page, username, seen)
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByText(`@${username}`).waitFor()
    expect(page.url()).toBe(`${demo.shop_url}/`)
    await seen('shop-signed-in')
  }

  async function order(page: Page, seen: Photographer): Promise<void> {
    await page.getByRole('button', { name: 'Buy for 120 points' }).click()
    await page.getByRole('button', { name: 'Pay 120 points' }).waitFor()
    await seen('pay')
  }

  test.each([true, false])('sells to alice (JavaScript in her browser: %s)', async (javaScriptEnabled) => {
    const before = await balances()
    const page = await openWindow({ javaScriptEnabled })
    const seen = photographer(page, `buy${javaScriptEnabled ? '' : '-without-javascript'}`)

    await signIn(page, 'alice', seen)
    await order(page, seen)
    await page.getByRole('button', { name: 'Pay 120 points' }).click()
    await page.getByRole('heading', { name: 'Paid' }).waitFor()
    await seen('paid')

    expect(page.url()).toContain(`${demo.shop_url}/payment/callback?`)
    const text = await page.getByRole('main').textContent()
    for (const fact of ['Sticker pack', '120 points', 'order_', 'txn_', '114 points', '6 points'])
      expect(text).toContain(fact)
    expect(await balances()).toEqual({
      alice: before.alice - 120n,
      bob: before.bob + 114n,
      fees: before.fees + 6n,
    })
    expect(await proveBooks(opened!.dataDir)).toContain('The books pass.')
  })

  test('hears it from Tessera when carol denies consent', async () => {
    const page = await openWindow()
    const seen = photographer(page, 'deny')
    await signInAtTessera(page, 'carol', seen)
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor()
    await seen('denied')
    await page.getByRole('link', { name: 'Back to the shop' }).click()
    await page.getByRole('link', { name: 'Sign in with Tessera' }).waitFor()
  })

  test('takes nothing from dora, who sees what is missing', async () => {
    const page = await openWindow()
    const seen = photographer(page, 'short')
    await signIn(page, 'dora', seen)
    await order(page, seen)
    await page.getByText('Still needed', { exact: true }).waitFor()
    expect(await page.locator('dd .bad').innerText()).toBe('70')
    expect(await page.getByRole('button', { name: 'Pay 120 points' }).isDisabled()).toBe(true)
    await page.getByRole('link', { name: 'Cancel and return to the shop' }).click()
    await page.getByText('not paid yet').waitFor()
    await seen('back-unpaid')
    await page.getByRole('link', { name: 'Sticker pack' }).click()
    await page.getByRole('heading', { name: 'Not paid yet' }).waitFor()
    await seen('order-unpaid')
    expect(await balanceOf(db, BigInt(personOf('dora').id))).toBe(50n)
  })

  test('refuses a callback that was forged or altered', async () => {
    const page = await openWindow()
    const unseen = async () => {}
    await signIn(page, 'alice', unseen)
    await order(page, unseen)
    await page.getByRole('button', { name: 'Pay 120 points' }).click()
    await page.getByRole('heading', { name: 'Paid' }).waitFor()

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
      await page.getByRole('heading', { name: 'Payment not accepted' }).waitFor()
    }
    await photographer(page, 'altered')('refused')
    const again = await page.goto(genuine.href)
    expect(again?.status()).toBe(200)
  })

  test('finds the payment of a buyer who closed the browser after paying', async () => {
    const page = await openWindow()
    const unseen = async () => {}
    await signIn(page, 'alice', unseen)
    await order(page, unseen)
    // She pays, and the browser closes before the answer that would send it back to the shop arrives.
    await page.route(`${demo.base_url}/payment/pay/**`, async (route) => {
      const answer = await route.fetch({ maxRedirects: 0 })
      expect(answer.status()).toBe(303)
      await route.abort()
    })
    const lost = page.waitForEvent('requestfailed')
    await page.getByRole('button', { name: 'Pay 120 points' }).click()
    await lost
    await page.context().close()

    const later = await openWindow()
    const seen = photographer(later, 'closed-browser')
    await later.goto(demo.shop_url)
    await later.getByRole('link', { name: 'Sign in with Tessera' }).click()
    await later.getByLabel('Username').fill('alice')
    await later.getByLabel('Password').fill(personOf('alice').password)
    await later.getByRole('button', { name: 'Sign in', exact: true }).click()
    await later.getByText('not paid yet').waitFor()
    await seen('not-paid-yet')
    await later.getByRole('listitem').filter({ hasText: 'not paid yet' }).getByRole('link').click()
    await later.getByRole('heading', { name: 'Paid' }).waitFor()
    expect(new URL(later.url()).pathname).toMatch(/^\/orders\/order_/)
    await seen('found')
  })

  describe('that was made for a gateway', () => {
    /** From the shop's front page through Tessera's sign-in to the pay page. */
    async function orderMug(page: Page, way: string, seen: Photographer): Promise<void> {
      await page.goto(demo.gateway_shop_url)
      await seen('shop')
      await page.getByRole('button', { name: way }).click()
      if (way.endsWith('posts the order')) {
        await seen('confirm')
        await page.getByRole('button', { name: 'Go to the payment' }).click()
      }
      await page.getByLabel('Username').fill('alice')
      await page.getByLabel('Password').fill(personOf('alice').password)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByRole('button', { name: 'Pay 990 points' }).waitFor()
      await seen('pay')
    }

    const ways = ['V1 (MD5)', 'V2 (RSA)'].flatMap((version) => [
      `${version}: your browser posts the order`,
      `${version}: the shop opens the payment`,
    ])
    test.each(ways)('sells to alice by %s, and hears of it', async (way) => {
      const before = await balances()
      const page = await openWindow()
      // The pages are the same for all ways.
      const seen = way === ways[0] ? photographer(page, 'mug') : async () => {}
      await orderMug(page, way, seen)
      expect(await page.getByRole('main').textContent()).toContain('9.90')
      await page.getByRole('button', { name: 'Pay 990 points' }).click()
      await page.getByRole('heading', { name: 'Paid' }).waitFor()
      expect(new URL(page.url()).pathname).toMatch(/^\/orders\/mug_/)
      await page.getByText('Your browser returned from the payment.').waitFor()
      const isNotified = async () => {
        await page.reload()
        return page.getByText('The gateway notified the shop.').isVisible()
      }
      await expect.poll(isNotified, { timeout: PAGE_MS }).toBe(true)
      await seen('paid')
      expect(await balances()).toEqual({
        alice: before.alice - 990n,
        bob: before.bob + 941n,
        fees: before.fees + 49n,
      })
    })
  })
})

/** Checks a page at the sizes of phones and desktops, and photographs it in light and dark if requested. */
type Photographer = (name: string) => Promise<void>

function photographer(page: Page, series: string): Photographer {
  let count = 0
  return async (name) => {
    count += 1
    await page.waitForLoadState()
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: width < 800 ? 740 : 800 })
      for (const colorScheme of PHOTOGRAPHS.taken ? SCHEMES : []) {
        await page.emulateMedia({ colorScheme })
        const path = join(ARTIFACTS, `${series}-${count}-${name}-${width}-${colorScheme}.png`)
        await page.screenshot({ path, fullPage: true })
      }
      const excess = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      expect(excess, `${name} is wider than ${width} pixels`).toBeLessThanOrEqual(0)
    }
  }
}

/** The output of `npm run books` beside the running demo. */
async function proveBooks(dataDir: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['src/cli/main.ts', 'books', 'verify'], {
    cwd: join(import.meta.dirname, '../..'),
    env: { PATH: process.env.PATH ?? '', DATA_DIR: dataDir },
  })
  return stdout
}
