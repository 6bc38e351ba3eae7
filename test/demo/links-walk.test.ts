/** Links in Chromium, with every click counted: a member without a program opens a shop with codes, and a reader of the forum buys one. */
import { sql } from 'kysely'
import type { BrowserContextOptions } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isWithoutChromium } from '../harness/chromium.ts'
import { messages } from '../harness/messages.ts'
import { makeMember, openSharedDemo } from '../harness/shared-demo.ts'
import { DESK, openWindow, PHONE, photographer, signInAtTessera } from './walk.ts'

const LOOKS: [string, BrowserContextOptions & { locale: 'en' | 'zh-CN' }][] = [
  ['a phone in English', { locale: 'en', viewport: PHONE, hasTouch: true }],
  ['a desktop in Chinese', { locale: 'zh-CN', viewport: DESK }],
]

/** Another author has no account in the demo that the tests share, and other tests rely on that. */
const GRACE = 14

describe.skipIf(isWithoutChromium)('a payment link', () => {
  test.each(LOOKS)(
    'on %s gives its code four clicks after the post in the forum, sign-in included',
    async (_, look) => {
      const { demo, close } = await openSharedDemo()
      onTestFinished(close)
      const t = messages[look.locale]
      let page = await openWindow(look)
      const lookAt = photographer(page, `link-buyer-${look.locale}`)
      await page.goto(`${demo.forum_url}/login`)
      await page.click(`button[value="${GRACE}"]`)
      let clicks = 0
      const click = async (target: string) => {
        clicks += 1
        await page.locator(target).first().click()
      }
      const opened = page.waitForEvent('popup')
      await click('a.tessera-pay')
      page = await opened
      await page.waitForURL(`${demo.link_url}**`)
      await lookAt('link', page)
      await click('main form button.primary')
      await page.waitForURL('**/sign-in**')
      await lookAt('sign-in', page)
      await click('a[href^="/sign-in/forum"]')
      // The sign-in leads to the payment: the buyer has pressed the button of the link already.
      await page.waitForURL('**/payment/pay/**')
      // The points for the score in the forum come a moment after the sign-in.
      await expect
        .poll(
          async () => {
            await page.reload()
            return page.locator('main form button.primary').count()
          },
          { interval: 1_000 },
        )
        .toBeGreaterThan(0)
      await click('main form button.primary')
      await page.getByRole('heading', { name: t.paymentLinks.got }).waitFor()
      await lookAt('receipt', page)
      expect(clicks).toBe(4)
      expect(await page.getByRole('code').first().textContent()).toMatch(/^STAR-/)
    },
  )

  test.each(LOOKS)(
    'on %s opens within seven clicks for a member without a program or a callback address',
    async (_, look) => {
      const shared = await openSharedDemo()
      const { demo, db, close } = shared
      onTestFinished(close)
      const member = await makeMember(shared, { points: 0n })
      const t = messages[look.locale]
      const page = await openWindow(look)
      const lookAt = photographer(page, `link-seller-${look.locale}`)
      // This browser shares nothing by itself.
      await page.addInitScript(() => {
        navigator.share = async (data) => document.body.setAttribute('data-shared', JSON.stringify(data))
      })
      await page.goto(`${demo.base_url}/sign-in?return_to=/account`)
      await signInAtTessera(page, member)
      await page.waitForURL('**/account')
      const name = `Shop of ${member.username}`
      let clicks = 0
      const click = async (target: string) => {
        clicks += 1
        await page.locator(target).locator('visible=true').first().click()
      }
      if (look.viewport === PHONE) await click('a[href="#menu"]')
      await click('a[href="/payment/applications"]')
      await page.fill('[name=name]', name)
      await click(`button:has-text("${t.paymentApps.submit}")`)
      await lookAt('applied')
      // An administrator approves it. The member waits, but clicks nothing.
      await sql`
        update payment_apps set status = 'approved', reviewed_at = now(), reviewed_by = (select min(id) from users where is_admin)
        where name = ${name}`.execute(db)
      await page.reload()
      await click('main a[href$="/links/new"]')
      await page.fill('[name=title]', 'Cat codes')
      await page.fill('[name=amount]', '60')
      await click('[name=delivery][value=codes]')
      await page.fill('[name=codes]', 'CAT-0001\nCAT-0002')
      await lookAt('codes')
      await click(`button:has-text("${t.teamLinks.continue}")`)
      await lookAt('preview')
      await click(`button:has-text("${t.teamLinks.publish}")`)
      await page.locator('[data-copy]').locator('visible=true').first().waitFor()
      await lookAt('published')
      expect(clicks).toBe(look.viewport === PHONE ? 7 : 6)
      await page.click('[data-share]')
      expect(JSON.parse((await page.getAttribute('[data-shared]', 'data-shared'))!)).toEqual({
        title: 'Cat codes',
        url: await page.locator('#link-url').textContent(),
      })
      const link = await db
        .selectFrom('links')
        .innerJoin('payment_apps as app', 'app.id', 'links.app_id')
        .where('app.name', '=', name)
        .select(['links.state', 'app.callback_url'])
        .executeTakeFirst()
      expect(link).toEqual({ state: 'on_sale', callback_url: `${demo.base_url}/account/payments` })
    },
  )
})
