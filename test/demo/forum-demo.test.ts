/** The demo with its forum: a sign-in there signs in here, points follow the score, and the forum shows the wallet and payment links. */
import type { BrowserContextOptions, Page as BrowserPage } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { browserAt, type Page } from '../harness/browser.ts'
import { isWithoutChromium } from '../harness/chromium.ts'
import { messages } from '../harness/messages.ts'
import { openSharedDemo } from '../harness/shared-demo.ts'
import { until } from '../harness/waiting.ts'
import { DESK, openWindow, PHONE, photographer } from './walk.ts'

/** Waits until the wallet in the menu has a state. It asks again after an answer that came too late. */
async function seeWallet(page: BrowserPage, wanted: 'signIn' | 'wallet') {
  const wallet = page.locator('tessera-wallet')
  await until(async () => {
    const state = await wallet.getAttribute('data-state')
    if (state === 'offline')
      await wallet.evaluate((element: HTMLElement & { load(): Promise<void> }) => element.load())
    return state === wanted
  })
}

/** A browser that follows every redirect. Returns the address and text of the last page. */
function follower(base: string) {
  const { get, post } = browserAt(base)
  const follow = async (url: string, { location, body }: Page): Promise<{ url: string; body: string }> => {
    if (location === undefined) return { url, body }
    const next = new URL(location, url).href
    return follow(next, await get(next))
  }
  return async (url: string, fields?: Record<string, string>) =>
    follow(url, fields === undefined ? await get(url) : await post(url, fields))
}

test('a member of the forum signs in without password, and gets points for their score', async () => {
  const { demo, close } = await openSharedDemo()
  onTestFinished(close)
  expect(demo.forum_url).toMatch(/^http:\/\/localhost:\d+$/)
  const visit = follower(demo.base_url)
  const atForum = await visit(`${demo.base_url}/sign-in/forum?return_to=%2Faccount`)
  expect(atForum.url).toBe(`${demo.forum_url}/login`)
  expect(atForum.body).toContain('>Spark Forum</a>')
  const [, id] = /value="(\d+)">Erin/.exec(atForum.body)!
  const account = await visit(atForum.url, { id: id! })
  expect(account.url).toBe(`${demo.base_url}/account`)
  expect(account.body).toContain('@erin')
  // The sign-in reads the score, unless the forum takes too long.
  await until(async () => (await visit(account.url)).body.includes('1,200'))
  const profile = await visit(`${demo.base_url}/account/profile`)
  expect(profile.body).toContain(`${messages.en.common.trustLevel(2)}, developers`)
})

const FRANK = 12
const LOOKS: [string, BrowserContextOptions & { locale: string }][] = [
  ['a phone in English', { locale: 'en', viewport: PHONE, hasTouch: true }],
  ['a desktop in Chinese', { locale: 'zh-CN', viewport: DESK }],
]

describe.skipIf(isWithoutChromium)('the forum of the demo', () => {
  test.each(LOOKS)('on %s shows the wallet after two clicks, and a card to pay', async (_, look) => {
    const { demo, close } = await openSharedDemo()
    onTestFinished(close)
    const page = await openWindow(look)
    const lookAt = photographer(page, `forum-${look.locale}`)
    await page.goto(`${demo.forum_url}/login`)
    await page.click(`button[value="${FRANK}"]`)

    const card = page.locator('aside.onebox')
    expect(await card.locator('h3').textContent()).toContain('Cat stickers')
    const pay = card.getByRole('link', { name: look.locale === 'en' ? /^Pay: / : /^付款：/ })
    expect(await pay.getAttribute('href')).toBe(demo.link_url)
    await card.locator('img').evaluate((image: HTMLImageElement) => image.decode())
    await lookAt('topic')

    let clicks = 0
    const click = async (target: string) => {
      clicks += 1
      await page.click(target)
    }
    const wallet = page.locator('tessera-wallet')
    await click('#user-menu')
    await seeWallet(page, 'signIn')
    await lookAt('signed-out')
    const opened = page.waitForEvent('popup')
    await click('tessera-wallet a')
    const account = await opened
    await account.waitForURL(`${demo.base_url}/account`)
    await account.close()
    // Headless pages never hide, so the browser does not say that the reader is back.
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await seeWallet(page, 'wallet')
    expect(await wallet.evaluate((element) => element.shadowRoot!.textContent)).toContain('+250')
    expect(clicks).toBe(2)
    await lookAt('wallet')

    // From now on it is one.
    await page.reload()
    await click('#user-menu')
    await seeWallet(page, 'wallet')
    expect(clicks).toBe(3)
    await page.keyboard.press('Escape')
    expect(await wallet.count()).toBe(0)

    const link = page.waitForEvent('popup')
    await pay.click()
    await (await link).waitForURL(demo.link_url!)
  })

  test.each(LOOKS)('on %s tips an author and shows the balance in four clicks', async (_, look) => {
    const { demo, close } = await openSharedDemo()
    onTestFinished(close)
    const t = messages[look.locale === 'en' ? 'en' : 'zh-CN']
    const page = await openWindow(look)
    // The member is signed in at the forum and here.
    await page.goto(`${demo.forum_url}/login`)
    await page.click(`button[value="${FRANK}"]`)
    await page.goto(`${demo.base_url}/sign-in/forum?return_to=%2Faccount`)
    await page.goto(demo.forum_url!)

    const authors = await page
      .locator('.post-menu a')
      .evaluateAll((links) => links.map((link) => link.ariaLabel))
    expect(authors.map((label) => label!.split('@')[1])).toEqual(['erin', '小梅'])
    const opened = page.waitForEvent('popup')
    await page.locator('.post-menu a').first().click()
    const tip = await opened
    const lookAt = photographer(tip, `forum-tip-${look.locale}`)
    await tip.getByRole('heading', { name: t.tips.title('erin') }).waitFor()
    await lookAt('choice')
    await tip.getByRole('button', { name: t.tips.submit }).click()
    await tip.waitForURL(/\/payment\/pay\//)
    await lookAt('pay')
    await tip.locator('main button.primary').click()
    await tip.getByRole('heading', { name: t.tips.states.paid }).waitFor()
    await lookAt('paid')

    await tip.close()
    await page.click('#user-menu')
    await seeWallet(page, 'wallet')
    const wallet = page.locator('tessera-wallet')
    expect(await wallet.evaluate((element) => element.shadowRoot!.textContent)).toContain('−50')
    // Three clicks tipped, and one showed the balance. A click beside the menu closes it.
    await page.mouse.click(4, look.viewport!.height - 4)
    expect(await wallet.count()).toBe(0)

    // The third author has no account here.
    const none = page.waitForEvent('popup')
    await page.locator('.post-menu a').last().click()
    await (await none).getByRole('heading', { name: t.tips.none }).waitFor()
  })
})
