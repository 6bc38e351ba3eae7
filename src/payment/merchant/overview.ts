/** What a merchant sees first of an application: the figures of today and of 30 days, what needs an act, and the next step. */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { rowsOfApp } from '../../database/paging.ts'
import type { Book } from '../../database/tables/columns.ts'
import type { DeliveryKind } from '../../database/tables/links.ts'
import type { PaymentAppStatus } from '../../database/tables/payment-apps.ts'
import { daysBetween, daysLater, startOfDay } from '../../web/periods/days.ts'
import { OVERVIEW_DAYS, returnWithout } from '../apps/apps.ts'
import { waitingMessages } from '../links/messages.ts'
import { isShortOfCodes, unitsLeft } from '../links/reads.ts'
import { type Takings, takingsBetween } from '../orders/takings.ts'
import { type Latency, latencyOf, type Newest, newestOf } from './newest.ts'
import { type ListedOrder, ordersOfApp } from './orders.ts'
import { lastDays, type Range } from './statistics.ts'

const ORDERS_SHOWN = 5
const PRODUCTS_SHOWN = 3
const REQUESTS_SHOWN = 3
const LINKS_SHOWN = 3
/** As many as an application may have that are not ended. */
const LINKS_LOOKED_THROUGH = 200
/** The open requests of the site that are looked through. Administrators keep the queue short. */
const REQUESTS_LOOKED_THROUGH = 1_000
const DAY_MS = 86_400_000

/** One step on the way to the first payment. The first one that is not done is the next. */
export type Step = {
  what: 'created' | 'tested' | 'reviewed' | 'ordered' | 'paid' | 'linked' | 'published' | 'sold'
  isDone: boolean
}

export type Overview = {
  range: Range
  takings: Compared
  newest: Newest
  orders: ListedOrder[]
  latency: Latency
  progress: Progress
  needs: Needs
}

/** The application of an overview. */
type Shown = { id: bigint; book: Book; status: PaymentAppStatus }

/** Reads the overview. Each part reads as many rows for a shop with a million orders as for one with hundreds. */
export async function overviewOf(deps: Core, app: Shown): Promise<Overview> {
  const { db, clock, settings } = deps
  const { time_zone: zone } = await settings.read()
  const now = clock()
  const range = lastDays(zone, now, OVERVIEW_DAYS)
  const [takings, newest, { rows: orders }, latency, progress, needs] = await Promise.all([
    comparedTakings(db, app.id, range, now),
    newestOf(db, app.id, { since: range.start, now, products: PRODUCTS_SHOWN }),
    ordersOfApp(db, app.id, {}, now),
    latencyOf(db, app.id),
    progressOf(deps, app),
    needsOf(db, app.id, now),
  ])
  return { range, takings, newest, orders: orders.slice(0, ORDERS_SHOWN), latency, progress, needs }
}

/** The takings of each day of a range, the oldest first, and those of yesterday at the same time of the day. */
export type Compared = {
  days: (Takings & { day: string })[]
  today: Takings
  yesterday: Takings
  yesterdaySoFar: Takings
  /** Those of as many days before the range. */
  before: Takings
}

async function comparedTakings(
  db: Db,
  app_id: bigint,
  { zone, from, until }: Range,
  now: Date,
): Promise<Compared> {
  const names = Array.from({ length: daysBetween(from, until) }, (_, i) => daysLater(from, i))
  const starts = names.map((day) => startOfDay(day, zone))
  const [yesterdayStart, todayStart] = [starts.at(-2)!, starts.at(-1)!]
  // A payment of this very moment counts.
  const end = new Date(now.getTime() + 1)
  // A day on which the clocks change is shorter or longer than today.
  const sameTime = new Date(
    Math.min(yesterdayStart.getTime() + end.getTime() - todayStart.getTime(), todayStart.getTime()),
  )
  const edges = [
    startOfDay(daysLater(from, -names.length), zone),
    ...starts.slice(0, -1),
    sameTime,
    todayStart,
    end,
  ]
  const [before, ...parts] = (await takingsBetween(db, app_id, edges)) as [Takings, ...Takings[]]
  const [yesterdaySoFar, rest, today] = parts.slice(-3) as [Takings, Takings, Takings]
  const yesterday = {
    payments: yesterdaySoFar.payments + rest.payments,
    points: yesterdaySoFar.points + rest.points,
    merchant_points: yesterdaySoFar.merchant_points + rest.merchant_points,
  }
  const days = [...parts.slice(0, -3), yesterday, today].map((each, i) => ({ ...each, day: names[i]! }))
  return { days, today, yesterday, yesterdaySoFar, before }
}

/**
 * How far an application is. `twin` is the Payment ID of its test application, `draft` the slug of its newest draft of a link, `link`
 * that of its newest other link. `isByLinks` says whether it sells by links alone, without a program of its own.
 */
export type Progress = {
  steps: Step[]
  isPaid: boolean
  hasOrders: boolean
  twin: string | undefined
  isByLinks: boolean
  draft: string | undefined
  link: string | undefined
}

type Found = {
  door: string | null
  is_paid: boolean
  twin: string | null
  is_tested: boolean
  has_program: boolean
  draft: string | null
  link: string | null
}

async function progressOf(
  { db, config }: Pick<Core, 'db' | 'config'>,
  { id, book, status }: Shown,
): Promise<Progress> {
  const { rows } = await sql<Found>`
    select (
        select door from orders where ${rowsOfApp('orders', id)} order by orders.app_id desc, orders.id desc limit 1
      ) as door,
      exists (select from orders where app_id = ${id} and paid_at is not null) as is_paid,
      twin.payment_id as twin,
      twin.id is not null and exists (select from orders where app_id = twin.id and paid_at is not null) as is_tested,
      app.callback_url <> ${returnWithout({ config })} as has_program,
      (select slug from links where app_id = app.id and state = 'draft' order by links.id desc limit 1) as draft,
      (select slug from links where app_id = app.id and state <> 'draft' order by links.id desc limit 1) as link
    from payment_apps as app
    left join payment_apps as twin on twin.live_app_id = app.id and twin.applicant_id = app.applicant_id
    where app.id = ${id}`.execute(db)
  const { door, is_paid, twin, is_tested, has_program, draft, link } = rows[0]!
  const hasLink = (draft ?? link) !== null
  // In a test application, a link alone does not say that there is no program yet.
  const isSoldByLink = hasLink && (door === 'link' || (door === null && book === 'live'))
  const isByLinks = isSoldByLink || (!has_program && door === null)
  const created: Step = { what: 'created', isDone: true }
  const reviewed: Step = { what: 'reviewed', isDone: status === 'approved' }
  const sold: Step[] = [
    { what: 'ordered', isDone: door !== null },
    { what: 'paid', isDone: is_paid },
  ]
  const review = book === 'test' ? [] : [reviewed]
  const steps: Step[] = isByLinks
    ? [
        created,
        { what: 'linked', isDone: hasLink },
        ...review,
        { what: 'published', isDone: link !== null },
        { what: 'sold', isDone: is_paid },
      ]
    : book === 'test'
      ? [created, ...sold]
      : [created, { what: 'tested', isDone: is_tested }, reviewed, ...sold]
  return {
    ...{ steps, isPaid: is_paid, hasOrders: door !== null, twin: twin ?? undefined, isByLinks },
    ...{ draft: draft ?? undefined, link: link ?? undefined },
  }
}

/**
 * What needs somebody, besides notifications: open refund requests, keys that end, requests refused in the last day, links that run
 * out, and messages of buyers that wait.
 */
export type Needs = {
  links: {
    slug: string
    title: string
    stock: 'low' | 'sold_out' | null
    left: number | null
    waiting: number
    isShortOfCodes: boolean
  }[]
  requests: { transaction_id: string; order_id: string; amount: bigint; asked_at: Date }[]
  ending: { kind: 'token' | 'event_secret'; valid_to: Date; last_used_at: Date | null }[]
  refused: number
  is_former_owners: boolean
  events_gone_at: Date | null
}

type NeedyLink = Omit<Needs['links'][number], 'isShortOfCodes'> & {
  delivery: DeliveryKind
  stock_max: number | null
  sold: number
}

async function needsOf(db: Db, app_id: bigint, now: Date): Promise<Needs> {
  const [requests, ending, { rows }] = await Promise.all([
    sql<Needs['requests'][number]>`
      select orders.transaction_id, orders.order_id, waiting.amount, waiting.asked_at
      from (
        select id, order_id, amount, asked_at from refund_requests where status = 'open'
        order by id desc limit ${REQUESTS_LOOKED_THROUGH}
      ) as waiting
      join orders on orders.id = waiting.order_id and orders.app_id = ${app_id}
      order by waiting.id desc limit ${REQUESTS_SHOWN}`.execute(db),
    db
      .selectFrom('payment_app_keys')
      .where('app_id', '=', app_id)
      .where('kind', 'in', ['token', 'event_secret'])
      .where('valid_to', '>', now)
      .orderBy('valid_to')
      .select(['kind', 'valid_to', 'last_used_at'])
      .execute(),
    sql<Omit<Needs, 'requests' | 'ending' | 'links'> & { links: NeedyLink[] }>`
      select app.events_gone_at,
        coalesce((
          select jsonb_agg(to_jsonb(needy) - 'id' order by needy.id desc) from (
            select link.id, link.slug, link.title, link.stock_alerted as stock, ${unitsLeft} as left, ${waitingMessages} as waiting,
              link.delivery, link.stock as stock_max, units_sold(link.id) as sold
            from (
              select * from links where app_id = app.id and state = 'on_sale' order by links.app_id desc, links.id desc
              limit ${LINKS_LOOKED_THROUGH}
            ) as link
            where link.stock_alerted is not null or (link.messages = 'public' and ${waitingMessages} > 0)
            order by link.id desc limit ${LINKS_SHOWN}
          ) as needy
        ), '[]') as links,
        (select count(*) from refused_requests where app_id = app.id and at > ${new Date(now.getTime() - DAY_MS)})::integer as refused,
        exists (
          select from payment_app_keys
          where app_id = app.id and kind = 'token' and valid_to is null and is_former_owners
        ) as is_former_owners
      from payment_apps as app where app.id = ${app_id}`.execute(db),
  ])
  const { links, ...rest } = rows[0]!
  return {
    ...rest,
    links: links.map((link) => ({
      ...link,
      isShortOfCodes: isShortOfCodes({ ...link, stock: link.stock_max }),
    })),
    requests: requests.rows,
    ending: ending as Needs['ending'],
  }
}
