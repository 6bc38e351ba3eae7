/**
 * The figures of an application: by day and week in China, by product, and the time that its shop takes to confirm.
 */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { poolUse } from '../../src/database/connection.ts'
import { latencyOf, periodsOf, topProducts } from '../../src/payment/merchant/statistics.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { refundOrder } from '../../src/payment/orders/refunds.ts'
import { barChart } from '../../src/web/bar-chart.ts'
import { makePerson, type Person, signIn } from '../harness/cast.ts'
import { anotherProcess, startTestApp, type TestApp } from '../harness/harness.ts'
import { type Merchant, makeMerchant } from '../harness/merchant.ts'
import { makeGatewayOrders } from '../harness/notify-receiver.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

let test: TestApp
let shop: Merchant
let buyer: Person
beforeAll(async () => {
  test = await startTestApp()
  shop = await makeMerchant(test)
  buyer = await makePerson(test, { points: 100_000n })
})
afterAll(async () => {
  await shop.close()
  await test.close()
})

let count = 0
async function order(description: string, amount: string, isPaid: boolean) {
  const { body } = await shop.process({ description, amount, order_id: `figure-${++count}` })
  const transaction_id = String(body.transaction_id)
  const pay = { transaction_id, payer_id: buyer.id, expected_amount: BigInt(amount) }
  if (isPaid) expect(await makePayOrder(test.deps)(pay)).toBe('paid')
  return transaction_id
}
/** Moves the clock to the next moment with this hour in UTC. */
function goTo(hour: number, minute = 0) {
  const now = test.clock.now().getTime()
  const passed = (now - (hour * 60 + minute) * 60_000) % DAY_MS
  test.clock.advance((DAY_MS - passed) % DAY_MS)
}

it('orders count on the day in China on which they were created', async () => {
  goTo(15, 29)
  const first = await order('Tea', '100', true)
  await order('Tea', '100', false)
  goTo(16)
  await order('Coffee', '300', true)
  await order('Tea', '50', true)
  const open = await order('Cake', '1000', false)
  const admin = await makePerson(test, { is_admin: true })
  const refund = { amount: 40n, with_fee: true, key: 'figures', reason: 'Cold', actor_id: admin.id, ip: '' }
  await refundOrder(test.deps, { ...refund, transaction_id: first })

  const now = test.clock.now()
  const days = await periodsOf(test.db, shop.id, { unit: 'day', now })
  expect(days).toHaveLength(30)
  expect(days.at(-1)!.begins).toBe(new Date(now.getTime() + 8 * HOUR_MS).toISOString().slice(0, 10))
  expect(days.slice(-3)).toMatchObject([
    { orders: 0, paid: 0, settled: 0, points: 0n, merchant_points: 0n, refunded: 0n },
    { orders: 2, paid: 1, settled: 2, points: 100n, merchant_points: 95n, refunded: 40n },
    { orders: 3, paid: 2, settled: 2, points: 350n, merchant_points: 333n, refunded: 0n },
  ])
  const weeks = await periodsOf(test.db, shop.id, { unit: 'week', now })
  expect(weeks).toHaveLength(12)
  for (const { begins } of weeks) expect(new Date(begins).getUTCDay()).toBe(1)
  expect(weeks.reduce((sum, { orders }) => sum + orders, 0)).toBe(5)
  expect(await topProducts(test.db, shop.id, days[0]!.begins)).toEqual([
    { description: 'Coffee', paid: 1, points: 300n },
    { description: 'Tea', paid: 2, points: 150n },
  ])
  expect(await topProducts(test.db, shop.id, days.at(-1)!.begins)).toMatchObject([{ paid: 1 }, { paid: 1 }])
  expect(open).toMatch(/^txn_/)
})

it('a shop confirms after the payment, on average and at once', async () => {
  expect(await latencyOf(test.db, shop.id)).toEqual({ delivered: 0, at_once: 0, average_ms: null })
  const orders = await makeGatewayOrders(test, shop, { notify_url: 'https://shop.example.org/n', count: 3 })
  for (const [i, transaction_id] of orders.entries()) {
    await makePayOrder(test.deps)({ transaction_id, payer_id: buyer.id, expected_amount: 100n })
    // The third is not confirmed. The second was confirmed at its second attempt, a minute later.
    const { id: notification_id } = await test.db
      .updateTable('notifications')
      .from('orders')
      .whereRef('orders.id', '=', 'notifications.order_id')
      .where('orders.transaction_id', '=', transaction_id)
      .set(i === 2 ? { attempts: 1 } : { status: 'delivered', next_attempt_at: null, attempts: i + 1 })
      .returning('notifications.id')
      .executeTakeFirstOrThrow()
    const started_at = new Date(test.clock.now().getTime() + i * 60_000)
    const outcome = i === 2 ? ('timeout' as const) : ('delivered' as const)
    await test.db
      .insertInto('notification_attempts')
      .values({ notification_id, claim: i + 1, url: null, started_at, duration_ms: 500, outcome })
      .execute()
  }
  expect(await latencyOf(test.db, shop.id)).toEqual({ delivered: 2, at_once: 1, average_ms: 30_500 })
})

it('the page shows them to the team, and to nobody else', async () => {
  const page = `/payment/applications/${shop.payment_id}/statistics`
  const owner = await shop.owner.signIn()
  const { status, body } = await owner.get(page)
  expect(status).toBe(200)
  expect(body.match(/<svg class="chart"[^>]*role="img"/g)).toHaveLength(2)
  expect(body.match(/<tr><th scope="row">/g)).toHaveLength(30)
  expect(body).toContain('31 s')
  expect((await owner.get(`${page}?by=week`)).body.match(/<tr><th scope="row">/g)).toHaveLength(12)
  expect((await owner.get(`${page}?by=century`)).status).toBe(200)
  const stranger = await (await makePerson(test)).signIn()
  expect((await stranger.get(page)).status).toBe(404)
})

it('a crowd asking for figures waits in line with one connection', async () => {
  const process = await anotherProcess(test)
  const owner = await signIn(process, shop.owner.username, shop.owner.password)
  const pages = ['statistics', 'orders/export'].map(
    (end) => `/payment/applications/${shop.payment_id}/${end}`,
  )
  const statuses: number[] = []
  const crowd = await test.db.transaction().execute(async (tx) => {
    await sql`lock table orders in access exclusive mode`.execute(tx)
    const asking = Array.from({ length: 20 }, async (_, i) =>
      statuses.push((await owner.get(pages[i % 2]!)).status),
    )
    // Four statements wait, the first of them for the table, and the others for a connection.
    await vi.waitUntil(() => statuses.length === 16, { timeout: 20_000 })
    await vi.waitUntil(() => poolUse(process.db).open - poolUse(process.db).idle === 1, { timeout: 20_000 })
    expect(poolUse(process.db).waiting).toBe(0)
    expect((await owner.get('/payment/applications/new-nowhere')).status).toBe(404)
    return { asking }
  })
  await Promise.all(crowd.asking)
  expect(statuses.toSorted()).toEqual([...new Array(4).fill(200), ...new Array(16).fill(503)])
  await process.close()
})

it('bars are as high as what they stand for', () => {
  const { top, whole, part, viewBox } = barChart([
    { whole: 30, part: 10 },
    { whole: 0, part: 0 },
  ])
  expect({ top, viewBox }).toEqual({ top: 50, viewBox: '0 0 600 160' })
  expect({ whole, part }).toEqual({ whole: 'M42 160v-96h216v96z', part: 'M42 160v-32h216v32z' })
  expect(barChart([{ whole: 0, part: 0 }]).top).toBe(1)
  expect(barChart([{ whole: 1000, part: 0 }]).top).toBe(1000)
})
