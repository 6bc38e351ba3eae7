/** Ways through several pages: to the end of a purchase, by keyboard alone, and while time passes. */
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { isWithoutChromium, sharedChromium } from '../../harness/chromium.ts'
import { messages } from '../../harness/messages.ts'
import { stopsOn, tabThrough } from './keyboard.ts'
import { PAGES } from './list.ts'
import { LOOKS, type Look, openWindow, reach, TEST_MS } from './windows.ts'
import { makeWorld, type Role, type World } from './world.ts'

describe.skipIf(isWithoutChromium)('a walk', () => {
  let world: World

  beforeAll(async () => {
    world = await makeWorld()
  })
  afterAll(() => world?.close())

  /** A window for one walk. */
  async function openWalk(
    role: Role,
    language: Look['language'],
    options: BrowserContextOptions = {},
  ): Promise<Page> {
    const page = await openWindow(await sharedChromium(), world, role, { ...LOOKS[0], language }, options)
    onTestFinished(() => page.context().close())
    return page
  }

  test.each([
    ['en', true],
    ['en', false],
    ['zh-CN', true],
    ['zh-CN', false],
  ] as const)(
    'the way of a buyer in %s (JavaScript: %s)',
    { timeout: TEST_MS },
    async (language, javaScriptEnabled) => {
      const t = messages[language]
      const page = await openWalk('buyer', language, { javaScriptEnabled })
      const { path, transaction_id } = await world.order('15')
      await page.goto(path)
      await page.getByText(t.pay.elsewhere.title).click()
      await page.getByRole('img', { name: t.pay.elsewhere.qr }).waitFor()
      await page.getByRole('button', { name: t.pay.submit('15', 15n) }).click()
      await page.getByText('"isGenuine":true').waitFor()

      await page.goto(path)
      await page.getByRole('heading', { name: t.pay.states.paid }).waitFor()
      await page.getByText(t.pay.telling.title).click()
      await page.getByText(t.pay.telling.byBrowser).waitFor()
      await page.getByRole('link', { name: t.pay.returnToShop }).click()
      await page.getByText('"isGenuine":true').waitFor()

      await page.goto(`${world.test.url}/`)
      await page.getByRole('link', { name: t.common.wallet, exact: true }).click()
      await page.getByLabel(t.lists.search).fill(transaction_id)
      await page.getByRole('button', { name: t.lists.find }).click()
      await page.getByText('−15').waitFor()
      await page.getByRole('link', { name: t.common.myPayments }).first().click()
      await page.getByRole('heading', { name: t.common.myPayments }).waitFor()
      await page.locator(`a[href$="${transaction_id}"]`).click()
      await page.getByRole('heading', { name: t.pay.states.paid }).waitFor()
      expect((await page.getByRole('main').textContent())?.includes(transaction_id)).toBe(true)
    },
  )

  test('the way of a buyer by the keyboard alone', { timeout: TEST_MS }, async () => {
    const page = await openWalk('visitor', 'en')
    const { username, password } = world.people.buyer
    const { path } = await world.order('16')
    await page.goto(path)
    await tabThrough(page, ({ text }) => text === 'username')
    await page.keyboard.type(username)
    await page.keyboard.press('Tab')
    await page.keyboard.type(password)
    await page.keyboard.press('Enter')
    await page.waitForURL(path)
    const stops = await tabThrough(page, ({ text }) => text === 'Pay 16 points')
    expect(stops.filter(({ isVisible }) => !isVisible)).toEqual([])
    await page.keyboard.press('Enter')
    await page.getByText('"isGenuine":true').waitFor()
  })

  test.each([
    ['a form', 'accounts/sign-in/sign-in'],
    ['a decision', 'identity/oauth/consent'],
    ['a list', 'accounts/wallet found'],
    ['a console', 'admin/apps/payment-app'],
  ])(
    '%s is gone through by the keyboard, and shows where one is',
    { timeout: TEST_MS },
    async (_kind, name) => {
      const listed = PAGES.find((page) => page.name === name)!
      const page = await openWalk(listed.as, 'en')
      await reach(page, listed, world)
      // From the beginning, wherever the page has put the focus.
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
      const stops = await tabThrough(page)
      expect(stops[0]).toMatchObject({ text: 'Skip to content' })
      expect(stops.filter(({ isVisible }) => !isVisible)).toEqual([])
      expect(stops).toHaveLength(await stopsOn(page))
    },
  )

  test('the menu opens and closes by the keyboard, and signs out', { timeout: TEST_MS }, async () => {
    const page = await openWalk('visitor', 'en')
    const session = [...(await world.people.newcomer.signIn()).cookies]
    await page.context().addCookies(session.map(([name, value]) => ({ name, value, url: world.test.url })))
    await page.goto(`${world.test.url}/`)
    const open = async () => {
      await tabThrough(page, ({ text }) => text === 'Menu')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Sign out' }).waitFor()
    }
    await open()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Sign out' }).waitFor({ state: 'hidden' })
    await open()
    await tabThrough(page, ({ text }) => text === 'Sign out')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Sign in', exact: true }).waitFor()
  })

  test('a chosen language is kept, and the page stays', { timeout: TEST_MS }, async () => {
    const page = await openWalk('visitor', 'en')
    await page.goto(`${world.test.url}/account/recover`)
    await page.getByRole('button', { name: '中文' }).click()
    await page.getByRole('heading', { name: messages['zh-CN'].security.recover.title }).waitFor()
    await page.goto(`${world.test.url}/sign-in`)
    expect(await page.getAttribute('html', 'lang')).toBe('zh-CN')
  })

  test('the time to pay counts down aloud, then the page expires', {
    timeout: TEST_MS,
  }, async () => {
    const page = await openWalk('buyer', 'en')
    await page.clock.install()
    const { path, transaction_id } = await world.order('17')
    await page.goto(path)
    const clock = page.locator('[data-clock]')
    expect(await clock.isVisible()).toBe(false)
    await page.clock.fastForward('24:30')
    await clock.waitFor()
    expect(await clock.textContent()).toMatch(/^5:(30|29) left$/)
    await page.clock.fastForward('00:40')
    await page.getByRole('status').getByText('Minutes left to pay: 5').waitFor({ state: 'attached' })
    await page.clock.fastForward('04:00')
    await page.getByRole('status').getByText('Minutes left to pay: 1').waitFor({ state: 'attached' })
    await world.expire(transaction_id)
    await page.clock.fastForward('01:00')
    await page.getByRole('heading', { name: 'Expired' }).waitFor()
  })

  test('a page that waits for another device turns into the receipt', { timeout: TEST_MS }, async () => {
    const page = await openWalk('buyer', 'en')
    const { path, pay } = await world.order('18')
    await page.goto(path)
    await page.getByText('Continue on another device').click()
    await pay(world.people.buyer)
    await page.getByRole('heading', { name: 'Paid' }).waitFor()
  })
})
