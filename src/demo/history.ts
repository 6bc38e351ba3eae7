/**
 * Plays the sixty days before the demo through the product's own acts, with a clock that is moved back: grants, orders,
 * payments, notifications, refunds and transfers. Nothing is written past the acts, so the books hold.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import Fastify from 'fastify'
import { forumScoreReason } from '../accounts/forum/score-reason.ts'
import type { Db } from '../database/connection.ts'
import { grantPoints } from '../ledger/points.ts'
import { closeDueDays } from '../ledger/proofs.ts'
import type { Parts } from '../parts.ts'
import { setEventsUrl } from '../payment/events/events.ts'
import { tellOfStock } from '../payment/links/notices.ts'
import { type Notifier, openNotifier } from '../payment/notifications/worker.ts'
import { makePayOrder, type PayOrder } from '../payment/orders/pay.ts'
import { makePlaceOrder, type PlaceOrder } from '../payment/orders/place.ts'
import { askRefund } from '../payment/orders/refund-requests.ts'
import { refundOrder } from '../payment/orders/refunds.ts'
import { makePostTransfer } from '../payment/orders/transfers.ts'
import { eventsUrl } from './apps.ts'
import { NEWCOMERS, type ShopName } from './cast.ts'
import { linksOpened, type PlannedSale } from './links.ts'
import { type LivesCast, makeLiveMorning, movedBy } from './lives.ts'
import { type Buyer, dayOf, midnightOf, type PlannedOrder } from './plan.ts'

const IP = '127.0.0.1'
const DAY_MS = 86_400_000
/** How long a shop of the demo takes to confirm a payment. */
const SHOP_MS = 240
const RATE = '100'
/** More than any buyer spends in the history. */
const OPENING_POINTS = 12_000n
/** What the demo prints for these: their histories begin with as much more as they spend in it. */
export const PRINTED_POINTS = { alice: 5_000n, carol: 300n } as const
/** Only a fault takes so long. An order that is refunded before its notification arrives would never be notified. */
const NOTIFIED_MS_MAX = 60_000
/** Every so many notifications, the shop fails at first and gets the next one a minute later. */
const FAILING_EVERY = 9
/** The sticker shop has had events since so many days. */
const EVENTS_DAYS = 9
/** Between two looks for events that are under way. Only a fault takes all of them. */
const LOOK_MS = 20
const LOOKS_MAX = 500

export type HistoryShop = { id: bigint; payment_id: string; pid: bigint; owner_id: bigint }

export type HistoryCast = {
  /** The members who buy, and whose points come from the forum. */
  buyers: Record<Buyer, bigint>
  shops: Record<ShopName, HistoryShop>
  people: LivesCast['people']
  admin_id: bigint
  gateway_shop_url: string
  shop_url: string
  orders: PlannedOrder[]
  /** Sales at links, each between two orders. */
  sales: PlannedSale[]
}

/** Plays the history. The caller does so once, before the demo has any other journal. */
export async function playHistory(deps: Parts, cast: HistoryCast): Promise<void> {
  const past = openPast(deps)
  const { orders, sales } = cast
  const now = deps.clock()
  const shop = await openMugShop(cast.gateway_shop_url)
  const events = await openEvents(past, cast, now)
  const notifier = openNotifier(past.deps)
  notifier.start(Fastify({ logger: false }).log)
  try {
    const opening = new Date(orders[0]!.at.getTime() - DAY_MS / 2)
    await grantOpening(past, cast, opening, {
      alice: PRINTED_POINTS.alice + spentBy('alice', orders, now) - movedBy('alice'),
      carol: PRINTED_POINTS.carol - movedBy('carol'),
    })
    const live = makeLiveMorning(past.deps, cast, past.at)
    const acts = { place: makePlaceOrder(past.deps), pay: makePayOrder(past.deps) }
    for (const day of byDay(orders)) {
      await live(dayOf(day[0]!.at), now)
      await events.beginBefore(day[0]!.at)
      const placed: Placed[] = []
      for (const { before, sale } of cutAtSales(day, sales)) {
        const part = await placeAll(past, acts.place, cast, before)
        const isNotified = (of: ShopName) => of === 'mug' || (of === 'sticker' && events.areOn())
        await payAll(past, acts.pay, cast, part, isNotified, async ({ id, paidAt, shop: of }) => {
          past.move(new Date(paidAt.getTime() + SHOP_MS))
          await notifier.attempted(id, NOTIFIED_MS_MAX)
          if (of === 'mug' && shop.hasFailed()) {
            past.move(new Date(paidAt.getTime() + 62_000))
            await notifier.attempted(id, NOTIFIED_MS_MAX)
          }
        })
        placed.push(...part)
        if (sale === undefined) continue
        const { id } = await past.at(sale.at, () => sale.run(past.deps, acts.pay))
        past.move(new Date(sale.at.getTime() + SHOP_MS))
        if (events.areOn()) await notifier.attempted(id, NOTIFIED_MS_MAX)
      }
      await endDay(past, cast, placed, now)
      for (const { id, shop: of, refund } of placed)
        if (of === 'sticker' && refund !== undefined && events.areOn())
          await notifier.attempted(id, NOTIFIED_MS_MAX)
    }
    await events.end(notifier)
    await askForOne(past, cast, orders)
  } finally {
    await notifier.stop()
    await shop.close()
    await events.close()
  }
}

type Past = {
  deps: Parts
  /** Runs an act at a moment. Acts at several moments may run at once. */
  at<T>(moment: Date, act: () => Promise<T>): Promise<T>
  /** Moves the clock of everything that runs outside an act. */
  move(moment: Date): void
}

function openPast(deps: Parts): Past {
  const moments = new AsyncLocalStorage<Date>()
  let moment = deps.clock()
  const clock = () => moments.getStore() ?? moment
  return {
    // The figures of this process begin with its first request.
    deps: { ...deps, clock, databaseTime: async () => clock(), metrics: undefined },
    at: (when, act) => moments.run(when, act),
    move: (when) => {
      moment = when
    },
  }
}

async function grantOpening(
  { deps }: Past,
  { buyers, people }: HistoryCast,
  now: Date,
  printed: { alice: bigint; carol: bigint },
): Promise<void> {
  for (const [username, user_id] of Object.entries({ ...buyers, carol: people.carol })) {
    // They had not joined yet.
    if (NEWCOMERS.some((newcomer) => newcomer.username === username)) continue
    const reference = `demo-opening:${username}`
    // The service writes this reason in the reader's language.
    const reason = forumScoreReason(now.toISOString().slice(0, 10))
    const amount = username in printed ? printed[username as keyof typeof printed] : OPENING_POINTS
    await grantPoints(deps.db, { user_id, amount, reference, reason, actor_id: null, now })
  }
}

/** Returns what a buyer pays in the history, less the refunds. */
function spentBy(buyer: Buyer, orders: readonly PlannedOrder[], now: Date): bigint {
  return orders
    .filter((order) => order.buyer === buyer && order.paidAt !== undefined)
    .reduce((sum, { at, product: { amount }, refund }) => {
      const refunded = refund === undefined || eveningOf(at) > now ? 0n : refundOf(amount, refund)
      return sum + amount - refunded
    }, 0n)
}

const eveningOf = (at: Date) => new Date(midnightOf(dayOf(at) + 1).getTime() - 5 * 60_000)
const refundOf = (amount: bigint, refund: 'full' | 'half') => (refund === 'full' ? amount : amount / 2n)

function byDay(orders: PlannedOrder[]): PlannedOrder[][] {
  const days = new Map<number, PlannedOrder[]>()
  for (const order of orders) {
    const day = dayOf(order.at)
    days.set(day, [...(days.get(day) ?? []), order])
  }
  return [...days.values()]
}

/** Cuts the orders of a day at the sales among them, so that everything happens in the order of its time. */
function cutAtSales(
  day: readonly PlannedOrder[],
  sales: readonly PlannedSale[],
): { before: PlannedOrder[]; sale: PlannedSale | undefined }[] {
  const [first, last] = [day[0]!, day.at(-1)!]
  const parts: { before: PlannedOrder[]; sale: PlannedSale | undefined }[] = []
  let begins = 0
  for (const sale of sales.filter(({ at }) => at > first.at && at < last.at)) {
    const ends = day.findIndex(({ at }) => at > sale.at)
    parts.push({ before: day.slice(begins, ends), sale })
    begins = ends
  }
  return [...parts, { before: day.slice(begins), sale: undefined }]
}

type Placed = PlannedOrder & { id: bigint; transaction_id: string }

/** Cuts orders where the shop changes. */
function byRuns(orders: readonly PlannedOrder[]): PlannedOrder[][] {
  const runs: PlannedOrder[][] = []
  for (const order of orders) {
    const last = runs.at(-1)
    if (last?.[0]?.shop === order.shop) last.push(order)
    else runs.push([order])
  }
  return runs
}

/**
 * Places the orders of a day. Successive ones of a shop share a commit. Those of several shops do not: a commit sorts them by shop, and
 * the sums of the statistics rely on ids in the order of time.
 */
async function placeAll(
  past: Past,
  place: PlaceOrder,
  cast: HistoryCast,
  orders: PlannedOrder[],
): Promise<Placed[]> {
  const placed: Placed[] = []
  for (const run of byRuns(orders)) placed.push(...(await placeRun(past, place, cast, run)))
  return placed
}

function placeRun(
  past: Past,
  place: PlaceOrder,
  { shops, gateway_shop_url }: HistoryCast,
  orders: PlannedOrder[],
): Promise<Placed[]> {
  return Promise.all(
    orders.map(async (order, i) => {
      const { shop, number, product, at } = order
      const { id: app_id, pid } = shops[shop]
      const gateway = product.money !== undefined && {
        trade_no: `${Math.floor(at.getTime() / 1000)}${String(i).padStart(9, '0')}`,
        protocol: 'v1' as const,
        pid_sent: pid.toString(),
        money: product.money,
        rate: RATE,
        type: 'alipay',
        param: null,
        notify_url: `${gateway_shop_url}/notify`,
        return_url: `${gateway_shop_url}/return`,
      }
      const asked = { app_id, order_id: number, description: product.name, amount: product.amount }
      const placed = await past.at(at, () => place({ ...asked, ...(gateway && { gateway }) }))
      return { ...order, id: placed.id, transaction_id: placed.transaction_id }
    }),
  )
}

/** Pays in the order of time. After a payment to a shop with notifications, it is notified before the next payment. */
async function payAll(
  past: Past,
  pay: PayOrder,
  { buyers }: HistoryCast,
  placed: Placed[],
  isNotified: (shop: ShopName) => boolean,
  notify: (order: { id: bigint; paidAt: Date; shop: ShopName }) => Promise<void>,
): Promise<void> {
  const paid = placed
    .flatMap((order) => (order.paidAt === undefined ? [] : [{ ...order, paidAt: order.paidAt }]))
    .sort((a, b) => a.paidAt.getTime() - b.paidAt.getTime())
  let waiting: Promise<unknown>[] = []
  for (const { id, transaction_id, buyer, product, paidAt, shop } of paid) {
    const payment = { transaction_id, payer_id: buyers[buyer], expected_amount: product.amount }
    waiting.push(past.at(paidAt, () => pay(payment)))
    if (!isNotified(shop)) continue
    await Promise.all(waiting)
    waiting = []
    await notify({ id, paidAt, shop })
  }
  await Promise.all(waiting)
}

/** In the evening an administrator refunds, a shop rewards its customer of the day, and the day is closed. */
async function endDay(
  past: Past,
  { shops, admin_id, buyers }: HistoryCast,
  placed: Placed[],
  now: Date,
): Promise<void> {
  const [first] = placed
  if (first === undefined) return
  const evening = eveningOf(first.at)
  // The last day is not over yet.
  if (evening > now) return
  past.move(evening)
  for (const { transaction_id, product, refund } of placed) {
    if (refund === undefined) continue
    const amount = refundOf(product.amount, refund)
    const reason = refund === 'full' ? 'Out of stock' : 'Arrived damaged; half is refunded'
    const act = { transaction_id, amount, with_fee: true, reason, actor_id: admin_id, ip: IP }
    await past.at(evening, () => refundOrder(past.deps, { ...act, key: `demo-${transaction_id}` }))
  }
  const thanked = placed.find(({ shop, paidAt, buyer }) => shop === 'library' && paidAt && buyer !== 'alice')
  if (thanked !== undefined) {
    const reward = {
      app_id: shops.library.id,
      order_id: `thanks-${thanked.number}`,
      to_user_id: buyers[thanked.buyer],
      to_username: thanked.buyer,
      amount: 5n,
    }
    await past.at(evening, () => makePostTransfer(past.deps)(reward))
  }
  if (evening > linksOpened(now)) await past.at(evening, () => tellOfStock(past.deps))
  await past.at(new Date(evening.getTime() + DAY_MS / 12), () => closeDueDays(past.deps))
}

/** Leaves one request for a refund open, for an administrator to decide on. */
async function askForOne(past: Past, { shops }: HistoryCast, orders: PlannedOrder[]): Promise<void> {
  const asked = orders.findLast(
    ({ shop, paidAt, refund }) => shop === 'cat' && paidAt && refund === undefined,
  )
  if (asked?.paidAt === undefined) return
  const { payment_id, id, owner_id } = shops.cat
  const { transaction_id } = await past.deps.db
    .selectFrom('orders')
    .where('app_id', '=', id)
    .where('order_id', '=', asked.number)
    .select('transaction_id')
    .executeTakeFirstOrThrow()
  const request = { transaction_id, amount: asked.product.amount, reason: '买家收到的图案与订单不符' }
  const moment = new Date(asked.paidAt.getTime() + 30_000)
  await past.at(moment, () => askRefund(past.deps, payment_id, request, { user_id: owner_id, ip: IP }))
}

type Events = {
  /** Switches the events on before a moment of the last days, once. */
  beginBefore(moment: Date): Promise<void>
  areOn(): boolean
  /** Waits until all are delivered. The shop itself takes those after them. */
  end(notifier: Notifier): Promise<void>
  close(): Promise<void>
}

/** Takes the events of the sticker shop in its place, which starts after the history. */
async function openEvents(past: Past, { shops, shop_url }: HistoryCast, now: Date): Promise<Events> {
  const { payment_id, owner_id: user_id } = shops.sticker
  const actor = { user_id, ip: IP }
  const { hostname, port } = new URL(shop_url)
  const server = createServer((_request, response) => response.writeHead(204).end())
  server.listen(Number(port), hostname)
  await once(server, 'listening')
  let areOn = false
  return {
    async beginBefore(moment) {
      if (areOn || moment.getTime() < now.getTime() - EVENTS_DAYS * DAY_MS) return
      const url = eventsUrl(shop_url)
      await past.at(new Date(moment.getTime() - 60_000), () =>
        setEventsUrl(past.deps, payment_id, url, actor),
      )
      areOn = true
    },
    areOn: () => areOn,
    async end(notifier) {
      past.move(now)
      for (let looks = 0; looks < LOOKS_MAX && (await isDue(past.deps.db, shops.sticker.id)); looks += 1) {
        notifier.nudge()
        await setTimeout(LOOK_MS)
      }
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

async function isDue(db: Db, app_id: bigint): Promise<boolean> {
  const due = db.selectFrom('notifications').where('app_id', '=', app_id).where('status', '=', 'due')
  return (await due.select('id').limit(1).execute()).length > 0
}

/** Answers notifications in the place of the mug shop, which starts after the history. */
async function openMugShop(url: string): Promise<{ hasFailed(): boolean; close(): Promise<void> }> {
  const { hostname, port } = new URL(url)
  let count = 0
  let hasFailed = false
  const server = createServer((_request, response) => {
    count += 1
    hasFailed = !hasFailed && count % FAILING_EVERY === 0
    if (hasFailed) response.statusCode = 502
    response.end(hasFailed ? 'Bad Gateway' : 'success')
  }).listen(Number(port), hostname)
  await once(server, 'listening')
  return {
    hasFailed: () => hasFailed,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
