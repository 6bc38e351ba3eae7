/** The sums of sales: pages get the same figures from them as from the orders, whatever happens to an order, and read few rows. */
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import {
  lastDays,
  type Product,
  type Range,
  rangeOf,
  salesOf,
} from '../../src/payment/merchant/statistics.ts'
import { countSales } from '../../src/payment/orders/sales.ts'
import { openPlayWallet, refillPlayPoints } from '../../src/payment/orders/test-mode.ts'
import { dayIn, daysLater } from '../../src/web/periods/days.ts'
import { makePerson } from '../harness/cast.ts'
import { setSetting, useTestApp } from '../harness/harness.ts'
import { handOver, type Merchant, makeMerchant } from '../harness/merchant.ts'
import { addHay, payOrder, placeOrder, refund } from '../harness/orders.ts'
import { rowOf, setRows } from '../harness/rows.ts'
import { rowsReadBy } from '../harness/rows-read.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const PRODUCTS_MAX = 100

const test = await useTestApp()
const buyer = await makePerson(test, { points: 1_000_000n })
await openPlayWallet(test.db, buyer.id)
await refillPlayPoints(test.deps, buyer.id)
const shop = await makeMerchant(test)
const twin = await makeMerchant(test, { twinOf: shop })
const other = await makeMerchant(test)
const shops = [shop, twin, other]

const counting = { ...test.deps, databaseTime: async () => test.clock.now() }
const count = () => countSales(counting)
const counted = () => rowOf(test, 'sales_counted', { is_only: true })

/** The figures of a range from the orders themselves, added up without SQL. */
async function fromOrders({ id }: Merchant, { zone, from, until, unit }: Range) {
  const now = test.clock.now()
  const orders = await test.db.selectFrom('orders').where('app_id', '=', id).selectAll().execute()
  const periods = new Map<string, Record<string, bigint>>()
  const products = new Map<string, Product>()
  const none = { orders: 0n, paid: 0n, ended: 0n, refunds: 0n, points: 0n, merchant_points: 0n, refunded: 0n }
  for (let day = from; day <= until; day = daysLater(day, unit === 'week' ? 7 : 1))
    periods.set(day, { ...none })
  for (const order of orders) {
    const day = dayIn(zone, order.created_at)
    if (day < from || day > until) continue
    const begins = [...periods.keys()].findLast((each) => each <= day)!
    const isPaid = order.paid_at !== null
    const isEnded = order.status !== 'unpaid' || order.expires_at <= now
    const figures = {
      ...{
        orders: 1n,
        paid: BigInt(isPaid),
        ended: BigInt(isEnded),
        refunds: BigInt(order.refunded_amount > 0n),
      },
      ...{ points: isPaid ? order.amount : 0n, merchant_points: order.merchant_points ?? 0n },
      refunded: order.refunded_amount,
    }
    const period = periods.get(begins)!
    for (const [name, figure] of Object.entries(figures)) period[name]! += figure
    if (!isPaid) continue
    const { description } = order
    const sold = products.get(description) ?? {
      ...{ description, paid: 0, points: 0n, merchant_points: 0n, refunded: 0n },
    }
    products.set(description, {
      description,
      paid: sold.paid + 1,
      points: sold.points + figures.points,
      merchant_points: sold.merchant_points + figures.merchant_points,
      refunded: sold.refunded + figures.refunded,
    })
  }
  const byPoints = (a: Product, b: Product) =>
    Number(b.points - a.points) || (a.description < b.description ? -1 : 1)
  return {
    periods: [...periods].map(([begins, { orders, paid, ended, refunds, ...points }]) => ({
      ...{
        begins,
        orders: Number(orders),
        paid: Number(paid),
        ended: Number(ended),
        refunds: Number(refunds),
      },
      ...points,
    })),
    products: [...products.values()].sort(byPoints),
  }
}

/** Compares the figures of every shop in every kind of range, in a zone. */
async function expectSame(zone: string) {
  const now = test.clock.now()
  const today = dayIn(zone, now)
  const ranges = [
    ...[1, 7, 90, 366].map((days) => lastDays(zone, now, days)),
    rangeOf(zone, now, { from: daysLater(today, -9), until: daysLater(today, -4) }),
    rangeOf(zone, now, { from: daysLater(today, -300), until: daysLater(today, -2) }),
  ]
  for (const each of shops)
    for (const range of ranges) {
      const figures = await salesOf(test.db, each.id, range, { now, products_max: PRODUCTS_MAX })
      const label = `${each.payment_id} from ${range.from} until ${range.until} in ${zone}`
      expect(figures, label).toEqual(await fromOrders(each, range))
    }
}

const sell = async (from: Merchant, amount: number, description: string) => {
  const placed = await placeOrder(from, { amount: String(amount), description })
  await payOrder(test, placed, buyer)
  return placed
}

it('figures of sums and of orders are the same, before, while and after the sums are counted', async () => {
  const zone = 'Asia/Shanghai'
  const unpaid = await placeOrder(shop, { description: 'Tea', amount: '70', order_id: 'late' })
  const old = await sell(shop, 200, 'Tea')
  for (let hour = 0; hour < 60; hour += 1) {
    for (const [place, each] of shops.entries()) {
      if ((hour + place) % 2 === 0) await sell(each, 100 + hour, ['Tea', 'Cake', 'Jam'][hour % 3]!)
      if ((hour + place) % 5 === 0) await placeOrder(each, { description: 'Tea', amount: '9' })
    }
    test.clock.advance(hour % 7 === 0 ? 9 * HOUR_MS : 2.5 * HOUR_MS)
  }
  await expectSame(zone)
  await count()
  await expectSame(zone)
  const { until } = await counted()
  const settled = test.clock.now().getTime() - 600_000
  expect(until.getTime()).toBe(settled - (settled % HOUR_MS))

  // Old orders: two refunds of one, the payment of one that begins again, and another one that has begun again and is open.
  await refund(test, old, 30n)
  await refund(test, old, 20n)
  await placeOrder(shop, { description: 'Tea', amount: '70', order_id: 'late' })
  await payOrder(test, unpaid, buyer)
  await sell(shop, 40, 'New')
  await expectSame(zone)
  test.clock.advance(2 * HOUR_MS)
  await Promise.all([count(), count()])
  await expectSame(zone)

  await refund(test, old, 50n)
  await handOver(test, shop, await makePerson(test, { points: 1n }))
  await sell(shop, 60, 'Tea')
  const expired = await placeOrder(other, { description: 'Tea', amount: '5', order_id: 'again' })
  test.clock.advance(3 * DAY_MS)
  await count()
  const again = await placeOrder(other, { description: 'Tea', amount: '5', order_id: 'again' })
  expect(again.transaction_id).toBe(expired.transaction_id)
  await expectSame(zone)
})

it('another time zone is counted from the beginning, and pages read the orders meanwhile', async () => {
  await setSetting(test, 'time_zone', 'America/St_Johns')
  await expectSame('America/St_Johns')
  await expectSame('Asia/Shanghai')
  await count()
  expect((await counted()).zone).toBe('America/St_Johns')
  await expectSame('America/St_Johns')
  // A page of a process that still has the former zone.
  await expectSame('Asia/Shanghai')
})

it('a year of many orders is read from the sums alone', async () => {
  await addHay(test, shop, 2_000)
  test.clock.advance(DAY_MS)
  await count()
  const zone = 'America/St_Johns'
  await expectSame(zone)
  await sql`analyze orders, payment_app_products, payment_app_product_sales`.execute(test.db)
  const now = test.clock.now()
  const year = lastDays(zone, now, 366)
  const read = rowsReadBy(test, 'orders', async (tx) => {
    // Postgres scans so small a table.
    await sql`set local enable_seqscan = off`.execute(tx)
    await salesOf(tx, shop.id, year, { now, products_max: 10 })
  })
  // The search for the first order since the last counted hour halves the orders.
  expect(await read).toBeLessThan(40)
})

it('an order is counted although ids are in another order than times', async () => {
  // Five minutes after an hour of UTC.
  test.clock.advance(HOUR_MS - ((test.clock.now().getTime() - 300_000) % HOUR_MS))
  await placeOrder(shop, { description: 'Tea' })
  const earlier = await placeOrder(shop, { description: 'Tea' })
  const created_at = new Date(test.clock.now().getTime() - 600_000)
  await setRows(test, 'orders', { transaction_id: earlier.transaction_id }, { created_at })
  for (const minutes of [30, 120]) {
    test.clock.advance(minutes * 60_000)
    await count()
    await expectSame('America/St_Johns')
  }
})

it('what is not settled yet is counted in a later round', async () => {
  await sell(shop, 10, 'Tea')
  const before = await counted()
  await count()
  expect(await counted()).toEqual(before)
  await expectSame('America/St_Johns')
  test.clock.advance(3 * HOUR_MS)
  await count()
  await expectSame('America/St_Johns')
})
