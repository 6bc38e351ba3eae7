/**
 * The figures of an application: by day and week in China, by product, and the time that its shop takes to confirm.
 */
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { applicationsOf } from '../../src/payment/apps/apps.ts'
import { latencyOf, newestOf } from '../../src/payment/merchant/newest.ts'
import { overviewOf } from '../../src/payment/merchant/overview.ts'
import {
  lastDays,
  type Range,
  rangeOf,
  salesBefore,
  salesOf,
  totalsOf,
} from '../../src/payment/merchant/statistics.ts'
import { countTakings, takingsBetween } from '../../src/payment/orders/takings.ts'
import { barChart } from '../../src/web/bar-chart.ts'
import { makePerson, signIn } from '../harness/cast.ts'
import { expectFairQueue } from '../harness/fair-queue.ts'
import { useTestApp } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { makeGatewayOrders } from '../harness/notify-receiver.ts'
import { addHay, payOrder, placeOrder, refund } from '../harness/orders.ts'
import { rowOf, setRows } from '../harness/rows.ts'
import { rowsReadBy } from '../harness/rows-read.ts'

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
const sales = (range: Range, now: Date) => salesOf(test.db, shop.id, range, { now, products_max: 10 })

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
  const { periods: days, products } = await sales(month, now)
  expect(days).toHaveLength(30)
  expect(days.at(-1)!.begins).toBe(new Date(now.getTime() + 8 * HOUR_MS).toISOString().slice(0, 10))
  expect(days.slice(-3)).toMatchObject([
    { orders: 0, paid: 0, ended: 0, refunds: 0, points: 0n, merchant_points: 0n, refunded: 0n },
    { orders: 2, paid: 1, ended: 2, refunds: 1, points: 100n, merchant_points: 95n, refunded: 40n },
    { orders: 3, paid: 2, ended: 2, refunds: 0, points: 350n, merchant_points: 333n, refunded: 0n },
  ])
  const year = lastDays(ZONE, now, 366)
  expect(year.unit).toBe('week')
  const { periods: weeks } = await sales(year, now)
  for (const { begins } of weeks) expect(new Date(begins).getUTCDay()).toBe(1)
  expect(weeks.reduce((sum, { orders }) => sum + orders, 0)).toBe(5)
  expect(products).toMatchObject([
    { description: 'Coffee', paid: 1, points: 300n },
    { description: 'Tea', paid: 2, points: 150n, refunded: 40n },
  ])
  const today = lastDays(ZONE, now, 1)
  expect((await sales(today, now)).products).toMatchObject([{ paid: 1 }, { paid: 1 }])
  const yesterday = rangeOf(ZONE, now, { from: days.at(-2)!.begins, until: days.at(-2)!.begins })
  expect((await sales(yesterday, now)).periods).toMatchObject([{ orders: 2 }])
  const [sold] = await takingsBetween(test.db, shop.id, [today.start, today.end])
  expect(sold).toEqual({ payments: 2, points: 350n, merchant_points: 333n })
  // In London both days are one.
  const { periods: inLondon } = await sales(lastDays('Europe/London', now, 1), now)
  expect(inLondon).toMatchObject([{ orders: 5 }])
})

it('takings are the same from running totals as from the orders, and read few rows', async () => {
  const many = await makeMerchant(test)
  const start = test.clock.now()
  const day = (n: number) => new Date(start.getTime() + n * DAY_MS)
  for (let n = 0; n < 12; n += 1) {
    const placed = await placeOrder(many, { amount: String(100 + n) })
    await payOrder(test, placed, buyer)
    test.clock.advance(n % 3 === 0 ? DAY_MS : 90_000)
  }
  // Moments between and at the payments, and one outside of the five minutes that a total covers.
  const edges = [day(-1), start, new Date(start.getTime() + 61_000), day(1), day(2), day(4), day(9)]
  const counted = () => takingsBetween(test.db, many.id, edges)
  const before = await counted()
  expect(before.map(({ payments }) => payments)).toEqual([0, 1, 0, 3, 6, 2])
  expect(before.reduce((sum, { points }) => sum + points, 0n)).toBe(1266n)

  const count = () => countTakings({ db: test.db, databaseTime: async () => test.clock.now() })
  const totals = () =>
    test.db.selectFrom('payment_app_takings').where('app_id', '=', many.id).selectAll().execute()
  await count()
  const first = await totals()
  // The last payments are not settled yet.
  expect(first.at(-1)!.payments).toBeLessThan(12n)
  expect(await counted()).toEqual(before)
  test.clock.advance(20 * 60_000)
  await Promise.all([count(), count()])
  expect((await totals()).at(-1)).toMatchObject({ payments: 12n, points: '1266' })
  expect(await counted()).toEqual(before)
  const settled = [day(-1), day(9), day(10)]
  await sql`analyze orders`.execute(test.db)
  const read = rowsReadBy(test, 'orders', async (tx) => {
    // Postgres scans so small a table.
    await sql`set local enable_seqscan = off`.execute(tx)
    await takingsBetween(tx, many.id, settled)
  })
  expect(await read).toBe(0)
  await expect(test.db.deleteFrom('payment_app_takings').execute()).rejects.toThrow('append-only')
})

it('a shop confirms after the payment, by the median, and some after a retry', async () => {
  expect(await latencyOf(test.db, shop.id)).toEqual({ delivered: 0, retried: 0, median_ms: null })
  const orders = await makeGatewayOrders(test, shop, { notify_url: 'https://shop.example.org/n', count: 4 })
  for (const [i, transaction_id] of orders.entries()) {
    await payOrder(test, { transaction_id }, buyer)
    // The last is not confirmed. The one before was confirmed at its third attempt, two minutes later.
    const { id: order_id } = await rowOf(test, 'orders', { transaction_id })
    const { id: notification_id } = await rowOf(test, 'notifications', { order_id })
    const attempts = i === 2 ? 3 : 1
    const delivered = { status: 'delivered', next_attempt_at: null, attempts } as const
    await setRows(test, 'notifications', { order_id }, i === 3 ? { attempts: 1 } : delivered)
    const started_at = new Date(test.clock.now().getTime() + (i === 2 ? 120_000 : i * 1000))
    const outcome = i === 3 ? ('timeout' as const) : ('delivered' as const)
    await test.db
      .insertInto('notification_attempts')
      .values({ notification_id, claim: i + 1, url: null, started_at, duration_ms: 500, outcome })
      .execute()
  }
  expect(await latencyOf(test.db, shop.id)).toEqual({ delivered: 3, retried: 1, median_ms: 1500 })
})

it('the newest orders are counted by what became of them, and no more than 250 are read', async () => {
  const busy = await makeMerchant(test)
  await addHay(test, busy, 300)
  const now = test.clock.now()
  const since = new Date(now.getTime() - DAY_MS)
  const read = () => newestOf(test.db, busy.id, { since, now, products: 1 })
  expect(await read()).toEqual({ paid: 0, expired: 250, closed: 0, open: 0, isCut: true, products: [] })
  for (const [description, amount] of [
    ['Tea', '100'],
    ['Tea', '50'],
    ['Cake', '120'],
  ] as const)
    await payOrder(test, await placeOrder(busy, { description, amount }), buyer)
  await placeOrder(busy, { description: 'Open', amount: '7' })
  expect(await read()).toMatchObject({
    ...{ paid: 3, expired: 246, closed: 0, open: 1 },
    products: [{ description: 'Tea', paid: 2, points: '150' }],
  })
  expect(
    await newestOf(test.db, busy.id, { since: new Date(now.getTime() + 1), now, products: 1 }),
  ).toMatchObject({ isCut: false })
})

it('the page shows them', async () => {
  const page = `/payment/applications/${shop.payment_id}/statistics`
  const owner = await shop.owner.signIn()
  const { status, body } = await owner.get(page)
  expect(status).toBe(200)
  expect(body.match(/<svg viewBox[^>]*role="img"/g)).toHaveLength(2)
  // Each bar names its figure, which the pointer and the arrow keys show.
  const tips = [...body.matchAll(/<input type="radio" name="(c1|c2)"><span>([^<]*)<\/span>/g)]
  expect(tips).toHaveLength(60)
  const now = test.clock.now()
  const {
    periods: [last],
  } = await sales(lastDays(ZONE, now, 1), now)
  const tipOf = (chart: 'c1' | 'c2') => tips.filter(([, name]) => name === chart).at(-1)![2]
  expect(tipOf('c1')).toContain(messages.en.statistics.paidOf(`${last!.paid}`, `${last!.orders}`))
  const { points, refunded } = last!
  expect(tipOf('c2')).toContain(messages.en.statistics.pointsOf(`${points}`, `${refunded}`))
  const { product, columns } = messages.en.statistics
  expect(textOf(body)).toContain([product, columns.paid, columns.refunded, columns.points].join(' '))
  const rows = async (query: string) =>
    (await owner.get(`${page}${query}`)).body.match(/<tr><th scope="row">/g)?.length
  expect(await rows('')).toBe(30)
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
  for (const odd of ['?days=12', '?days=century'])
    expect((await owner.get(`${page}${odd}`)).status, odd).toBe(200)
  const { noDay, wrongOrder } = messages.en.periods
  for (const [wrong, fault] of [
    ['?from=2026-02-31&until=x', noDay('2026-02-31')],
    ['?from=2999-01-01&until=2026-01-01', wrongOrder],
  ] as const) {
    const { status, body } = await owner.get(`${page}${wrong}`)
    expect([status, body.includes(fault), body.includes('class="tiles"')], wrong).toEqual([400, true, false])
    expect((await owner.get(`${page}/products.csv${wrong}`)).status).toBe(400)
  }
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
  const { scale, tile, whole, part, width, dashes, viewBox, lines } = barChart([
    { whole: 30, part: 10 },
    { whole: 0, part: 0 },
  ])
  expect({ scale, tile, width, dashes, viewBox }).toEqual({
    scale: [30, 20, 10, 0],
    tile: 5,
    width: 216,
    dashes: '24.67 2',
    viewBox: '0 0 600 160',
  })
  expect({ whole, part }).toEqual({ whole: 'M150 160v-160', part: 'M150 160v-53.33' })
  expect(lines).toBe('M0 0h600M0 53.33h600M0 106.67h600M0 160h600')
})

it('the lines of a chart are 1, 2, 2.5 or 5 apart, times a power of ten', () => {
  const scaleOf = (most: number) => barChart([{ whole: most, part: 0 }]).scale
  expect(scaleOf(0)).toEqual([1, 0])
  expect(scaleOf(3)).toEqual([3, 2, 1, 0])
  expect(scaleOf(9)).toEqual([10, 5, 0])
  expect(scaleOf(97)).toEqual([100, 75, 50, 25, 0])
  expect(scaleOf(1180)).toEqual([1500, 1000, 500, 0])
  expect(scaleOf(1000)).toEqual([1000, 750, 500, 250, 0])
  expect(scaleOf(Number.MAX_SAFE_INTEGER)).toEqual([1e16, 7.5e15, 5e15, 2.5e15, 0])
  expect(barChart([{ whole: 97, part: 0 }]).tile).toBe(5)
  // Few things are drawn as tiles, one for each.
  expect(barChart([{ whole: 20, part: 7 }])).toMatchObject({ tile: 1, dashes: '6 2' })
})

it('the list of applications, the overview and the statistics count the same thirty days', async () => {
  const own = await makeMerchant(test)
  const payer = await makePerson(test, { points: 1_000n })
  const buy = async (amount: string) => payOrder(test, await placeOrder(own, { amount }), payer)
  // Ten minutes before and after a midnight in China.
  goTo(15, 50)
  await buy('500')
  for (let i = 0; i < 9; i += 1) await placeOrder(own, { amount: '7' })
  test.clock.advance(20 * 60_000)
  await buy('200')
  await placeOrder(own, { amount: '30' })
  // That midnight begins the first of thirty days, whose last one is half over.
  test.clock.advance(29 * DAY_MS + 12 * HOUR_MS)
  await buy('100')
  await placeOrder(own, { amount: '20' })

  const { range, takings, newest } = await overviewOf(test.deps, {
    id: own.id,
    book: 'live',
    status: 'approved',
  })
  const totals = totalsOf(
    (await salesOf(test.db, own.id, range, { now: test.clock.now(), products_max: 1 })).periods,
  )
  const [listed] = await applicationsOf(test.deps, own.owner.id)
  const received = takings.days.reduce((sum, { merchant_points }) => sum + merchant_points, 0n)
  expect([listed!.takings, received, totals.merchant_points]).toEqual([285n, 285n, 285n])
  // The payment of the minutes before is the whole of the thirty days before.
  expect(takings.before).toMatchObject({ payments: 1, points: 500n })
  expect(await salesBefore(test.db, own.id, range, test.clock.now())).toEqual({
    ...{ days: 30, orders: 10, paid: 1, ended: 10, refunds: 0 },
    ...{ points: 500n, merchant_points: 475n, refunded: 0n },
  })
  const week = lastDays(ZONE, test.clock.now(), 7)
  expect(await salesBefore(test.db, own.id, week, test.clock.now())).toBeUndefined()
  const owner = await own.owner.signIn()
  const { statistics: s, merchantOverview: m } = messages.en
  const page = `/payment/applications/${own.payment_id}`
  expect(textOf((await owner.get(page)).body)).toContain(`${m.chart} 300 points ${m.onBefore('−200', 30)}`)
  const shown = textOf((await owner.get(`${page}/statistics`)).body)
  expect(shown).toContain(`${s.created} 4 ${s.before('10')} `)
  expect(shown).toContain(`${s.points} 300 points ${s.before('500')} `)
  expect(shown).toContain(`${s.rate} 66.6% ${s.before('10.0%')}`)
  // Nothing was refunded before.
  expect(shown).toContain(`${s.refunded} 0 points ${s.noRefunds}`)
  expect(textOf((await owner.get(`${page}/statistics?days=7`)).body)).not.toContain(s.before(''))
  const finished = newest.paid + newest.expired + newest.closed
  expect([newest.paid, finished]).toEqual([2, 3])
  expect([totals.paid, totals.ended]).toEqual([2, 3])
})
