/**
 * A member's walk through mandates in a browser without JavaScript, at the width of a phone and in both languages: from the
 * demo's shop to the consent, the first charge, the member's own list, and a charge that is refused after revoking. Needs
 * Chromium; only CI=true requires it.
 */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { balanceOf } from '../../src/ledger/wallet.ts'
import type { Language } from '../../src/web/languages.ts'
import { isWithoutChromium } from '../harness/chromium.ts'
import { messages } from '../harness/messages.ts'
import { type Member, makeMember, openSharedDemo, type SharedDemo } from '../harness/shared-demo.ts'
import { thisPart } from '../harness/thoroughness.ts'
import { openWindow, PHONE, type Photographer, photographer, shopTexts, signInAtTessera } from './walk.ts'

const PACK = 120n
const MONTH = 60n
const TIP = 10n
const ALONE = { isJoint: false, way: 'on the mandate page' }
const JOINT = { isJoint: true, way: 'while signing in' }

type Walk = { language: Language; isJoint: boolean; way: string }

describe.skipIf(isWithoutChromium)('a member without JavaScript', () => {
  let opened: SharedDemo

  beforeAll(async () => {
    opened = await openSharedDemo()
  })
  afterAll(() => opened?.close())

  const openPhone = (locale: Language) => openWindow({ locale, javaScriptEnabled: false, viewport: PHONE })
  const carol = () => BigInt(opened.demo.people.find(({ username }) => username === 'carol')!.id)
  const lookAt = (page: Page, series: string) => photographer(page, series, [PHONE])

  /** Goes to the shop and to Tessera, and allows what `plan` asks for. Ends at the shop's answer. */
  async function allow(
    page: Page,
    plan: 'club' | 'one_click',
    { language, isJoint, member }: { language: Language; isJoint: boolean; member: Member },
    seen: Photographer,
  ): Promise<void> {
    const t = shopTexts(language)
    const words = messages[language].identity.consent
    await page.goto(opened.demo.shop_url)
    if (isJoint) {
      await seen('shop')
      await page.getByRole('button', { name: t.plans[plan].beginSignedOut }).click()
      await signInAtTessera(page, member)
      const both = page.getByRole('button', { name: words.allowBoth })
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
    await signInAtTessera(page, member)
    const consent = page.getByRole('button', { name: words.allow, exact: true })
    await consent.click()
    await page.getByRole('button', { name: t.plans[plan].begin }).waitFor()
    await seen('shop')
    await page.getByRole('button', { name: t.plans[plan].begin }).click()
    const permit = page.getByRole('button', { name: messages[language].mandateOffer.allow, exact: true })
    await permit.waitFor()
    await seen('offer')
    await expectPrinted(page, t.plans[plan].purpose)
    await permit.click()
  }

  /** In a second tab, finds the mandate in the own list, and revokes it. */
  async function revokeAtTessera(page: Page, language: Language, seen: Photographer): Promise<void> {
    const words = messages[language].ownMandates
    const tab = await page.context().newPage()
    await tab.goto(`${opened.demo.base_url}/account/mandates`)
    const revoke = tab.getByRole('button', { name: words.revoke })
    await revoke.first().waitFor()
    await seen('own-list', tab)
    const purpose = tab.getByRole('listitem').filter({ has: revoke }).getByRole('link')
    await purpose.first().click()
    await revoke.waitFor()
    await seen('own-mandate', tab)
    await revoke.click()
    await tab.getByText(words.states.member).first().waitFor()
    await seen('revoked', tab)
    await tab.close()
  }

  test.each<Walk>(
    thisPart(
      'LOOKS',
      [{ language: 'en', ...ALONE }],
      [
        { language: 'zh-CN', ...JOINT },
        { language: 'en', ...JOINT },
        { language: 'zh-CN', ...ALONE },
      ],
    ),
  )('subscribes $way, and revokes ($language)', async ({ language, isJoint }) => {
    const t = shopTexts(language)
    const page = await openPhone(language)
    const seen = lookAt(page, `walk-club-${isJoint ? 'joint' : 'alone'}-${language}`)
    const member = await makeMember(opened, { points: 1_000n })

    await allow(page, 'club', { language, isJoint, member }, seen)
    await page.getByRole('heading', { name: t.order.paid }).waitFor()
    await seen('first-charge')
    expect(await balanceOf(opened.db, member.id)).toBe(1_000n - MONTH)

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
    expect(await balanceOf(opened.db, member.id)).toBe(1_000n - MONTH)
  })

  test.each<Walk>(
    thisPart(
      'LOOKS',
      [{ language: 'zh-CN', ...JOINT }],
      [
        { language: 'en', ...JOINT },
        { language: 'zh-CN', ...ALONE },
        { language: 'en', ...ALONE },
      ],
    ),
  )('buys and tips with one click, allowed $way ($language)', async ({ language, isJoint }) => {
    const t = shopTexts(language)
    const page = await openPhone(language)
    const seen = lookAt(page, `walk-one-click-${isJoint ? 'joint' : 'alone'}-${language}`)
    const member = await makeMember(opened, { points: 1_000n })
    const artists = await balanceOf(opened.db, carol())

    await allow(page, 'one_click', { language, isJoint, member }, seen)
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
    expect(await balanceOf(opened.db, member.id)).toBe(1_000n - 2n * PACK - TIP)
    expect(await balanceOf(opened.db, carol())).toBeGreaterThan(artists)

    await page.getByRole('link', { name: t.back }).click()
    await page.getByRole('button', { name: t.product.buyAtOnce(120) }).click()
    await page.getByRole('heading', { name: t.refused.title }).waitFor()
    await seen('limit-reached')
    await page.getByRole('button', { name: t.order.byHand }).click()
    await page.waitForURL(/\/payment\/pay\/txn_/)
    await seen('pay-by-hand')

    await page.goto(opened.demo.shop_url)
    await page.getByRole('link', { name: t.mandate.manage, exact: true }).click()
    const tip = page.getByRole('button', { name: t.tip.give(10, 'carol') })
    await tip.waitFor()
    await revokeAtTessera(page, language, seen)
    await tip.click()
    await page.getByText(t.refused.inactive.member).waitFor()
    await seen('refused')
    expect(await balanceOf(opened.db, member.id)).toBe(1_000n - 2n * PACK - TIP)
  })

  test('ends the membership at the shop, which charges no more', async () => {
    const t = shopTexts('en')
    const page = await openPhone('en')
    const unseen = async () => {}
    const member = await makeMember(opened, { points: 300n, trust_level: 1 })
    await allow(page, 'club', { language: 'en', isJoint: true, member }, unseen)
    await page.getByRole('link', { name: t.refused.mandate }).click()
    const stale = page.getByRole('button', { name: t.plans.club.charge() })
    await stale.waitFor()
    const tab = await page.context().newPage()
    await tab.goto(page.url())
    await tab.getByRole('button', { name: t.plans.club.end }).click()
    await tab.getByText(t.mandate.states.merchant, { exact: true }).waitFor()
    await stale.click()
    await page.getByText(t.refused.inactive.merchant).waitFor()
    await tab.goto(`${opened.demo.base_url}/account/mandates`)
    await tab.getByRole('listitem').getByRole('link').first().click()
    await tab.getByText(t.plans.club.ended).waitFor()
  })

  test('signs in only, and is charged nothing', async () => {
    const t = shopTexts('en')
    const member = await makeMember(opened, { points: 300n, trust_level: 1 })
    const page = await openPhone('en')
    await page.goto(opened.demo.shop_url)
    await page.getByRole('button', { name: t.plans.one_click.beginSignedOut }).click()
    await signInAtTessera(page, member)
    await page.getByRole('button', { name: messages.en.identity.consent.signInOnlyLink }).click()
    await page.getByRole('heading', { name: t.messages.signInOnly.title }).waitFor()
    await page.getByText(`@${member.username}`).waitFor()
    expect(await balanceOf(opened.db, member.id)).toBe(300n)
  })

  test('has too few points, and hears it in plain words', async () => {
    const t = shopTexts('en')
    const page = await openPhone('en')
    const seen = lookAt(page, 'walk-few-points')
    // A member of level 1 whose points do not pay a month.
    const member = await makeMember(opened, { points: 50n, trust_level: 1 })
    await allow(page, 'club', { language: 'en', isJoint: false, member }, seen)
    await page.getByText(t.refused.points(Number(MONTH))).waitFor()
    await seen('too-few')
    expect(await balanceOf(opened.db, member.id)).toBe(50n)
  })
})

/** Expects that a print of the page says what the member agrees to. */
async function expectPrinted(page: Page, purpose: string): Promise<void> {
  await page.emulateMedia({ media: 'print' })
  await page.getByText(purpose).first().waitFor()
  expect(await page.locator('.amount').isVisible()).toBe(true)
  await page.emulateMedia({ media: 'screen' })
}
