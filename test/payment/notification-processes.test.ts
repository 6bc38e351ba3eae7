/**
 * Notifications by real processes: two drain them at once, one takes over from a killed one, and an orderly stop
 * keeps them. NOTIFICATIONS sets the number that two processes drain (default 1 000).
 */
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { newMerchantKey, storeKey } from '../../src/payment/signing/keys.ts'
import { LOWER_ALNUM, randomText } from '../../src/platform/secrets.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { startTestApp, type TestApp } from '../harness/harness.ts'
import { type Merchant, makeMerchant } from '../harness/merchant.ts'
import { makeGatewayOrders, type Receiver, startReceiver, succeed } from '../harness/notify-receiver.ts'
import { type ServerProcess, startServer, stopServer } from '../harness/server-process.ts'
import { until } from '../harness/waiting.ts'

const COUNT = Number(process.env.NOTIFICATIONS ?? 1_000)
/** With this many, one process with its 256 concurrent attempts always leaves some to another. */
const APPS = 10
const HOSTS = Array.from({ length: 20 }, (_, i) => `127.0.0.${i + 1}`)
const HOST_MAX = 16
const BATCH = 500
const HOUR_MS = 3_600_000

let test: TestApp
let merchant: Merchant
let buyer: Person
let receiver: Receiver
const running: ServerProcess[] = []
beforeAll(async () => {
  test = await startTestApp({ NOTIFY_ALLOW_CIDRS: '127.0.0.0/8' })
  // The processes use the real clock.
  test.clock.advance(Date.now() - test.clock.now().getTime())
  merchant = await makeMerchant(test)
  buyer = await makePerson(test, { points: 100n * BigInt(COUNT + 100) })
  receiver = await startReceiver({ host: '0.0.0.0' })
})
afterAll(async () => {
  for (const server of running) await stopServer(server, 'SIGKILL')
  await test.close()
  await merchant.close()
  await receiver.close()
})

async function start(): Promise<ServerProcess> {
  const { DATABASE_URL, APP_SECRET } = test.deps.config
  const server = await startServer({
    DATABASE_URL: DATABASE_URL!,
    APP_SECRET: APP_SECRET!,
    NOTIFY_ALLOW_CIDRS: '127.0.0.0/8',
    LOG_LEVEL: 'debug',
  })
  running.push(server)
  return server
}

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

async function payOrders(
  host: string,
  path: string,
  count: number,
  app = merchant as { id: bigint; pid: bigint },
) {
  const pay = makePayOrder(test.deps)
  const notify_url = `http://${host}:${receiver.port}${path}`
  const ids = await makeGatewayOrders(test, app, { notify_url, count })
  for (let first = 0; first < count; first += BATCH)
    await Promise.all(
      ids
        .slice(first, first + BATCH)
        .map((transaction_id) => pay({ transaction_id, payer_id: buyer.id, expected_amount: 100n })),
    )
  return ids
}

const rowsOf = (transaction_ids: string[]) =>
  test.db
    .selectFrom('notifications')
    .innerJoin('orders', 'orders.id', 'notifications.order_id')
    .where('orders.transaction_id', 'in', transaction_ids)
    .select(['notifications.id', 'notifications.status', 'notifications.claims', 'claimed_until'])
    .execute()

/** The requests that the receiver got under a path. */
const sentTo = (path: string) => receiver.received.filter((request) => request.path === path)

describe('two processes', () => {
  it('drain what is due with 16 at once per host together', async () => {
    const apps = [merchant, ...(await Promise.all(Array.from({ length: APPS - 1 }, makeApp)))]
    test.clock.advance(HOUR_MS)
    for (const [i, host] of HOSTS.entries())
      await payOrders(host, '/drain', COUNT / HOSTS.length, apps[i % apps.length])
    test.clock.advance(-HOUR_MS)
    const open = new Map<string, number>()
    let most = 0
    const both = Promise.withResolvers<void>()
    const agents = new Set<string>()
    receiver.answer = async ({ headers }, response) => {
      const host = headers.host!
      open.set(host, (open.get(host) ?? 0) + 1)
      most = Math.max(most, open.get(host)!)
      if (agents.add(headers['user-agent']!).size === 2) both.resolve()
      await both.promise
      open.set(host, open.get(host)! - 1)
      response.end('success')
    }
    const servers = await Promise.all([start(), start()])
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
    expect(agents.size).toBe(2)
    expect(most).toBeLessThanOrEqual(HOST_MAX)
    for (const server of servers) expect(await stopServer(server, 'SIGTERM')).toBe(0)
    const logs = servers.map((server) => server.output()).join('')
    for (const secret of ['/drain', sent[0]!.fields.sign!, sent[0]!.fields.trade_no!])
      expect(logs).not.toContain(secret)
  })
})

describe('a process', () => {
  /** Pays an order whose receiver does not answer yet. */
  async function payHeld(path: string) {
    const held = Promise.withResolvers<ServerResponse>()
    receiver.answer = (_, response) => held.resolve(response)
    const ids = await payOrders(HOSTS[0]!, path, 1)
    return { ids, response: await held.promise }
  }

  it('killed in the middle of an attempt leaves it to another', async () => {
    const server = await start()
    const { ids } = await payHeld('/killed')
    await stopServer(server, 'SIGKILL')
    receiver.answer = succeed
    test.deps.notifier.start(test.app.log)
    test.clock.advance(Date.now() - test.clock.now().getTime() + 120_000)
    test.deps.notifier.nudge()
    await until(async () => (await rowsOf(ids))[0]!.status === 'delivered')
    expect(sentTo('/killed')).toHaveLength(2)
    const [row] = await rowsOf(ids)
    const attempts = await test.db
      .selectFrom('notification_attempts')
      .where('notification_id', '=', row!.id)
      .orderBy('claim')
      .select('outcome')
      .execute()
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['interrupted', 'delivered'])
    await test.deps.notifier.stop()
  })

  it('told to stop in the middle of an attempt ends it first', async () => {
    test.clock.advance(Date.now() - test.clock.now().getTime())
    const server = await start()
    const { ids, response } = await payHeld('/stopped')
    const ended = stopServer(server, 'SIGTERM')
    await until(() =>
      fetch(server.url).then(
        () => false,
        () => true,
      ),
    )
    expect(server.child.exitCode).toBe(null)
    response.end('success')
    expect(await ended).toBe(0)
    expect(await rowsOf(ids)).toMatchObject([{ status: 'delivered', claims: 1, claimed_until: null }])
    expect(sentTo('/stopped')).toHaveLength(1)
  })
})
