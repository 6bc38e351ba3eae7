/**
 * The theme component: its element in Chromium, on a page with Discourse's content security policy, over several hosts; its archive; and,
 * with THEME=true and `npm ci` in its folder, its adapter under Ember's compiler and the forum's published types.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { themeArchive } from '../../src/admin/people/theme-archive.ts'
import { grantPoints } from '../../src/ledger/points.ts'
import { makePerson } from '../harness/cast.ts'
import { isWithoutChromium, PHOTOGRAPHS, sharedChromium } from '../harness/chromium.ts'
import { type ForumWorld, startForumWorld } from '../harness/forum-world.ts'
import { setSetting } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { ROOT } from '../harness/server-process.ts'

const FOLDER = join(ROOT, 'examples/discourse-theme')
const LIBRARY = join(FOLDER, 'javascripts/discourse/lib/tessera-wallet.js')
/** As a forum sends it, with the nonce of its page. It says nothing of connections or styles. */
const POLICY =
  "base-uri 'self'; object-src 'none'; script-src 'nonce-of-the-page' 'strict-dynamic'; frame-ancestors 'self'; manifest-src 'self'"

/** A forum's page that opens its menu when a script calls `openMenu`. */
async function startPages() {
  const library = await readFile(LIBRARY, 'utf8')
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://x')
    if (url.pathname === '/tessera-wallet.js') {
      // A sandboxed frame has an origin of its own, so it may load the script only with this.
      response.setHeader('access-control-allow-origin', '*')
      return response.writeHead(200, { 'content-type': 'text/javascript' }).end(library)
    }
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY })
    response.end(`<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width"><title>Forum</title></head>
      <body><main id="menu"></main><script type="module" nonce="of-the-page">
      import * as library from '/tessera-wallet.js'
      library.defineTesseraWallet()
      Object.assign(window, { library })
      </script></body></html>`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const port = String((server.address() as AddressInfo).port)
  return {
    port,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

type Wallet = HTMLElement & { shadowRoot: ShadowRoot }
const SETTLED = ['wallet', 'signIn', 'other', 'hidden', 'offline']

describe.skipIf(isWithoutChromium)('the wallet in the forum’s menu', () => {
  let pages: Awaited<ReturnType<typeof startPages>>
  let world: ForumWorld
  let service: string
  let member: { id: number }
  let cookie: { name: string; value: string }

  beforeAll(async () => {
    pages = await startPages()
    world = await startForumWorld({}, {})
    const { test, forum } = world
    service = `http://points.example.test:${new URL(world.hookUrl).port}`
    await setSetting(test, 'forum_wallet', 'on')
    member = forum.join()
    const client = await world.signIn(member)
    // From here on only the forum's pages count, and they have a name of their own.
    placeForumAt('forum.example.test')
    const { id } = await world.userOf(member)
    await grantPoints(test.db, {
      user_id: id,
      amount: 4_250n,
      reference: `theme:${id}`,
      reason: 'x',
      actor_id: null,
      now: test.clock.now(),
    })
    const [name, value] = [...client.cookies].find(([each]) => each.includes('session'))!
    cookie = { name, value }
  })
  afterAll(async () => {
    await world?.close()
    await pages?.close()
  })

  /** Names the host of the forum's pages. */
  function placeForumAt(host: string): void {
    const { deps } = world.test
    deps.config = { ...deps.config, DISCOURSE_URL: `http://${host}:${pages.port}` }
  }

  /** Opens the menu on a page of this host, and returns the page once the element is settled. */
  async function openMenu(
    host: string,
    { isSignedIn = true, to = service, before = async (_page: Page): Promise<unknown> => undefined } = {},
  ) {
    const context = await (await sharedChromium()).newContext({
      viewport: { width: 360, height: 640 },
      timezoneId: 'Europe/London',
    })
    if (isSignedIn)
      await context.addCookies([
        { ...cookie, domain: 'points.example.test', path: '/', httpOnly: true, sameSite: 'Lax' },
      ])
    const page = await context.newPage()
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await before(page)
    await page.goto(`http://${host}:${pages.port}/`)
    await page.waitForFunction(() => 'library' in window)
    // Nothing is asked at page load.
    expect(asked).not.toContain('/forum/wallet.json')
    await page.evaluate(
      ([address, id]) => {
        const wallet = document.createElement('tessera-wallet')
        for (const [key, value] of Object.entries({ service: address!, 'forum-id': id!, lang: 'en' }))
          wallet.setAttribute(key, value)
        document.querySelector('#menu')!.append(wallet)
      },
      [to, String(member.id)],
    )
    await page.waitForFunction(
      (settled) =>
        settled.includes(document.querySelector<HTMLElement>('tessera-wallet')!.dataset.state ?? ''),
      SETTLED,
    )
    return { context, page }
  }
  const shown = (page: Page) =>
    page.evaluate(() => {
      const wallet = document.querySelector('tessera-wallet') as Wallet
      const hrefs = [...wallet.shadowRoot.querySelectorAll('a')].map((link) => link.getAttribute('href'))
      return {
        state: wallet.dataset.state,
        text: wallet.shadowRoot.textContent,
        images: wallet.shadowRoot.querySelectorAll('img').length,
        hrefs,
      }
    })

  it.each([
    ['of one domain shows the wallet', 'forum.example.test', true, 'wallet'],
    ['of one domain asks a signed-out member to sign in', 'forum.example.test', false, 'signIn'],
    ['of a sibling origin reads nothing', 'blog.example.test', true, 'offline'],
    ['of another domain reads nothing', 'forum.elsewhere.test', true, 'offline'],
  ])('a page %s', async (_, host, isSignedIn, state) => {
    const { context, page } = await openMenu(host, { isSignedIn })
    const seen = await shown(page)
    expect(seen.state).toBe(state)
    expect(seen.hrefs.every((href) => href?.startsWith(`${service}/`))).toBe(true)
    if (state === 'wallet') expect(seen.text).toContain('4,250')
    else expect(seen.text).not.toContain('4,250')
    if (PHOTOGRAPHS.taken) await page.screenshot({ path: `test/artifacts/forum-wallet-${state}.png` })
    await context.close()
  })

  it('a sandboxed frame of the forum reads nothing', async () => {
    const { context, page } = await openMenu('forum.example.test')
    expect((await shown(page)).state).toBe('wallet')
    const asking = page.waitForRequest(/\/forum\/wallet\.json/)
    await page.evaluate(
      async ([address, id]) => {
        const frame = document.createElement('iframe')
        frame.setAttribute('sandbox', 'allow-scripts')
        frame.srcdoc = `<tessera-wallet service="${address}" forum-id="${id}" lang="en"></tessera-wallet>
          <script type="module" nonce="of-the-page">
          import { defineTesseraWallet } from '${location.origin}/tessera-wallet.js'
          defineTesseraWallet()
          </script>`
        document.body.append(frame)
      },
      [service, String(member.id)],
    )
    const frame = page.frames().find((each) => each !== page.mainFrame())!
    // Its origin is `null`, which neither the browser nor the service lets through.
    await frame.waitForSelector('tessera-wallet[data-state=offline]')
    expect((await asking).failure()).not.toBeNull()
    const seen = await frame.evaluate(() => document.querySelector('tessera-wallet')!.shadowRoot!.textContent)
    expect(seen).not.toContain('4,250')
    await context.close()
  })

  it('a member who comes back from the service sees the new balance', async () => {
    const { context, page } = await openMenu('forum.example.test', { isSignedIn: false })
    expect((await shown(page)).state).toBe('signIn')
    await context.addCookies([
      { ...cookie, domain: 'points.example.test', path: '/', httpOnly: true, sameSite: 'Lax' },
    ])
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await page.waitForSelector('tessera-wallet[data-state=wallet]')
    expect((await shown(page)).text).toContain('4,250')
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.evaluate(() => {
      document.querySelector('tessera-wallet')!.remove()
      document.dispatchEvent(new Event('visibilitychange'))
    })
    expect(asked).toEqual([])
    await context.close()
  })

  it('a forum of another domain asks to sign in, because no cookie arrives', async () => {
    placeForumAt('forum.elsewhere.test')
    const { context, page } = await openMenu('forum.elsewhere.test')
    expect((await shown(page)).state).toBe('signIn')
    await context.close()
    placeForumAt('forum.example.test')
  })

  /** Opens the menu of a forum whose service answers so. */
  const openAnswered = (json: Record<string, unknown>) =>
    openMenu('forum.example.test', {
      before: async (page) => {
        await page.clock.setFixedTime('2026-01-02T10:00:00Z')
        await page.route('**/forum/wallet.json*', (route) =>
          route.fulfill({
            json,
            headers: {
              'access-control-allow-origin': `http://forum.example.test:${pages.port}`,
              'access-control-allow-credentials': 'true',
            },
          }),
        )
      },
    })
  const movement = { at: '2026-01-01T00:30:00.000Z', kind: 'grant', text: 'A grant', amount: -5 }
  const wallet = {
    forum_id: '1',
    balance: 1,
    unit: 'points',
    frozen: true,
    tips: false,
    movements: [movement],
  }

  it('text of others makes no element', async () => {
    const text = '<img src=x onerror=alert(1)>'
    const { context, page } = await openAnswered({
      ...wallet,
      unit: text,
      movements: [{ ...movement, text }],
    })
    const seen = await shown(page)
    expect(seen).toMatchObject({ state: 'wallet', images: 0 })
    expect(seen.text).toContain(text)
    await context.close()
  })

  it.each([
    ['that of the service', 'Asia/Tokyo', 'yesterday 09:30', 'Times in Japan'],
    ['that of the browser where it does not know the other', 'Nowhere/City', 'yesterday 00:30', undefined],
    ['that of both, without its name', 'Europe/London', 'yesterday 00:30', undefined],
  ])('times are in the right zone: %s', async (_, time_zone, time, zone) => {
    const { context, page } = await openAnswered({ ...wallet, time_zone })
    const { state, text } = await shown(page)
    expect(state).toBe('wallet')
    expect(text).toContain(time)
    if (zone === undefined) expect(text).not.toContain('Times in')
    else expect(text).toContain(zone)
    await context.close()
  })

  it('times name today and yesterday, and the year only of other years', async () => {
    const { context, page } = await openMenu('forum.example.test')
    const written = await page.evaluate(() => {
      const { library } = window as unknown as { library: Library }
      const now = new Date('2026-11-28T10:00:00Z')
      const moments = [
        '2026-11-28T05:02:00Z',
        '2026-11-27T15:02:00Z',
        '2026-11-03T15:02:00Z',
        '2025-12-31T15:02:00Z',
      ]
      return ['en', 'zh-CN'].map((language) => {
        const times = library.timesIn(language, 'Asia/Shanghai', now)
        return moments.map((moment) => times.write(moment).replaceAll('\u00A0', ' '))
      })
    })
    expect(written).toEqual([
      ['today 13:02', 'yesterday 23:02', '3 Nov 23:02', '31 Dec 2025 23:02'],
      ['今天 13:02', '昨天 23:02', '11 月 3 日 23:02', '2025 年 12 月 31 日 23:02'],
    ])
    await context.close()
  })

  it('each state has one button at most', async () => {
    const acts = (page: Page) =>
      page.evaluate(() => {
        const { shadowRoot } = document.querySelector('tessera-wallet') as Wallet
        const found = [...shadowRoot.querySelectorAll('.btn')]
        return found.map((act) => `${act.localName}${act.matches('.primary') ? ' primary' : ''}`)
      })
    const signedOut = await openMenu('forum.example.test', { isSignedIn: false })
    expect(await acts(signedOut.page)).toEqual(['a primary'])
    await signedOut.context.close()
    const failed = await openMenu('blog.example.test')
    expect(await acts(failed.page)).toEqual(['button'])
    await failed.context.close()
    const empty = await openAnswered({ ...wallet, movements: [] })
    expect(await acts(empty.page)).toEqual(['a primary'])
    expect((await shown(empty.page)).text).toContain('No movements yet')
    await empty.context.close()
    const full = await openAnswered(wallet)
    expect(await acts(full.page)).toEqual(['a'])
    await full.context.close()
  })

  it('rows have the icon of their kind, and amounts are aligned', async () => {
    const kinds = ['grant', 'tip', 'payment', 'refund', 'of a newer service']
    const { context, page } = await openAnswered({
      ...wallet,
      movements: kinds.map((kind, i) => ({
        ...movement,
        ...{ kind, text: 'Print files '.repeat(1 + i * 3), amount: 9 + i * 1_000 },
      })),
    })
    const rows = await page.evaluate(() => {
      const { shadowRoot } = document.querySelector('tessera-wallet') as Wallet
      return [...shadowRoot.querySelectorAll('li')].map((row) => ({
        icon: row.querySelector('path')!.getAttribute('d'),
        edge: row.querySelector('b')!.getBoundingClientRect().right,
        height: row.getBoundingClientRect().height,
      }))
    })
    expect(new Set(rows.map(({ edge }) => edge)).size).toBe(1)
    // A long title takes two lines, and the wallet itself has the rest.
    expect(Math.max(...rows.map(({ height }) => height))).toBeLessThan(90)
    const [grant, tip, payment, refund, unknown] = rows.map(({ icon }) => icon)
    expect(unknown).toBe(payment)
    expect(new Set([grant, tip, payment, refund]).size).toBe(4)
    await context.close()
  })

  it('another member, a hidden wallet and a service that is off have their states', async () => {
    const { test } = world
    const other = member
    member = { id: other.id + 1_000_000 }
    const first = await openMenu('forum.example.test')
    expect(await shown(first.page)).toMatchObject({
      state: 'other',
      hrefs: [`${service}/sign-in/forum?return_to=%2Faccount`],
    })
    await first.context.close()
    member = other
    const { id } = await world.userOf(member)
    await test.db.updateTable('users').set({ shows_wallet_at_forum: false }).where('id', '=', id).execute()
    const second = await openMenu('forum.example.test')
    expect((await shown(second.page)).state).toBe('hidden')
    await second.context.close()
    await test.db.updateTable('users').set({ shows_wallet_at_forum: true }).where('id', '=', id).execute()
    const third = await openMenu('forum.example.test', { to: 'not an address' })
    expect((await shown(third.page)).state).toBe('offline')
    await third.context.close()
  })

  it('a link tips the author of a public post, but no visitor, author or private message has one', async () => {
    const { context, page } = await openMenu('forum.example.test')
    const made = await page.evaluate(() => {
      const { library } = window as unknown as {
        library: Library
      }
      const post = {
        user_id: 7,
        username: 'frank',
        post_number: 3,
        topic_id: 12,
        topic: { slug: 'hello', archetype: 'regular' },
      }
      const at = (change: object, reader: { id: number } | null = { id: 1 }) =>
        library.tipAddress('https://points.example.org/', { ...post, ...change }, reader)
      return [
        at({}),
        at({}, null),
        at({}, { id: 7 }),
        at({ user_id: -1 }),
        at({ user_id: 0 }),
        at({ topic: { archetype: 'private_message' } }),
        library.tipAddress('javascript:alert(1)', post, { id: 1 }),
      ]
    })
    const [address, ...others] = made
    expect(address).toBe('https://points.example.org/tip?to_id=7&to=frank&post=%2Ft%2Fhello%2F12%2F3')
    expect(others.every((each) => each === undefined || each === null)).toBe(true)
    await context.close()
  })
})

/** A card as Discourse makes it of a page's Open Graph tags, and links as members write them. */
const POST = `
  <aside class="onebox allowlistedgeneric" data-onebox-src="SERVICE/l/abcdefghj1"><header class="source"><a href="SERVICE/l/abcdefghj1">x</a></header>
    <article class="onebox-body"><h3><a href="SERVICE/l/abcdefghj1">Cat stickers</a></h3><p>50 points</p></article></aside>
  <p><a id="text" href="SERVICE/l/abcdefghj2?from=post#x">Lanterns – 25 points</a> and
  <a id="other" href="PAYMENTS/l/abcdefghj3">of the payments’ address</a></p>
  <p><a href="SERVICE/l/abcdefghj4"><img alt="Buy for 5 points" src="data:,"></a>
  <a href="SERVICE/payment/pay/abcdefghj5">an order</a> <a href="SERVICE/l/abcdefghj6/button.svg">a picture</a>
  <a href="SERVICE.evil.test/l/abcdefghj7">elsewhere</a> <a href="https://points.example.test@evil.test/l/abcdefghj8">too</a>
  <a href="javascript:alert(1)">none</a></p>
  <aside class="onebox" data-onebox-src="https://elsewhere.test/l/abcdefghj9"><article class="onebox-body"></article></aside>`

type Library = typeof import('../../examples/discourse-theme/javascripts/discourse/lib/tessera-wallet.js')

describe.skipIf(isWithoutChromium)('payment links in the forum', () => {
  let pages: Awaited<ReturnType<typeof startPages>>
  const [service, payments] = ['https://points.example.test', 'https://pay.example.test']

  beforeAll(async () => {
    pages = await startPages()
  })
  afterAll(() => pages?.close())

  async function openPage() {
    const context = await (await sharedChromium()).newContext({ viewport: { width: 360, height: 640 } })
    const page = await context.newPage()
    await page.goto(`http://forum.example.test:${pages.port}/`)
    await page.waitForFunction(() => 'library' in window)
    return { context, page }
  }

  it('cards and text links have “Pay” once; orders, pictures and other hosts have none', async () => {
    const { context, page } = await openPage()
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    const post = POST.replaceAll('SERVICE', service).replaceAll('PAYMENTS', payments)
    const found = await page.evaluate(
      ([html, ...services]) => {
        const { library } = window as unknown as { library: Library }
        const menu = document.querySelector('#menu')!
        menu.innerHTML = html!
        for (const language of ['zh_CN', 'en']) library.addPayLinks(menu, services, language)
        return [...menu.querySelectorAll('.tessera-pay')].map((link) => [
          link.closest('aside') !== null,
          ...['href', 'rel', 'target', 'aria-label'].map((name) => link.getAttribute(name)),
          link.textContent,
        ])
      },
      [post, service, payments, ''],
    )
    const [rel, target] = ['noopener noreferrer', '_blank']
    expect(found).toEqual([
      [true, `${service}/l/abcdefghj1`, rel, target, '付款：Cat stickers', '付款'],
      [false, `${service}/l/abcdefghj2`, rel, target, '付款：Lanterns – 25 points', '付款'],
      [false, `${payments}/l/abcdefghj3`, rel, target, '付款：of the payments’ address', '付款'],
    ])
    expect(asked.filter((url) => !url.startsWith('data:'))).toEqual([])
    await context.close()
  })

  it('the composer opens the member’s own links in a new tab', async () => {
    const { context, page } = await openPage()
    await context.route(`${service}/**`, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<title>links</title>' }),
    )
    const opened = context.waitForEvent('page')
    await page.evaluate((address) => {
      const { library } = window as unknown as { library: Library }
      for (const wrong of ['', 'javascript:alert(1)']) library.openOwnLinks(wrong)
      library.openOwnLinks(address)
    }, `${service}/`)
    const tab = await opened
    await tab.waitForURL(`${service}/payment/links`)
    expect(await tab.evaluate(() => window.opener)).toBeNull()
    expect(context.pages()).toHaveLength(2)
    await context.close()
  })
})

describe('the archive of the theme', () => {
  it('is a tar of the component with the address of this service', async () => {
    const { test, close } = await startForumWorld()
    const admin = await (await makePerson(test, { is_admin: true })).signIn()
    expect((await admin.get('/admin/forum')).body).toContain(messages.en.console.forum.themeDownload)
    const cookies = [...admin.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await test.app.inject({
      url: '/admin/forum/tessera-theme.tar.gz',
      headers: { cookie: cookies },
    })
    await close()
    expect(answer.statusCode).toBe(200)
    const tar = gunzipSync(answer.rawPayload)
    const listed = spawnSync('tar', ['-tf', '-'], { input: tar, encoding: 'utf8' })
    expect(listed.stderr).toBe('')
    expect(listed.stdout.trim().split('\n')).toEqual([
      'tessera-theme/about.json',
      'tessera-theme/settings.yml',
      'tessera-theme/locales/en.yml',
      'tessera-theme/locales/zh_CN.yml',
      'tessera-theme/javascripts/discourse/lib/tessera-wallet.js',
      'tessera-theme/javascripts/discourse/api-initializers/tessera.gjs',
    ])
    const read = (name: string) =>
      spawnSync('tar', ['-xOf', '-', `tessera-theme/${name}`], { input: tar, encoding: 'utf8' }).stdout
    expect(read('settings.yml')).toContain(
      `service_url:\n  type: string\n  default: ${JSON.stringify(test.deps.config.PUBLIC_URL)}\npayment_url:\n  type: string\n  default: ""\n`,
    )
    expect(read('javascripts/discourse/lib/tessera-wallet.js')).toBe(await readFile(LIBRARY, 'utf8'))
  })

  const settingsOf = async (hasTips: boolean) => {
    const addresses = { PUBLIC_URL: 'https://a.example.test', PAYMENT_PUBLIC_URL: 'https://b.example.test' }
    return spawnSync('tar', ['-xOf', '-', 'tessera-theme/settings.yml'], {
      input: gunzipSync(await themeArchive(addresses, hasTips)),
      encoding: 'utf8',
    }).stdout
  }

  it('has tip links on while tips are on, and off before', async () => {
    expect(await settingsOf(true)).toContain('show_tips:\n  type: bool\n  default: true\n')
    expect(await settingsOf(false)).toContain('show_tips:\n  type: bool\n  default: false\n')
  })

  it('has the address of the payments where it is another one', async () => {
    const settings = await settingsOf(false)
    expect(settings.match(/default: "[^"]*"/g)).toEqual([
      'default: "https://a.example.test"',
      'default: "https://b.example.test"',
    ])
  })

  it('has an adapter of fewer than 100 lines', async () => {
    const adapter = await readFile(join(FOLDER, 'javascripts/discourse/api-initializers/tessera.gjs'), 'utf8')
    expect(adapter.split('\n').length).toBeLessThan(100)
  })
})

const isMissing = !existsSync(join(FOLDER, 'node_modules'))
const isLeft = process.env.THEME !== 'true' || (isMissing && process.env.CI !== 'true')

describe.skipIf(isLeft)('the adapter (THEME=true, with npm ci in its folder)', () => {
  const run = (...script: string[]) =>
    spawnSync('npm', ['run', '--silent', ...script], { cwd: FOLDER, encoding: 'utf8' })

  it('is compiled by Ember’s own compiler', () => {
    const { stdout, stderr, status } = run('build')
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain('createTemplateFactory')
  })

  it('has the types of the forum', () => {
    const { stdout, status } = run('types')
    expect([status, stdout]).toEqual([0, ''])
  })
})
