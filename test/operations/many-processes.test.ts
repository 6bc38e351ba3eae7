/**
 * Two processes of the service over one Postgres behave as one. A balancer gives each request to the next process,
 * and pgbouncer in transaction mode is before the database if it is installed. Their workers deliver together, an orderly
 * stop ends a delivery, and another process takes over those of a killed one.
 */
import { createServer, request as forward, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { newMerchantKey, storeKey } from '../../src/payment/signing/keys.ts'
import { LOWER_ALNUM, randomText } from '../../src/platform/secrets.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { freePort } from '../harness/free-port.ts'
import { APP_SECRET } from '../harness/global-setup.ts'
import { browser, setSetting, type TestApp, useTestApp } from '../harness/harness.ts'
import { makeMerchant, merchantSign, post } from '../harness/merchant.ts'
import { makeGatewayOrders, startReceiver, succeed } from '../harness/notify-receiver.ts'
import { hasPgbouncer, startPgbouncer } from '../harness/pgbouncer.ts'
import { type ServerProcess, startServer, stopServer } from '../harness/server-process.ts'
import { times } from '../harness/thoroughness.ts'
import { until } from '../harness/waiting.ts'
import {
  authorize,
  exchange,
  getJson,
  makeParty,
  obtainTokens,
  postForm,
  redeem,
  refresh,
} from '../identity/relying-party.ts'

const PROCESSES = 2
/** The notifications that both drain. One process has 256 attempts under way at most, and leaves the rest to the other. */
const COUNT = times(1_000, 400)
const UNDER_WAY_MAX = 256
/** An application and a host each have few attempts under way. */
const APPS = 10
const HOSTS = Array.from({ length: 20 }, (_, i) => `127.0.0.${i + 1}`)
const HOST_MAX = 16
const PAYMENTS_AT_ONCE = 500

let pooler: { url: string; stop: () => Promise<void> } | undefined
let balancer: { stop: () => Promise<void> }
/** Both behind the balancer, and each process by itself. */

const test = await useTestApp({ NOTIFY_ALLOW_CIDRS: '127.0.0.0/8' })
// The processes use the real clock.
test.clock.advance(Date.now() - test.clock.now().getTime())
const url = test.deps.config.DATABASE_URL!
pooler = hasPgbouncer ? await startPgbouncer(url) : undefined
const port = await freePort()
const env = {
  DATABASE_URL: pooler?.url ?? url,
  APP_SECRET,
  DATA_DIR: tmpdir(),
  PUBLIC_URL: `http://127.0.0.1:${port}`,
  TRUST_PROXY: '127.0.0.1',
  DATABASE_POOL_MAX: '6',
  NOTIFY_ALLOW_CIDRS: '127.0.0.0/8',
  LOG_LEVEL: 'debug',
}
const merchant = await makeMerchant(test)
const receiver = await startReceiver({ host: '0.0.0.0' })
const servers = await Promise.all(Array.from({ length: PROCESSES }, () => startServer(env)))
balancer = await startBalancer(
  port,
  servers.map((server) => server.url),
)
const together = { ...test, app: appAt(`http://127.0.0.1:${port}`) }
const each = servers.map((server) => ({ ...test, app: appAt(server.url) }))
afterAll(async () => {
  await balancer.stop()
  for (const server of servers) await stopServer(server, 'SIGKILL')
  expect(servers.map((server) => server.output().match(/"level":(?:50|60).*/g)).filter(Boolean)).toEqual([])
  await receiver.close()
  await pooler?.stop()
})

/** A balancer on one port, which gives requests to the processes in turn. */
async function startBalancer(port: number, urls: string[]): Promise<{ stop: () => Promise<void> }> {
  let turn = 0
  const server = createServer((request, response) => {
    const target = new URL(request.url!, urls[turn++ % urls.length])
    const headers = { ...request.headers, 'x-forwarded-for': request.socket.remoteAddress }
    const onward = forward(target, { method: request.method!, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.rawHeaders)
      answer.pipe(response)
    })
    onward.on('error', () => response.writeHead(502).end())
    request.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  expect((server.address() as AddressInfo).port).toBe(port)
  return {
    stop: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** Sends the requests of the tests' functions over real HTTP. */
function appAt(url: string): FastifyInstance {
  const inject = async (given: string | InjectOptions) => {
    const { method = 'GET', url: path, headers, payload } = typeof given === 'string' ? { url: given } : given
    const response = await fetch(url + String(path), {
      method,
      redirect: 'manual',
      headers: headers as Record<string, string>,
      ...(payload === undefined ? {} : { body: payload as string }),
    })
    const body = await response.text()
    return {
      statusCode: response.status,
      headers: { ...Object.fromEntries(response.headers), 'set-cookie': response.headers.getSetCookie() },
      body,
      json: () => JSON.parse(body),
    }
  }
  return { inject } as unknown as FastifyInstance
}

const repeat = <T>(count: number, act: () => Promise<T>) => Promise.all(Array.from({ length: count }, act))

describe('two processes behind a balancer', () => {
  it('know one session, its forms, and its end', async () => {
    const { username, password } = await makePerson(test)
    const member = browser(together)
    const page = await member.get('/sign-in')
    expect((await member.submit(page, '/sign-in', { username, password })).status).toBe(303)
    const pages = await repeat(2 * PROCESSES, () => member.get('/account'))
    expect(pages.map(({ status }) => status)).toEqual(pages.map(() => 200))
    // A thief keeps the cookies that the browser forgets.
    const cookies = [...member.cookies]
    expect((await member.submit(pages[0]!, '/sign-out')).status).toBe(303)
    for (const one of each) {
      const visitor = browser(one)
      for (const [name, value] of cookies) visitor.cookies.set(name, value)
      expect((await visitor.get('/account')).status).toBe(303)
    }
  })

  it('count the guesses at an account together', async () => {
    const { username } = await makePerson(test)
    const visitor = browser(together)
    const page = await visitor.get('/sign-in')
    const guess = () => visitor.submit(page, '/sign-in', { username, password: 'a guess' })
    for (let guesses = 0; guesses < 10; guesses += 1) expect((await guess()).status).toBe(401)
    const answers = await repeat(PROCESSES, guess)
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 429))
  })

  it('redeem a code once, refresh each other’s, and forget a token together', async () => {
    const party = await makeParty(test)
    const member = await makePerson(together).then((person) => person.signIn())
    const { code } = await authorize(member, party)
    const { body: tokens } = await exchange(together, party, code)
    const userinfo = (access_token: unknown) =>
      Promise.all(
        each.map((one) => getJson(one, '/oauth2/userinfo', { authorization: `Bearer ${access_token}` })),
      )
    expect((await userinfo(tokens.access_token)).map(({ status }) => status)).toEqual([200, 200])
    const { status, body: fresh } = await refresh(together, party, tokens.refresh_token)
    expect(status).toBe(200)
    const { client_id, client_secret } = party
    await postForm(together, '/oauth2/revoke', {
      client_id,
      client_secret,
      token: fresh.refresh_token as string,
    })
    expect((await userinfo(fresh.access_token)).map((answer) => answer.status)).toEqual([401, 401])

    const { code: another } = await authorize(member, party)
    const fields = {
      grant_type: 'authorization_code',
      code: another,
      redirect_uri: party.redirect_uri,
    }
    const answers = await repeat(2 * PROCESSES, () => redeem(together, party, fields))
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1)
    const sets = await Promise.all(each.map((one) => getJson(one, '/oauth2/jwks')))
    expect(new Set(sets.map(({ body }) => JSON.stringify(body))).size).toBe(1)
  })

  it('make an order once, charge it once, and soon follow a setting', async () => {
    const buyer = await makePerson(together, { points: 1_000n })
    const client = await buyer.signIn()
    const sign = (fields: Record<string, string>) => ({
      ...fields,
      signature: merchantSign(merchant.token, fields),
    })
    const fields = sign({ amount: '100', description: 'Tea', order_id: 'one-of-many' })
    const path = `/payment/pay/${merchant.payment_id}/process`
    const orders = await repeat(3 * PROCESSES, () => post(together, path, fields))
    const ids = new Set(orders.map(({ body }) => body.transaction_id))
    expect(ids.size).toBe(1)
    const here = `/payment/pay/${[...ids][0]}`
    const page = await client.get(here)
    const paid = await repeat(2 * PROCESSES, () => client.submit(page, here))
    expect(paid.map(({ status }) => status)).toEqual(paid.map(() => 303))
    expect(await balanceOf(test.db, buyer.id)).toBe(900n)

    await setSetting(test, 'points_transfers', 'off')
    let tries = 0
    const refused = async (one: TestApp) => {
      // Each transfer is new, because a transfer that completed before the setting arrived gives its earlier answer
      // again.
      const transfer = sign({
        to_user_id: String(buyer.id),
        to_username: buyer.username,
        amount: '1',
        order_id: `try-${++tries}`,
      })
      const { body } = await post(one, `/payment/transfer/${merchant.payment_id}`, transfer)
      return JSON.stringify(body).includes('1015')
    }
    await until(async () => (await Promise.all(each.map(refused))).every(Boolean))
    await expectSoundBooks(test.db)
    await setSetting(test, 'points_transfers', 'on')
  })
})

/** Another application of the merchant, ready for notifications of V1. */
async function makeApp(): Promise<{ id: bigint; pid: bigint }> {
  const payment_id = `pay_${randomText(20, LOWER_ALNUM)}`
  return test.db.transaction().execute(async (tx) => {
    const app = await tx
      .insertInto('payment_apps')
      .values({
        payment_id,
        applicant_id: merchant.owner.id,
        name: 'Another',
        callback_url: 'https://shop.test/',
      })
      .returning(['id', 'pid'])
      .executeTakeFirstOrThrow()
    await storeKey(tx, test.deps.secrets, app.id, 'merchant_key', newMerchantKey())
    const review = {
      status: 'approved',
      reviewed_by: merchant.owner.id,
      reviewed_at: test.clock.now(),
    } as const
    await tx.updateTable('payment_apps').set(review).where('id', '=', app.id).execute()
    return app
  })
}

/** Pays new orders of an application that are notified of at this path of the host. Returns their transaction IDs. */
async function payOrders(
  buyer: Person,
  { host = HOSTS[0], path, count = 1 }: { host?: string; path: string; count?: number },
  app: { id: bigint; pid: bigint } = merchant,
): Promise<string[]> {
  const pay = makePayOrder(test.deps)
  const notify_url = `http://${host}:${receiver.port}${path}`
  const ids = await makeGatewayOrders(test, app, { notify_url, count })
  for (let first = 0; first < count; first += PAYMENTS_AT_ONCE)
    await Promise.all(
      ids
        .slice(first, first + PAYMENTS_AT_ONCE)
        .map((transaction_id) => pay({ transaction_id, payer_id: buyer.id, expected_amount: 100n })),
    )
  return ids
}

const notificationsOf = (transaction_ids: string[]) =>
  test.db
    .selectFrom('notifications')
    .innerJoin('orders', 'orders.id', 'notifications.order_id')
    .where('orders.transaction_id', 'in', transaction_ids)
    .select(['notifications.id', 'notifications.status', 'notifications.claims', 'claimed_until'])
    .execute()

/** The requests that the receiver got under a path. */
const sentTo = (path: string) => receiver.received.filter((request) => request.path === path)

describe('the workers of two processes', () => {
  let buyer: Person
  beforeAll(async () => {
    buyer = await makePerson(test, { points: 100n * BigInt(COUNT + 10) })
  })

  it('drain what is due with 16 at once per host together', async () => {
    const apps = [merchant, ...(await repeat(APPS - 1, makeApp))]
    const HOUR_MS = 3_600_000
    test.clock.advance(HOUR_MS)
    for (const [i, host] of HOSTS.entries())
      await payOrders(buyer, { host, path: '/drain', count: COUNT / HOSTS.length }, apps[i % apps.length])
    test.clock.advance(-HOUR_MS)
    const open = new Map<string, number>()
    let all = 0
    let most = 0
    const both = Promise.withResolvers<void>()
    receiver.answer = async ({ headers }, response) => {
      const host = headers.host!
      open.set(host, (open.get(host) ?? 0) + 1)
      most = Math.max(most, open.get(host)!)
      all += 1
      if (all > UNDER_WAY_MAX) both.resolve()
      await both.promise
      open.set(host, open.get(host)! - 1)
      response.end('success')
    }
    await test.db.updateTable('notifications').set({ next_attempt_at: test.clock.now() }).execute()
    const left = test.db
      .selectFrom('notifications')
      .where('status', '=', 'due')
      .select((eb) => eb.fn.countAll<bigint>().as('count'))
    await until(async () => (await left.executeTakeFirstOrThrow()).count === 0n)
    const sent = sentTo('/drain')
    expect(sent).toHaveLength(COUNT)
    expect(new Set(sent.map(({ fields }) => fields.trade_no)).size).toBe(COUNT)
    const attempts = await test.db
      .selectFrom('notification_attempts')
      .select((eb) => ['outcome', 'claim', eb.fn.countAll<bigint>().as('count')])
      .groupBy(['outcome', 'claim'])
      .execute()
    expect(attempts).toEqual([{ outcome: 'delivered', claim: 1, count: BigInt(COUNT) }])
    expect(most).toBeLessThanOrEqual(HOST_MAX)
    const logs = servers.map((server) => server.output()).join('')
    for (const secret of ['/drain', sent[0]!.fields.sign!, sent[0]!.fields.trade_no!])
      expect(logs).not.toContain(secret)
  })

  it('told to stop in the middle of an attempt end it first', async () => {
    const held = Promise.withResolvers<ServerResponse>()
    receiver.answer = (_, response) => held.resolve(response)
    const ids = await payOrders(buyer, { path: '/stopped' })
    const response = await held.promise
    const ended = servers.map((server) => stopServer(server, 'SIGTERM'))
    // The process without the attempt ends at once.
    expect(await Promise.race(ended)).toBe(0)
    const isClosed = ({ url }: ServerProcess) =>
      fetch(url).then(
        () => false,
        () => true,
      )
    await until(async () => (await Promise.all(servers.map(isClosed))).every(Boolean))
    expect(servers.filter(({ child }) => child.exitCode === null)).toHaveLength(1)
    response.end('success')
    expect(await Promise.all(ended)).toEqual([0, 0])
    const delivered = { status: 'delivered', claims: 1, claimed_until: null }
    expect(await notificationsOf(ids)).toMatchObject([delivered])
    expect(sentTo('/stopped')).toHaveLength(1)
  })

  it('killed in the middle of deliveries leave them to another', async () => {
    test.clock.advance(Date.now() - test.clock.now().getTime())
    const paths = ['/killed', '/logout']
    const held = paths.map(() => Promise.withResolvers<void>())
    receiver.answer = ({ path }) => held[paths.indexOf(path)]!.resolve()
    const server = await startServer(env)
    servers.push(server)
    const ids = await payOrders(buyer, { path: '/killed' })
    const party = await makeParty(test, {
      backchannel_logout_uri: `http://127.0.0.1:${receiver.port}/logout`,
    })
    const client = await buyer.signIn()
    await obtainTokens(test, client, party)
    await client.submit(await client.get('/'), '/sign-out')
    await Promise.all(held.map(({ promise }) => promise))
    await stopServer(server, 'SIGKILL')
    const logout = () => test.db.selectFrom('logout_deliveries').selectAll().executeTakeFirstOrThrow()
    expect(await logout()).toMatchObject({ attempts: 0, ended_at: null })

    receiver.answer = succeed
    // The leases have ended.
    test.clock.advance(Date.now() - test.clock.now().getTime() + 120_000)
    test.deps.notifier.start(test.app.log)
    test.deps.logoutSender.start(test.app.log)
    await until(async () => (await notificationsOf(ids))[0]!.status === 'delivered')
    await until(async () => (await logout()).ended_at !== null)
    expect(await logout()).toMatchObject({ outcome: 'delivered', interruptions: 0, claims: 2 })
    expect(paths.map((path) => sentTo(path).length)).toEqual([2, 2])
    const [row] = await notificationsOf(ids)
    const attempts = await test.db
      .selectFrom('notification_attempts')
      .where('notification_id', '=', row!.id)
      .orderBy('claim')
      .select('outcome')
      .execute()
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['interrupted', 'delivered'])
  })
})
