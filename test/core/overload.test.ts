/**
 * More concurrent requests than a process accepts: the refusals of each door, and their effect on other requests.
 * spec/limits 2.3 and spec/pages 3.3.
 */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ShopWorld, startShopWorld } from '../faults/world.ts'
import { cookieHeader } from '../harness/browser.ts'
import { makePerson } from '../harness/cast.ts'
import { freePort } from '../harness/free-port.ts'
import { type Fields, makeShop, send } from '../harness/gateway-shop.ts'
import { browser, createDatabase, HTML, useTestApp } from '../harness/harness.ts'
import { type Answer, merchantSign } from '../harness/merchant.ts'
import { rowsOf } from '../harness/rows.ts'
import { until } from '../harness/waiting.ts'

const PLACES = 16

const test = await useTestApp({
  REQUESTS_AT_ONCE_MAX: String(PLACES),
  METRICS_PORT: String(await freePort()),
})
const shop = await makeShop(test)
const alice = await makePerson(test, { points: 1_000n })
const cookie = cookieHeader(await alice.signIn())
await test.app.listen({ port: 0 })
const port = (test.app.server.address() as { port: number }).port

/** Locks these tables during the act, so requests that need them wait. */
function whileLocked<T>(tables: string[], act: () => Promise<T>): Promise<T> {
  return test.db.transaction().execute(async (tx) => {
    await sql`lock table ${sql.join(tables.map(sql.table))} in access exclusive mode`.execute(tx)
    return act()
  })
}

async function figure(name: 'tessera_http_requests_in_hand' | 'tessera_overload_refusals_total') {
  const { text } = await test.deps.metrics!.scrape()
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)![1])
}

const inHand = (count: number) => until(async () => (await figure('tessera_http_requests_in_hand')) === count)

let ordered = 0
function newOrder(): Fields {
  ordered += 1
  return { amount: '7', description: 'Tea', order_id: `order-${ordered}` }
}

const get = (url: string, headers: Record<string, string> = {}) => test.app.inject({ url, headers })
const form = (path: string, fields: Fields) => send(test, 'POST', path, fields)

describe('a process that has as many requests in hand as it may', () => {
  /** The tables that any request reads first. */
  const TABLES = ['payment_apps', 'oauth_apps', 'sessions', 'access_tokens', 'site_settings']
  const trade = (): Fields => ({
    pid: shop.pidText,
    type: 'alipay',
    out_trade_no: `trade-${ordered++}`,
    name: 'Mug',
    money: '1.00',
    notify_url: 'https://shop.example/notify',
  })
  const DOORS: [string, () => ReturnType<typeof get>, unknown][] = [
    [
      'the HMAC API',
      () => form(`/payment/pay/${shop.payment_id}/process`, newOrder()),
      { success: false, errors: [{ code: 1503, detail: 'Too many requests at once' }], data: null },
    ],
    ['the gateway, V1', () => form('/payment/api/mapi.php', shop.signMd5(trade())), { code: -1 }],
    ['the gateway, V2', () => form('/payment/api/pay/create', shop.signRsa(trade())), { code: -1 }],
    ['the token endpoint', () => form('/oauth2/token', {}), { error: 'temporarily_unavailable' }],
    ['userinfo', () => get('/oauth2/userinfo'), { error: 'temporarily_unavailable' }],
    ['the registry', () => get('/api/apps'), { error: 'temporarily_unavailable' }],
    ['the webhook of the forum', () => form('/forum/webhook', {}), { error: 'overloaded' }],
    ['a page, for a script', () => get('/account'), { error: 'overloaded', request_id: expect.any(String) }],
    ['an address where nothing is', () => get('/nowhere'), { error: 'overloaded' }],
  ]
  const PAGES: [string, () => ReturnType<typeof get>][] = [
    ['a page', () => get('/account', { accept: HTML, cookie })],
    ['the pay page', () => get('/payment/pay/txn_aaaaaaaaaaaaaaaaaaaaaaaa', { accept: HTML, cookie })],
    ['the authorization page', () => get('/oauth2/auth?client_id=x', { accept: HTML, cookie })],
    [
      'what a shop’s buyer is sent to',
      () => get(`/payment/api/submit.php?${new URLSearchParams(shop.signMd5(trade()))}`, { accept: HTML }),
    ],
  ]

  it('sends others back at once, in their door’s words, without the database', async () => {
    const before = await figure('tessera_overload_refusals_total')
    const answers: Promise<Answer>[] = []
    await whileLocked(TABLES, async () => {
      for (let n = 0; n < PLACES; n += 1) answers.push(shop.process(newOrder()))
      await inHand(PLACES)
      for (const [door, ask, body] of DOORS) {
        const refused = await ask()
        expect([door, refused.statusCode, refused.headers['retry-after']]).toEqual([door, 503, '1'])
        expect(refused.headers['x-request-id']).toMatch(/^req-/)
        expect(refused.json()).toMatchObject(body as object)
      }
      for (const [page, ask] of PAGES) {
        const refused = await ask()
        expect([page, refused.statusCode, refused.headers['retry-after']]).toEqual([page, 503, '1'])
        expect(refused.headers['content-type']).toBe('text/html; charset=utf-8')
        expect(refused.body).toContain(`<code>${refused.headers['x-request-id']}</code>`)
      }
    })
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200)
    expect((await shop.process(newOrder())).status).toBe(200)
    await inHand(0)
    const refused = (await figure('tessera_overload_refusals_total')) - before
    expect(refused).toBe(DOORS.length + PAGES.length)
  })

  it('still says how it is, and gives out what costs nothing', async () => {
    const [, stylesheet] = /href="(\/assets\/[^"]+\.css)"/.exec(
      (await get('/sign-in', { accept: HTML })).body,
    )!
    const paths = ['/healthz', '/readyz', '/.well-known/openid-configuration', '/oauth2/jwks', stylesheet!]
    const answers: Promise<Answer>[] = []
    await whileLocked(['payment_apps'], async () => {
      for (let n = 0; n < PLACES; n += 1) answers.push(shop.process(newOrder()))
      await inHand(PLACES)
      for (const path of paths) expect([path, (await get(path)).statusCode]).toEqual([path, 200])
    })
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200)
  })
})

describe('signing in, which is slow', () => {
  it('takes a quarter of the places, so a flood stops no payment', async () => {
    const signIns: Promise<{ status: number; headers: object }>[] = []
    const { username, password } = alice
    const signIn = async () => {
      const client = browser(test)
      return client.submit(await client.get('/sign-in'), '/sign-in', { username, password })
    }
    await whileLocked(['sign_in_attempts'], async () => {
      for (let n = 0; n < PLACES / 4; n += 1) signIns.push(signIn())
      await inHand(PLACES / 4)
      expect(await signIn()).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
      expect((await shop.process(newOrder())).status).toBe(200)
      expect((await get('/account', { accept: HTML, cookie })).statusCode).toBe(200)
    })
    for (const { status } of await Promise.all(signIns)) expect(status).toBe(303)
    expect((await signIn()).status).toBe(303)
    await inHand(0)
  })
})

describe('a place', () => {
  const open = new Set<Socket>()
  /** Sends this text on a connection of its own. */
  async function say(text: string): Promise<Socket> {
    const socket = connect(port, '127.0.0.1')
    open.add(socket)
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(text)
    return socket
  }
  const hangUp = () => {
    for (const socket of open) socket.destroy()
    open.clear()
  }
  const asText = (fields: Fields) => {
    const signed = { ...fields, signature: merchantSign(shop.token, fields) }
    const body = new URLSearchParams(signed).toString()
    return `POST /payment/pay/${shop.payment_id}/process HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  }

  it('is not held by who sends no body', async () => {
    const head = asText(newOrder()).slice(0, -1)
    const begun: IncomingMessage[] = []
    const note = (request: IncomingMessage) => begun.push(request)
    test.app.server.on('request', note)
    await Promise.all(Array.from({ length: 3 * PLACES }, () => say(head)))
    // Each request has passed every check before its body is read, and its last byte is still missing.
    const isRead = (request: IncomingMessage) => request.listenerCount('data') > 0
    await until(() => begun.filter(isRead).length === 3 * PLACES)
    test.app.server.off('request', note)
    expect((await shop.process(newOrder())).status).toBe(200)
    hangUp()
    await inHand(0)
  })

  it('is given back by leaving callers, singly or on one connection', async () => {
    await whileLocked(['payment_apps'], async () => {
      for (let n = 0; n < PLACES / 2; n += 1) await say(asText(newOrder()))
      await say(Array.from({ length: PLACES / 2 }, () => asText(newOrder())).join(''))
      await inHand(PLACES)
      hangUp()
      await until(async () => (await get('/sign-in', { accept: HTML })).statusCode === 200)
    })
    await inHand(0)
    expect((await shop.process(newOrder())).status).toBe(200)
  })

  it('keeps the address of a caller who has left', async () => {
    await whileLocked(['payment_apps'], async () => {
      await say(asText(newOrder()).replace('amount=7', 'amount=8'))
      await inHand(1)
      hangUp()
      await inHand(0)
    })
    const kept = () => rowsOf(test, 'refused_requests', { app_id: shop.id })
    await until(async () => (await kept()).length > 0)
    expect(await kept()).toMatchObject([{ code: 'invalid_signature', address: '127.0.0.1' }])
  })
})

describe('ten times as many callers as places, on a real process', () => {
  const CALLERS = 10 * PLACES
  /** The share of Retry-After that callers wait, to save time. */
  const HASTE = 0.1

  let database: Awaited<ReturnType<typeof createDatabase>>
  let dataDir: string
  let world: ShopWorld

  beforeAll(async () => {
    database = await createDatabase()
    dataDir = await mkdtemp(join(tmpdir(), 'tessera-overload-'))
    world = await startShopWorld(database.url, dataDir, { REQUESTS_AT_ONCE_MAX: String(PLACES) })
  })
  afterAll(async () => {
    await world.close()
    await database.drop()
    await rm(dataDir, { recursive: true })
  })

  it('are refused first, all served at last, and lose nothing acknowledged', async () => {
    const { shop, url, withDatabase } = world
    let refusals = 0
    const initiate = async (n: number): Promise<string> => {
      const fields = { amount: '1', description: 'Tea', order_id: `rush-${n}` }
      const body = new URLSearchParams({ ...fields, signature: merchantSign(shop.token, fields) })
      for (;;) {
        const answer = await fetch(`${url}/payment/pay/${shop.payment_id}/process`, { method: 'POST', body })
        const said = (await answer.json()) as { transaction_id: string }
        if (answer.status === 200) return said.transaction_id
        expect([answer.status, said]).toEqual([503, expect.objectContaining({ success: false })])
        refusals += 1
        // Each caller waits a little longer than the one before, so they do not all come back together.
        await sleep(Number(answer.headers.get('retry-after')) * 1_000 * HASTE + n)
      }
    }
    let rush: Promise<string[]> | undefined
    // While no request can be served, the places fill, and all others get a refusal.
    await withDatabase((db) =>
      db.transaction().execute(async (tx) => {
        await sql`lock table payment_apps in access exclusive mode`.execute(tx)
        rush = Promise.all(Array.from({ length: CALLERS }, (_, n) => initiate(n)))
        // The awaiting code reports the error.
        rush.catch(() => {})
        await until(() => refusals >= CALLERS - PLACES)
        expect((await fetch(`${url}/healthz`)).status).toBe(200)
      }),
    )
    const acknowledged = await rush!
    // The first attempt succeeds, because the other callers are gone.
    expect(await world.initiate({ order_id: 'after', amount: '1' })).toMatchObject({ status: 200, tries: 1 })
    const kept = await withDatabase((db) =>
      db.selectFrom('orders').where('order_id', 'like', 'rush-%').select('transaction_id').execute(),
    )
    expect(kept.map(({ transaction_id }) => transaction_id).sort()).toEqual(acknowledged.sort())
  })
})
