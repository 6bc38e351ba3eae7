/**
 * Ways through several pages: to the end of a purchase, by keyboard alone, and while time passes.
 * spec/pages 1.1.
 */
import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { isWithoutChromium, sharedChromium } from '../../harness/chromium.ts'
import { messages } from '../../harness/messages.ts'
import { thisPart } from '../../harness/thoroughness.ts'
import { authorizationUrl, type Party, REDIRECT_URI } from '../../identity/relying-party.ts'
import { stopsOn, tabThrough } from './keyboard.ts'
import { PAGES } from './list.ts'
import { reach } from './ways.ts'
import { DESK, LOOKS, type Look, openWindow, PHONE } from './windows.ts'
import { knownByDocument, makeWorld, naming, onDevice, PKCE, type Role, type World } from './world.ts'

type Language = Look['language']
/** The languages of the walks on a phone. English has the longer words. `LOOKS=left` walks in the other one. */
const LANGUAGES = thisPart<Language>('LOOKS', ['en'], ['zh-CN'])
/** The languages of a buyer, and whether the browser has JavaScript. */
const waysOf = (isFirst: boolean): [Language, boolean][] => [
  ['en', isFirst],
  ['zh-CN', !isFirst],
]
const WAYS = thisPart('LOOKS', waysOf(true), waysOf(false))

/** Continue on the page of a tip stays well above the fold of a phone. */
const TIP_SHARE = 0.9

const { common, lists, pay, periods, signIn } = messages.en

/** Counts the rows of tables on the last sheet of a tagged PDF, by the page that its structure names for the text of each row. */
function rowsOnLastSheet(pdf: string): number {
  const objects = new Map(
    [...pdf.matchAll(/(\d+) 0 obj\n(.*?)\nendobj/gs)].map(([, id, text]) => [id!, text!] as const),
  )
  const last = [...objects].filter(([, text]) => /\/Type \/Page\b/.test(text)).at(-1)![0]
  const isOnLast = (text: string): boolean => {
    if (text.includes(`/Pg ${last} 0 R`)) return true
    const kids = text.split('/K ')[1] ?? ''
    return [...kids.replaceAll(/\/(P|Pg) \d+ 0 R/g, '').matchAll(/(\d+) 0 R/g)].some(([, id]) =>
      isOnLast(objects.get(id!) ?? ''),
    )
  }
  return [...objects.values()].filter((text) => /\/S \/TR\b/.test(text) && isOnLast(text)).length
}

/** A page of A4 in CSS pixels, and what its margins leave of its width. */
const A4 = { width: 794, height: 1123 }
const PRINTED_WIDTH = 658

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

  test.each(WAYS)('the way of a buyer in %s (JavaScript: %s)', async (language, javaScriptEnabled) => {
    const t = messages[language]
    const page = await openWalk('buyer', language, { javaScriptEnabled })
    const { path, transaction_id } = await world.order('15')
    await page.goto(path)
    await page.getByText(t.pay.elsewhere.title).click()
    await page.getByRole('img', { name: t.pay.elsewhere.qr }).waitFor()
    await page.getByRole('button', { name: t.pay.submit('15', 15n, false) }).click()
    await page.getByText('"isGenuine":true').waitFor()

    await page.goto(path)
    await page.getByRole('heading', { name: t.pay.states.paid }).waitFor()
    await page.getByText(t.pay.notification.title).click()
    await page.getByText(t.pay.notification.byBrowser(world.walkShop)).waitFor()
    await page.getByRole('link', { name: t.pay.returnToShop(world.walkShop) }).click()
    await page.getByText('"isGenuine":true').waitFor()

    await page.goto(`${world.test.url}/`)
    await page.getByRole('link', { name: t.common.wallet, exact: true }).click()
    await page.getByRole('main').getByRole('link', { name: t.lists.search, exact: true }).click()
    await page.getByRole('searchbox').fill(transaction_id)
    await page.keyboard.press('Enter')
    await page.getByText('−15').waitFor()
    await page
      .getByRole('navigation', { name: t.common.shortMenu })
      .getByRole('link', { name: t.common.paymentsShort })
      .click()
    await page.getByRole('heading', { name: t.common.myPayments }).waitFor()
    await page.locator(`a[href$="${transaction_id}"]`).click()
    await page.getByRole('heading', { name: t.pay.states.paid }).waitFor()
    expect((await page.getByRole('main').textContent())?.includes(transaction_id)).toBe(true)
  })

  test('the way of a buyer by the keyboard alone', async () => {
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
    const stops = await tabThrough(page, ({ text }) => text === pay.submit('16', 16n, false))
    expect(stops.filter(({ isVisible }) => !isVisible)).toEqual([])
    await page.keyboard.press('Enter')
    await page.getByText('"isGenuine":true').waitFor()
  })

  test.each([
    ['a form', 'accounts/sign-in/sign-in'],
    ['a decision', 'identity/oauth/consent'],
    ['a list', 'accounts/wallet found'],
    ['a console', 'admin/apps/payment-app'],
  ])('%s is gone through by the keyboard, and shows where one is', async (_kind, name) => {
    const listed = PAGES.find((page) => page.name === name)!
    const page = await openWalk(listed.as, 'en')
    await reach(page, listed, world)
    // From the beginning, wherever the page has put the focus.
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
    const stops = await tabThrough(page)
    expect(stops[0]).toMatchObject({ text: common.skipToContent })
    expect(stops.filter(({ isVisible }) => !isVisible)).toEqual([])
    expect(stops).toHaveLength(await stopsOn(page))
  })

  test.each(LANGUAGES)('consent shows all its terms before its answers on a phone: %s', async (language) => {
    const page = await openWalk('buyer', language, { viewport: PHONE })
    const { client_id } = world.oauth.open
    const homepage = 'https://an-application-with-a-long-name.app.example/about'
    await world.test.db
      .updateTable('oauth_apps')
      .set({ description: 'Books, every Thursday evening. '.repeat(10), homepage })
      .where('client_id', '=', client_id)
      .execute()
    for (const scope of ['openid', 'openid profile email offline_access apps']) {
      const asked = { client_id, redirect_uri: REDIRECT_URI, response_type: 'code', scope }
      await page.goto(`${world.test.url}/oauth2/auth?${new URLSearchParams(asked)}`)
      await expectAnswersAfterTerms(page, language)
    }
    // A reviewed application that asks for a sign-in alone shows its answers without scrolling.
    const reviewed = { reviewed_at: world.test.clock.now(), reviewed_by: world.people.admin.id }
    await world.test.db.updateTable('oauth_apps').set(reviewed).where('client_id', '=', client_id).execute()
    await page.goto(world.test.url + authorizationUrl({ client_id, redirect_uri: REDIRECT_URI } as Party))
    const { allow } = messages[language].identity.consent
    expect(await bottomOf(page.getByRole('button', { name: allow, exact: true }))).toBeLessThanOrEqual(
      PHONE.height,
    )
  })

  test.each(LANGUAGES)(
    'consent to charges shows its amount at once on a phone, and all its terms before its answers: %s',
    async (language) => {
      const page = await openWalk('buyer', language, { viewport: PHONE })
      const { allowBoth, signInOnlyLink, deny } = messages[language].identity.consent
      const { eachCharge, firstCharge } = messages[language].mandateOffer
      const terms = { upTo: eachCharge, fixed: firstCharge }
      for (const state of ['upTo', 'fixed'] as const) {
        await page.goto(world.test.url + authorizationUrl(world.linked, naming(world.mandates[state])))
        expect(await bottomOf(page.locator('.amount')), state).toBeLessThanOrEqual(PHONE.height)
        const answers = [deny, allowBoth, signInOnlyLink].map((name) =>
          page.getByRole('button', { name, exact: true }),
        )
        const top = (await answers[0]!.boundingBox())!.y
        for (const term of await page.locator('main .flash, main .inset dd, main .sees > li').all())
          expect(await bottomOf(term), state).toBeLessThanOrEqual(top)
        // Playwright scrolls each into view, and fails if something covers it.
        for (const answer of answers) await answer.click({ trial: true })
        // The two answers weigh the same, and are in view on the second screen.
        const [no, yes] = await Promise.all(answers.slice(0, 2).map((answer) => answer.boundingBox()))
        expect([yes!.y, yes!.width, yes!.height], state).toEqual([no!.y, no!.width, no!.height])
        expect(top + no!.height, state).toBeLessThanOrEqual(1.5 * PHONE.height)
        await page.locator('main dt', { hasText: terms[state] }).waitFor()
      }
      // That the application is reviewed takes no notice of its own.
      const reviewed = { reviewed_at: world.test.clock.now(), reviewed_by: world.people.admin.id }
      const { client_id } = world.linked
      await world.test.db.updateTable('oauth_apps').set(reviewed).where('client_id', '=', client_id).execute()
      await page.goto(world.test.url + authorizationUrl(world.linked, naming(world.mandates.upTo)))
      await page.locator('h1 + p .tag', { hasText: messages[language].common.reviewed }).waitFor()
      expect(await page.locator('main > .flash').count()).toBe(0)
    },
  )

  /** All notices of a consent page are in view at once. Its answers come after all terms, and nothing covers them. */
  async function expectAnswersAfterTerms(page: Page, language: Look['language'], kind?: string) {
    const { deny, allow } = messages[language].identity.consent
    const [no, yes] = [deny, allow].map((name) => page.getByRole('button', { name, exact: true }))
    const { y } = (await no!.boundingBox())!
    for (const notice of await page.locator('main .flash').all())
      expect(await bottomOf(notice), kind).toBeLessThanOrEqual(PHONE.height)
    for (const term of await page.locator('main .flash, main .sees > li, main > p').all())
      expect(await bottomOf(term), kind).toBeLessThanOrEqual(y)
    // Playwright scrolls each into view, and fails if something covers it.
    for (const answer of [no!, yes!]) await answer.click({ trial: true })
  }

  async function bottomOf(part: Locator): Promise<number> {
    const { y, height } = (await part.boundingBox())!
    return y + height
  }

  test.each(LANGUAGES)(
    'consent of every kind shows its notices at once, and its terms before its answers: %s',
    async (language) => {
      const page = await openWalk('buyer', language, { viewport: PHONE })
      const { url } = world.test
      const kinds = {
        unconfirmed: { ...world.oauth.waiting, redirect_uri: REDIRECT_URI },
        loopback: await onDevice(world, 'http://127.0.0.1:8000/callback'),
        scheme: await onDevice(world, 'com.an-example-of-a-long-name.program:/callback'),
        document: await knownByDocument(world),
      }
      for (const [kind, party] of Object.entries(kinds)) {
        const more = { ...PKCE, scope: 'openid profile email offline_access apps' }
        await page.goto(url + authorizationUrl(party as Party, more))
        await expectAnswersAfterTerms(page, language, kind)
      }
      await page.goto(`${url}/device?user_code=${await world.userCode()}`)
      await page
        .getByRole('button', { name: messages[language].identity.device.continue, exact: true })
        .click()
      await page.getByRole('button', { name: messages[language].identity.consent.allow }).waitFor()
      await expectAnswersAfterTerms(page, language, 'device')
    },
  )

  test('a typed password is shown by a button, and hidden again', async () => {
    const page = await openWalk('visitor', 'en')
    await page.goto(`${world.test.url}/sign-in`)
    const field = page.locator('#password')
    const button = page.getByRole('button', { name: signIn.showPassword })
    for (const width of [320, 360, 1280]) {
      await page.setViewportSize({ width, height: 740 })
      const [around, inner] = await Promise.all([field, button].map((each) => each.boundingBox()))
      // The button is inside the field, at its end.
      expect(inner!.x + inner!.width).toBe(around!.x + around!.width)
      expect([inner!.y, inner!.height], `${width}`).toEqual([around!.y, around!.height])
      const { paddingRight } = await field.evaluate((element) => getComputedStyle(element))
      expect(Number.parseFloat(paddingRight)).toBeGreaterThanOrEqual(inner!.width)
    }
    await field.fill('a secret')
    await button.click()
    expect([await field.getAttribute('type'), await button.getAttribute('aria-pressed')]).toEqual([
      'text',
      'true',
    ])
    await button.click()
    expect(await field.getAttribute('type')).toBe('password')
  })

  test('a member who would switch accounts on a phone can keep the account, in lines of full width', async () => {
    const page = await openWalk('buyer', 'en', { viewport: PHONE })
    await page.goto(`${world.test.url}/sign-in?return_to=%2Faccount`)
    const { username } = world.people.buyer
    const notice = page.getByText(signIn.already(username))
    expect((await notice.boundingBox())!.width).toBeGreaterThan(PHONE.width * 0.6)
    await page.getByRole('link', { name: signIn.continueAs(username) }).click()
    await page.waitForURL(`${world.test.url}/account`)
  })

  test('without scripts no button pretends to show a password', async () => {
    const page = await openWalk('visitor', 'en', { javaScriptEnabled: false })
    await page.goto(`${world.test.url}/sign-in`)
    await page.getByRole('button', { name: signIn.submit }).waitFor()
    expect(await page.getByRole('button', { name: signIn.showPassword }).count()).toBe(0)
  })

  test('the menu opens and closes by the keyboard, and signs out', async () => {
    const page = await openWalk('visitor', 'en')
    const session = [...(await world.people.newcomer.signIn()).cookies]
    await page.context().addCookies(session.map(([name, value]) => ({ name, value, url: world.test.url })))
    await page.goto(`${world.test.url}/`)
    const open = async () => {
      await tabThrough(page, ({ text }) => text === common.menu)
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: common.signOut }).waitFor()
    }
    await open()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: common.signOut }).waitFor({ state: 'hidden' })
    await open()
    await tabThrough(page, ({ text }) => text === common.signOut)
    await page.keyboard.press('Enter')
    await page.getByRole('main').getByRole('link', { name: common.signIn, exact: true }).waitFor()
  })

  test.each(LANGUAGES)(
    'tiles fill their rows on a phone, and the bar shows whole names: %s',
    async (language) => {
      const merchant = `/payment/applications/${world.merchant.payment_id}`
      const pages = {
        merchant: [`${merchant}/statistics`, `${merchant}/notifications`],
        admin: ['/admin/overview', '/admin/refund-requests', '/admin/notifications'],
      } as const
      for (const role of ['merchant', 'admin'] as const) {
        const page = await openWalk(role, language, { viewport: PHONE })
        for (const path of pages[role]) {
          await page.goto(`${world.test.url}${path}`)
          const faults = await page.evaluate(() => {
            const unfilled = [...document.querySelectorAll('.tiles')].filter(
              (tiles) =>
                tiles.lastElementChild!.getBoundingClientRect().right <
                tiles.getBoundingClientRect().right - 1,
            )
            const dotted = [...document.querySelectorAll('.bottombar span')].filter(
              ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth,
            )
            return [...unfilled, ...dotted].map(({ outerHTML }) => outerHTML.slice(0, 120))
          })
          expect(faults, path).toEqual([])
        }
      }
    },
  )

  test('a named time replaces the days that were chosen before', async () => {
    const page = await openWalk('buyer', 'en')
    await page.goto(`${world.test.url}/account?from=2020-01-01&until=2020-01-02`)
    await page.getByText(lists.nothing).waitFor()
    await page.getByLabel(periods.title, { exact: true }).selectOption('year')
    await page.getByRole('button', { name: lists.find }).click()
    await page.locator('option[value="year"][selected]').waitFor({ state: 'attached' })
    expect(await page.getByLabel(periods.from).inputValue()).toBe('')
  })

  test('the time to pay counts down aloud, then the page expires', async () => {
    const page = await openWalk('buyer', 'en')
    await page.clock.install()
    const { path, transaction_id } = await world.order('17')
    await page.goto(path)
    const clock = page.locator('[data-clock]')
    // The moment alone, until the last quarter of the thirty minutes begins.
    await page.clock.fastForward('20:00')
    expect(await clock.isVisible()).toBe(false)
    await page.clock.fastForward('04:30')
    await clock.waitFor()
    expect([pay.timeLeft('5:30'), pay.timeLeft('5:29')]).toContain(await clock.textContent())
    // The moment and the countdown share a line.
    const lines = await page
      .locator('[data-expires]')
      .evaluate((line) => line.clientHeight / Number.parseFloat(getComputedStyle(line).lineHeight))
    expect(lines).toBeLessThan(2)
    await page.clock.fastForward('00:40')
    await page.getByRole('status').getByText(pay.minutesLeft('5')).waitFor({ state: 'attached' })
    await page.clock.fastForward('04:00')
    await page.getByRole('status').getByText(pay.minutesLeft('1')).waitFor({ state: 'attached' })
    await world.expire(transaction_id)
    await page.clock.fastForward('01:00')
    await page.getByRole('heading', { name: pay.states.expired }).waitFor()
  })

  test.each(LANGUAGES)('a tip shows its buttons at once on a phone: %s', async (language) => {
    const t = messages[language]
    const page = await openWalk('buyer', language, { viewport: PHONE })
    await page.goto(`${world.test.url}/tip?to_id=5150&post=/t/ginger-cat-photos/12/3`)
    const next = page.getByRole('button', { name: t.tips.submit, exact: true })
    expect(await bottomOf(next)).toBeLessThanOrEqual(PHONE.height * TIP_SHARE)
    await page.goto(`${world.test.url}/payment/pay/${world.orders.tip}`)
    await page.getByRole('heading', { name: t.tips.gift('@') }).waitFor()
    expect(await page.getByText(t.tips.isGift).isVisible()).toBe(true)
    expect(await page.getByText(t.pay.elsewhere.title).count()).toBe(0)
    expect(await page.locator('[data-clock]').isVisible()).toBe(false)
  })

  test('the payee, the price and the time to pay stay in view beside unfolded details', async () => {
    const page = await openWalk('buyer', 'en', { viewport: DESK })
    const { path } = await world.order('20')
    await page.goto(path)
    for (const fold of await page.locator('main summary:visible').all()) await fold.click()
    await page.getByRole('link', { name: pay.elsewhere.save }).scrollIntoViewIfNeeded()
    expect(await page.evaluate(() => scrollY)).toBeGreaterThan(0)
    let end = 0
    for (const shown of ['.payee', '.amount', '[data-expires]', '.pane .desk']) {
      const { y, height } = (await page.locator(shown).boundingBox())!
      // Each below the one before.
      expect(y).toBeGreaterThanOrEqual(end)
      end = y + height
      if (shown !== '.pane .desk') expect(end).toBeLessThanOrEqual(DESK.height)
    }
  })

  test('forced colours tell Pay from Cancel, and Allow from Deny', async () => {
    const page = await openWalk('buyer', 'en', { forcedColors: 'active' })
    const lookOf = (part: Locator) =>
      part.evaluate((element) => {
        const { backgroundColor, color, forcedColorAdjust, outlineStyle } = getComputedStyle(element)
        return { backgroundColor, color, forcedColorAdjust, outlineStyle }
      })
    await page.goto((await world.order('21')).path)
    const paying = await lookOf(page.getByRole('button', { name: pay.submit('21', 21n, false) }))
    const cancelling = await lookOf(page.getByRole('link', { name: pay.cancel(world.walkShop) }))
    expect(paying.backgroundColor).not.toBe(cancelling.backgroundColor)
    // Else the browser paints the colour of the page behind the words.
    expect(paying.forcedColorAdjust).toBe('none')
    expect(paying.color).not.toBe(paying.backgroundColor)
    const { allow, allowBoth, deny } = messages.en.identity.consent
    const joint = authorizationUrl(world.linked, naming(world.mandates.upTo))
    for (const [address, name] of [
      [authorizationUrl(world.linked), allow],
      [joint, allowBoth],
      [`/payment/mandate/${world.mandates.upTo}`, allow],
    ] as const) {
      await page.goto(world.test.url + address)
      const [yes, no] = await Promise.all(
        [name, deny].map((each) => lookOf(page.getByRole('button', { name: each, exact: true }))),
      )
      expect([yes!.outlineStyle, no!.outlineStyle]).toEqual(['solid', 'none'])
    }
  })

  test('a receipt and a statement are one sheet of paper, with one edge at each side', async () => {
    const page = await openWalk('buyer', 'en')
    for (const address of [`/payment/pay/${world.orders.refunded}`, '/account/statement?until=2020-01-01']) {
      await page.goto(world.test.url + address)
      const file = await page.pdf({ format: 'A4', preferCSSPageSize: true })
      expect(file.toString('latin1').match(/\/Type \/Page\b/g), address).toHaveLength(1)
      await page.emulateMedia({ media: 'print' })
      const { shown, left, right } = await page.evaluate(() => {
        const isShown = (element: Element) => element.checkVisibility()
        const edgesOf = (side: 'left' | 'right') =>
          [...document.querySelectorAll('.paper > *')].map((part) => part.getBoundingClientRect()[side])
        return {
          shown: [...document.querySelectorAll('body > :not(.hush), main > *')]
            .filter(isShown)
            .map(({ className }) => className),
          left: new Set(edgesOf('left')).size,
          right: new Set(edgesOf('right')).size,
        }
      })
      expect(shown).toEqual(['', expect.stringMatching(/\bpaper\b/)])
      expect([left, right]).toEqual([1, 1])
      await page.emulateMedia({ media: null })
    }
  })

  test('a printed list fits the page and breaks between its rows', async () => {
    const page = await openWalk('buyer', 'en', { viewport: A4 })
    await page.emulateMedia({ media: 'print' })
    for (const path of ['/account', '/account/payments']) {
      await page.goto(world.test.url + path)
      const { right, broken } = await page.evaluate((width) => {
        document.body.style.width = `${width}px`
        const list = document.querySelector('.data')!
        return {
          right: list.getBoundingClientRect().right,
          broken: getComputedStyle(list.closest('.panel')!).breakInside,
        }
      }, PRINTED_WIDTH)
      expect(right, path).toBeLessThanOrEqual(PRINTED_WIDTH + 1)
      expect(broken).toBe('auto')
    }
  })

  test('the last sheet of a statement always has a movement', async () => {
    const page = await openWalk('buyer', 'en')
    await page.goto(`${world.test.url}/account/statement?period=year`)
    expect(await page.locator('.paper > footer code').textContent()).not.toContain('://')
    for (let rows = 18; rows <= 30; rows++) {
      await page.evaluate((wanted) => {
        const table = document.querySelector('.paper table')!
        const [first] = table.querySelectorAll('tbody')
        const line = table.querySelector('tbody tr:not(.total)')!
        while (table.querySelectorAll('tbody tr').length > wanted) first!.lastElementChild!.remove()
        while (table.querySelectorAll('tbody tr').length < wanted) first!.append(line.cloneNode(true))
      }, rows)
      const file = await page.pdf({ format: 'A4', preferCSSPageSize: true, tagged: true })
      expect(rowsOnLastSheet(file.toString('latin1')), `${rows} rows`).toBeGreaterThan(0)
    }
  })

  test.each(LANGUAGES)(
    'a phone shows the acts of a wallet and the sums of a statement first: %s',
    async (language) => {
      const t = messages[language]
      const page = await openWalk('buyer', language, { viewport: PHONE })
      await page.goto(`${world.test.url}/account`)
      const way = (name: string) => page.getByRole('main').getByRole('link', { name, exact: true })
      for (const name of [t.paperStatement.title, t.account.download])
        expect(await bottomOf(way(name)), name).toBeLessThan(PHONE.height / 4)
      const first = page.locator('.data tbody tr:has(.what)').first()
      expect((await first.boundingBox())!.y).toBeLessThan(PHONE.width)
      const search = page.getByRole('searchbox')
      expect(await search.isVisible()).toBe(false)
      await way(t.lists.search).click()
      expect(await search.isVisible()).toBe(true)
      await way(t.paperStatement.title).click()
      const closing = page.locator('.paper .stat', { hasText: t.paperStatement.soFar })
      expect(await bottomOf(closing)).toBeLessThanOrEqual(PHONE.height)
      const period = page.getByRole('combobox', { name: t.periods.title })
      expect(await period.isVisible()).toBe(false)
      await page.locator('summary', { hasText: t.periods.names.month }).first().click({ timeout: 10_000 })
      await period.selectOption('year')
      await page.getByRole('button', { name: t.paperStatement.show }).click()
      await page.waitForURL(/period=year/)
      await page.setViewportSize(DESK)
      expect(await period.isVisible()).toBe(true)
    },
  )

  test('a name of several lines in a list covers no other line on a phone', async () => {
    const page = await openWalk('buyer', 'en', { viewport: PHONE })
    for (const path of ['/account', '/account/payments']) {
      await page.goto(world.test.url + path)
      const row = page.locator('.data tbody tr', { has: page.locator('.what a') }).first()
      const [name, below] = await row.evaluate((element) => {
        const link = element.querySelector('.what a')!
        link.textContent = 'A name of several lines '.repeat(4)
        const text = document.createRange()
        text.selectNodeContents(link)
        return [text.getBoundingClientRect(), element.querySelector('.sub')!.getBoundingClientRect()]
      })
      expect(name!.height, path).toBeGreaterThan(60)
      expect(below!.top, path).toBeGreaterThanOrEqual(name!.bottom - 2)
    }
  })

  test('a statement on paper keeps its last movement beside its closing balance', async () => {
    const page = await openWalk('buyer', 'en')
    await page.goto(`${world.test.url}/account/statement?period=year`)
    await page.emulateMedia({ media: 'print' })
    const last = page.locator('.paper tbody').last()
    expect(await last.locator('tr').count()).toBe(3)
    expect(await last.textContent()).toContain(messages.en.paperStatement.soFar)
    const kept = [last, page.locator('.paper > footer')].map((part) =>
      part.evaluate((element) => {
        const { breakInside, breakBefore } = getComputedStyle(element)
        return [breakInside, breakBefore]
      }),
    )
    expect(await Promise.all(kept)).toEqual([
      ['avoid', 'auto'],
      ['avoid', 'avoid'],
    ])
  })

  test('the reference shows the fields before the sample on a phone, and beside it on a desk', async () => {
    const page = await openWalk('visitor', 'en', { viewport: PHONE })
    await page.goto(`${world.test.url}/docs/payment/post_payment_pay_process`)
    const topOf = async (part: string) => (await page.locator(part).boundingBox())!.y
    expect(await topOf('#request')).toBeLessThan(await topOf('#example'))
    expect(await topOf('#example')).toBeLessThan(await topOf('#answers'))
    await page.setViewportSize(DESK)
    expect(await topOf('#example')).toBeLessThan(await topOf('#request'))
  })

  test('a row of a table in a guide becomes lines on a phone', async () => {
    const page = await openWalk('visitor', 'en', { viewport: PHONE })
    await page.goto(`${world.test.url}/docs/mandates`)
    const row = page.locator('.guide').first().locator('tbody tr').first()
    const topsOf = () =>
      row.locator('td').evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().top))
    expect(new Set(await topsOf()).size).toBe(3)
    expect(await page.locator('.guide thead').first().isVisible()).toBe(false)
    await page.setViewportSize(DESK)
    expect(new Set(await topsOf()).size).toBe(1)
  })

  test('a menu that is higher than the window shows the current place', async () => {
    const page = await openWalk('buyer', 'en', { viewport: { width: 1280, height: 700 } })
    await page.goto(`${world.test.url}/docs/rules`)
    const place = await page.locator('.side [aria-current]').boundingBox()
    expect(place!.y + place!.height).toBeLessThanOrEqual(700)
  })

  test('a row of tabs shows the current one on a phone', async () => {
    const page = await openWalk('admin', 'en', { viewport: PHONE })
    await page.goto(`${world.test.url}/admin/settings?area=brand`)
    const tab = await page.locator('.tabs [aria-current]').boundingBox()
    expect(tab!.x).toBeGreaterThanOrEqual(0)
    expect(tab!.x + tab!.width).toBeLessThanOrEqual(PHONE.width)
  })

  test.each(LANGUAGES)('the groups of settings fit a desk: %s', async (language) => {
    const page = await openWalk('admin', language, { viewport: { width: 1280, height: 780 } })
    await page.goto(`${world.test.url}/admin/settings?area=signIn`)
    // The group with the longest name is the current one, whose letters are bold. The last one ends where the head of the page does.
    const ends = await page
      .locator(':is(.page-head, .tabs li:last-child)')
      .evaluateAll((found) => found.map((each) => each.getBoundingClientRect().right))
    expect(ends).toHaveLength(2)
    expect(ends[1]).toBeLessThanOrEqual(ends[0]!)
  })

  test('a page that waits for another device turns into the receipt', async () => {
    const page = await openWalk('buyer', 'en')
    const { path, pay: payFor } = await world.order('18')
    await page.goto(path)
    await page.getByText(pay.elsewhere.title).click()
    await payFor(world.people.buyer)
    await page.getByRole('heading', { name: pay.states.paid }).waitFor()
  })

  test('a page that is paid leads to the shop, whatever it hears meanwhile', async () => {
    const page = await openWalk('buyer', 'en')
    const { path } = await world.order('19')
    await page.goto(path)
    await page.getByText(pay.elsewhere.title).click()
    // The page asks again only after it has read the first answer, if that did not make it load itself again.
    const next = Promise.withResolvers<void>()
    let heard = 0
    let reloads = 0
    await page.route(`**${path}/state`, (route) => {
      heard += 1
      if (heard === 2) next.resolve()
      return route.fulfill({ json: { state: 'paid' } })
    })
    await page.route(`**${path}`, async (route) => {
      if (route.request().method() === 'POST') await next.promise
      else reloads += 1
      await route.continue()
    })
    await page.getByRole('button', { name: pay.submit('19', 19n, false) }).click()
    expect(reloads).toBe(0)
    await page.getByText('"isGenuine":true').waitFor()
  })
})
