/**
 * A member's walk through mandates in a browser without JavaScript, at the width of a phone and in both languages: from the
 * demo's shop to the consent, the first charge, the member's own list, and a charge that is refused after revoking.
 * `PHOTOGRAPH=true` photographs every page into test/artifacts/. Needs Chromium; only CI=true requires it.
 */
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { textsFor } from '../../examples/shop/texts.js'
import type { Db } from '../../src/database/connection.ts'
import type { Demo } from '../../src/demo/world.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { isWithoutChromium, PHOTOGRAPHS, sharedChromium } from '../harness/chromium.ts'
import { type OpenDemo, openDemo } from '../harness/demo-process.ts'

const ARTIFACTS = join(import.meta.dirname, '../artifacts')
const PHONE = { width: 360, height: 740 }
const PAGE_MS = 60_000
const PACK = 120n
const MONTH = 60n
const TIP = 10n

/** What Tessera's buttons say. */
const TESSERA = {
  en: { allow: 'Allow', both: 'Sign in and allow charges', revoke: 'Revoke', revoked: 'Revoked by you' },
  'zh-CN': { allow: '允许', both: '登录并允许扣款', revoke: '撤销', revoked: '你已撤销' },
} as const
type Language = keyof typeof TESSERA

const WALKS = (['en', 'zh-CN'] as const).flatMap((language) => [
  { language, isJoint: false, way: 'on the mandate page' },
  { language, isJoint: true, way: 'while signing in' },
])

describe.skipIf(isWithoutChromium)('a member without JavaScript', () => {
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

  async function openPhone(locale: Language): Promise<Page> {
    const context = await chrome.newContext({ locale, javaScriptEnabled: false, viewport: PHONE })
    context.setDefaultTimeout(PAGE_MS)
    onTestFinished(() => context.close())
    return context.newPage()
  }

  function idOf(username: string): bigint {
    return BigInt(demo.people.find((person) => person.username === username)!.id)
  }

  /** Fills in Tessera's sign-in page. */
  async function signInAtTessera(page: Page, username: string): Promise<void> {
    await page.locator('input[name=username]').fill(username)
    const { password } = demo.people.find((person) => person.username === username)!
    await page.locator('input[name=password]').fill(password)
    await page.locator('input[name=password]').press('Enter')
  }

  /** Goes to the shop and to Tessera, and allows what `plan` asks for. Ends at the shop's answer. */
  async function allow(
    page: Page,
    plan: 'club' | 'one_click',
    { language, isJoint, username }: { language: Language; isJoint: boolean; username: string },
    seen: Photographer,
  ): Promise<void> {
    const t = textsFor(language)
    const words = TESSERA[language]
    await page.goto(demo.shop_url)
    if (isJoint) {
      await seen('shop')
      await page.getByRole('button', { name: t.plans[plan].beginSignedOut }).click()
      await signInAtTessera(page, username)
      const both = page.getByRole('button', { name: words.both })
      await both.waitFor()
      await seen('consent')
      const amount = (await page.locator('.amount').boundingBox())!
      const answers = (await page.locator('.actions').boundingBox())!
      expect(amount.y + amount.height).toBeLessThanOrEqual(answers.y)
      await expectPrinted(page, t.plans[plan].purpose)
      await both.click()
      return
    }
    await page.getByRole('link', { name: t.product.signIn }).click()
    await signInAtTessera(page, username)
    const consent = page.getByRole('button', { name: words.allow, exact: true })
    await consent
      .or(page.getByText(`@${username}`))
      .first()
      .waitFor()
    // A remembered consent has no page.
    if (await consent.isVisible()) await consent.click()
    await page.getByRole('button', { name: t.plans[plan].begin }).waitFor()
    await seen('shop')
    await page.getByRole('button', { name: t.plans[plan].begin }).click()
    const permit = page.getByRole('button', { name: words.allow, exact: true })
    await permit.waitFor()
    await seen('offer')
    await expectPrinted(page, t.plans[plan].purpose)
    await permit.click()
  }

  /** In a second tab, finds the mandate in the own list, and revokes it. */
  async function revokeAtTessera(page: Page, language: Language, seen: Photographer): Promise<void> {
    const words = TESSERA[language]
    const tab = await page.context().newPage()
    await tab.goto(`${demo.base_url}/account/mandates`)
    const revoke = tab.getByRole('button', { name: words.revoke })
    await revoke.first().waitFor()
    await seen('own-list', tab)
    const purpose = tab.getByRole('listitem').filter({ has: revoke }).getByRole('link')
    await purpose.first().click()
    await revoke.waitFor()
    await seen('own-mandate', tab)
    await revoke.click()
    await tab.getByText(words.revoked).first().waitFor()
    await seen('revoked', tab)
    await tab.close()
  }

  test.each(WALKS)('subscribes $way, and revokes ($language)', async ({ language, isJoint }) => {
    const t = textsFor(language)
    const page = await openPhone(language)
    const seen = photographer(page, `walk-club-${isJoint ? 'joint' : 'alone'}-${language}`)
    const before = await balanceOf(db, idOf('alice'))

    await allow(page, 'club', { language, isJoint, username: 'alice' }, seen)
    await page.getByRole('heading', { name: t.order.paid }).waitFor()
    await seen('first-charge')
    expect(await balanceOf(db, idOf('alice'))).toBe(before - MONTH)

    await page.getByRole('link', { name: t.refused.mandate }).click()
    await page.getByText(t.mandate.spent(60, 0)).waitFor()
    await seen('membership')
    const next = page.getByRole('button', { name: t.plans.club.charge() })
    await next.click()
    await page.getByRole('heading', { name: t.refused.title }).waitFor()
    await seen('month-is-charged')
    await page.getByRole('link', { name: t.refused.mandate }).click()
    await next.waitFor()

    await revokeAtTessera(page, language, seen)
    await next.click()
    await page.getByText(t.refused.inactive.member).waitFor()
    await seen('refused')
    await page.getByRole('link', { name: t.refused.mandate }).click()
    await page.getByText(t.mandate.states.member, { exact: true }).waitFor()
    await seen('ended')
    expect(await balanceOf(db, idOf('alice'))).toBe(before - MONTH)
  })

  test.each(WALKS)(
    'buys and tips with one click, allowed $way ($language)',
    async ({ language, isJoint }) => {
      const t = textsFor(language)
      const page = await openPhone(language)
      const seen = photographer(page, `walk-one-click-${isJoint ? 'joint' : 'alone'}-${language}`)
      const [before, artists] = [await balanceOf(db, idOf('alice')), await balanceOf(db, idOf('carol'))]

      await allow(page, 'one_click', { language, isJoint, username: 'alice' }, seen)
      await page.getByRole('heading', { name: t.order.paid }).waitFor()
      await seen('first-charge')
      await page.getByRole('link', { name: t.back }).click()
      await seen('shop-with-one-click')
      await page.getByRole('button', { name: t.product.buyAtOnce(120) }).click()
      await page.getByRole('heading', { name: t.order.paid }).waitFor()
      await page.getByRole('link', { name: t.refused.mandate }).click()
      await seen('one-click')
      await page.getByRole('button', { name: t.tip.give(10, 'carol') }).click()
      await page.getByText(t.tip.name, { exact: true }).waitFor()
      await seen('tip')
      expect(await balanceOf(db, idOf('alice'))).toBe(before - 2n * PACK - TIP)
      expect(await balanceOf(db, idOf('carol'))).toBeGreaterThan(artists)

      await page.getByRole('link', { name: t.back }).click()
      await page.getByRole('button', { name: t.product.buyAtOnce(120) }).click()
      await page.getByRole('heading', { name: t.refused.title }).waitFor()
      await seen('limit-reached')
      await page.getByRole('button', { name: t.order.byHand }).click()
      await page.waitForURL(/\/payment\/pay\/txn_/)
      await seen('pay-by-hand')

      await page.goto(demo.shop_url)
      await page.getByRole('link', { name: t.mandate.manage, exact: true }).click()
      const tip = page.getByRole('button', { name: t.tip.give(10, 'carol') })
      await tip.waitFor()
      await revokeAtTessera(page, language, seen)
      await tip.click()
      await page.getByText(t.refused.inactive.member).waitFor()
      await seen('refused')
      expect(await balanceOf(db, idOf('alice'))).toBe(before - 2n * PACK - TIP)
    },
  )

  test('ends the membership at the shop, which charges no more', async () => {
    const t = textsFor('en')
    const page = await openPhone('en')
    const unseen = async () => {}
    await allow(page, 'club', { language: 'en', isJoint: true, username: 'carol' }, unseen)
    await page.getByRole('link', { name: t.refused.mandate }).click()
    const stale = page.getByRole('button', { name: t.plans.club.charge() })
    await stale.waitFor()
    const tab = await page.context().newPage()
    await tab.goto(page.url())
    await tab.getByRole('button', { name: t.plans.club.end }).click()
    await tab.getByText(t.mandate.states.merchant, { exact: true }).waitFor()
    await stale.click()
    await page.getByText(t.refused.inactive.merchant).waitFor()
    await tab.goto(`${demo.base_url}/account/mandates`)
    await tab.getByRole('listitem').getByRole('link').first().click()
    await tab.getByText(t.plans.club.ended).waitFor()
  })

  test('signs in only, and is charged nothing', async () => {
    const t = textsFor('en')
    const before = await balanceOf(db, idOf('carol'))
    const page = await openPhone('en')
    await page.goto(demo.shop_url)
    await page.getByRole('button', { name: t.plans.one_click.beginSignedOut }).click()
    await signInAtTessera(page, 'carol')
    await page.getByRole('button', { name: 'Sign in only' }).click()
    await page.getByRole('heading', { name: t.messages.signInOnly.title }).waitFor()
    await page.getByText('@carol').waitFor()
    expect(await balanceOf(db, idOf('carol'))).toBe(before)
  })

  test('has too few points, and hears it in plain words', async () => {
    const t = textsFor('en')
    const page = await openPhone('en')
    const seen = photographer(page, 'walk-few-points')
    // A member of level 1 whose points do not pay a month.
    await db.updateTable('users').set({ trust_level: 1 }).where('username', '=', 'dora').execute()
    await allow(page, 'club', { language: 'en', isJoint: false, username: 'dora' }, seen)
    await page.getByText(t.refused.points(60)).waitFor()
    await seen('too-few')
    expect(await balanceOf(db, idOf('dora'))).toBe(50n)
  })
})

/** Expects that a print of the page says what the member agrees to. */
async function expectPrinted(page: Page, purpose: string): Promise<void> {
  await page.emulateMedia({ media: 'print' })
  await page.getByText(purpose).first().waitFor()
  expect(await page.locator('.amount').isVisible()).toBe(true)
  await page.emulateMedia({ media: 'screen' })
}

/** Checks that a page fits the phone, and photographs it in light and dark if requested. */
type Photographer = (name: string, tab?: Page) => Promise<void>

function photographer(page: Page, series: string): Photographer {
  let count = 0
  return async (name, tab = page) => {
    count += 1
    await tab.waitForLoadState()
    await tab.setViewportSize(PHONE)
    for (const colorScheme of PHOTOGRAPHS.taken ? (['light', 'dark'] as const) : []) {
      await tab.emulateMedia({ colorScheme })
      await tab.screenshot({
        path: join(ARTIFACTS, `${series}-${count}-${name}-${colorScheme}.png`),
        fullPage: true,
      })
    }
    const excess = await tab.evaluate('document.documentElement.scrollWidth - innerWidth')
    expect(excess, `${name} is wider than the phone`).toBeLessThanOrEqual(0)
  }
}
