/**
 * The figures of an application: by day and week in China, by product, and the time that its shop takes to confirm.
 */
import { expect, it } from 'vitest'
import {
  lastDays,
  latencyOf,
  periodsOf,
  rangeOf,
  takingsSince,
  topProducts,
} from '../../src/payment/merchant/statistics.ts'
import { barChart } from '../../src/web/bar-chart.ts'
import { makePerson, signIn } from '../harness/cast.ts'
import { expectFairQueue } from '../harness/fair-queue.ts'
import { useTestApp } from '../harness/harness.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { makeGatewayOrders } from '../harness/notify-receiver.ts'
import { payOrder, placeOrder, refund } from '../harness/orders.ts'
import { rowOf, setRows } from '../harness/rows.ts'

const ZONE = 'Asia/Shanghai'
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const test = await useTestApp()
const shop = await makeMerchant(test)
const buyer = await makePerson(test, { points: 100_000n })

async function order(description: string, amount: string, isPaid: boolean) {
  const placed = await placeOrder(shop, { description, amount })
  if (isPaid) await payOrder(test, placed, buyer)
  return placed
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
  await order('Cake', '1000', false)
  await refund(test, first, 40n)

  const now = test.clock.now()
  const month = lastDays(ZONE, now, 30)
  const days = await periodsOf(test.db, shop.id, month, now)
  expect(days).toHaveLength(30)
  expect(days.at(-1)!.begins).toBe(new Date(now.getTime() + 8 * HOUR_MS).toISOString().slice(0, 10))
  expect(days.slice(-3)).toMatchObject([
    { orders: 0, paid: 0, ended: 0, refunds: 0, points: 0n, merchant_points: 0n, refunded: 0n },
    { orders: 2, paid: 1, ended: 2, refunds: 1, points: 100n, merchant_points: 95n, refunded: 40n },
    { orders: 3, paid: 2, ended: 2, refunds: 0, points: 350n, merchant_points: 333n, refunded: 0n },
  ])
  const year = lastDays(ZONE, now, 366)
  expect(year.unit).toBe('week')
  const weeks = await periodsOf(test.db, shop.id, year, now)
  for (const { begins } of weeks) expect(new Date(begins).getUTCDay()).toBe(1)
  expect(weeks.reduce((sum, { orders }) => sum + orders, 0)).toBe(5)
  expect(await topProducts(test.db, shop.id, month, 10)).toMatchObject([
    { description: 'Coffee', paid: 1, points: 300n },
    { description: 'Tea', paid: 2, points: 150n, refunded: 40n },
  ])
  const today = lastDays(ZONE, now, 1)
  expect(await topProducts(test.db, shop.id, today, 10)).toMatchObject([{ paid: 1 }, { paid: 1 }])
  const yesterday = rangeOf(ZONE, now, { from: days.at(-2)!.begins, until: days.at(-2)!.begins })
  expect(await periodsOf(test.db, shop.id, yesterday, now)).toMatchObject([{ orders: 2 }])
  const sold = await takingsSince(test.db, shop.id, today.start)
  expect(sold).toEqual({ paid: 2, points: 350n, merchant_points: 333n })
  // In London both days are one.
  const inLondon = await periodsOf(test.db, shop.id, lastDays('Europe/London', now, 1), now)
  expect(inLondon).toMatchObject([{ orders: 5 }])
})

it('a shop confirms after the payment, on average and at once', async () => {
  expect(await latencyOf(test.db, shop.id)).toEqual({ delivered: 0, at_once: 0, average_ms: null })
  const orders = await makeGatewayOrders(test, shop, { notify_url: 'https://shop.example.org/n', count: 3 })
  for (const [i, transaction_id] of orders.entries()) {
    await payOrder(test, { transaction_id }, buyer)
    // The third is not confirmed. The second was confirmed at its second attempt, a minute later.
    const { id: order_id } = await rowOf(test, 'orders', { transaction_id })
    const { id: notification_id } = await rowOf(test, 'notifications', { order_id })
    const delivered = { status: 'delivered', next_attempt_at: null, attempts: i + 1 } as const
    await setRows(test, 'notifications', { order_id }, i === 2 ? { attempts: 1 } : delivered)
    const started_at = new Date(test.clock.now().getTime() + i * 60_000)
    const outcome = i === 2 ? ('timeout' as const) : ('delivered' as const)
    await test.db
      .insertInto('notification_attempts')
      .values({ notification_id, claim: i + 1, url: null, started_at, duration_ms: 500, outcome })
      .execute()
  }
  expect(await latencyOf(test.db, shop.id)).toEqual({ delivered: 2, at_once: 1, average_ms: 30_500 })
})

it('the page shows them', async () => {
  const page = `/payment/applications/${shop.payment_id}/statistics`
  const owner = await shop.owner.signIn()
  const { status, body } = await owner.get(page)
  expect(status).toBe(200)
  expect(body.match(/<svg viewBox[^>]*role="img"/g)).toHaveLength(2)
  const rows = async (query: string) =>
    (await owner.get(`${page}${query}`)).body.match(/<tr><th scope="row">/g)?.length
  expect(await rows('')).toBe(30)
  expect(body).toContain('31 <small>s</small>')
  expect(await rows('?days=7')).toBe(7)
  expect(await rows('?from=2025-12-01&until=2025-12-03')).toBe(3)
  // The end of a range does not lie in the future, nor its beginning more than a year back.
  expect(await rows('?from=1999-01-01&until=2999-01-01')).toBeLessThan(55)
  expect((await owner.get(`${page}?from=2025-12-30&until=2026-01-01`)).body).toContain(
    '<span>30\u00a0Dec\u00a02025</span>',
  )
  expect((await owner.get(`${page}?from=2025-12-01&until=2025-12-03`)).body).toContain(
    '<span>1\u00a0Dec</span>',
  )
  for (const odd of [
    '?days=12',
    '?days=century',
    '?from=2026-02-31&until=x',
    '?from=2999-01-01&until=2026-01-01',
  ])
    expect((await owner.get(`${page}${odd}`)).status, odd).toBe(200)
  const file = await owner.get(`${page}/products.csv?days=30`)
  expect(file.headers['content-disposition']).toContain('products-')
  const [head, ...lines] = file.body.split('\r\n')
  expect(head).toBe('\uFEFFdescription,paid,amount,merchant_points,refunded_amount')
  expect(lines).toContainEqual(expect.stringMatching(/^Coffee,1,300,285,0$/))
  expect(lines).toContainEqual(expect.stringMatching(/^Tea,\d,\d+,\d+,40$/))
})

it('a crowd asking for figures queues for one connection', async () => {
  await expectFairQueue(test, async (process) => {
    const owner = await signIn(process, shop.owner.username, shop.owner.password)
    const at = `/payment/applications/${shop.payment_id}`
    return {
      ask: async (i) => (await owner.get(`${at}/${i % 2 === 0 ? 'statistics' : 'orders/export'}`)).status,
      besides: async () => expect((await owner.get('/payment/applications/new-nowhere')).status).toBe(404),
    }
  })
})

it('bars are as high as what they stand for', () => {
  const { top, whole, part, width, dashes, viewBox } = barChart([
    { whole: 30, part: 10 },
    { whole: 0, part: 0 },
  ])
  expect({ top, width, dashes, viewBox }).toEqual({
    top: 50,
    width: 216,
    dashes: undefined,
    viewBox: '0 0 600 160',
  })
  expect({ whole, part }).toEqual({ whole: 'M150 160v-96', part: 'M150 160v-32' })
  expect(barChart([{ whole: 0, part: 0 }]).top).toBe(1)
  expect(barChart([{ whole: 1000, part: 0 }]).top).toBe(1000)
  // Few things are drawn as tiles, one for each.
  expect(barChart([{ whole: 20, part: 7 }])).toMatchObject({ top: 20, dashes: '6 2' })
})
