/** Statistics of an application: sales by period and by product. All are set queries. */
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../database/connection.ts'
import { rowsOfApp } from '../../database/paging.ts'
import { dayIn, daysBetween, daysLater, startOfDay } from '../../web/periods/days.ts'
import { lowestIdAfter, lowestIdSince } from '../orders/lowest-id.ts'
import { isFirstRefund } from '../orders/sales.ts'

/** The lengths of a range that the page offers, in days. */
export const RANGES = [7, 30, 90] as const
const RANGE_DAYS_MAX = 366
/** A longer range is shown by weeks, because more bars than these cannot be told apart on a phone. */
const BARS_MAX = 92

export type Unit = 'day' | 'week'

/** Some days of a site, both `yyyy-mm-dd` and included, and the moments where they begin and end. */
export type Range = { zone: string; from: string; until: string; start: Date; end: Date; unit: Unit }

/**
 * Makes the range of two days, at most RANGE_DAYS_MAX long. It does not go beyond today. A range by weeks begins on a Monday,
 * so its first bar is as long as the others.
 */
export function rangeOf(zone: string, now: Date, asked: { from: string; until: string }): Range {
  const today = dayIn(zone, now)
  const until = asked.until < today ? asked.until : today
  const earliest = daysLater(until, 1 - RANGE_DAYS_MAX)
  const from = asked.from > until ? until : asked.from > earliest ? asked.from : earliest
  const unit = daysBetween(from, until) > BARS_MAX ? 'week' : 'day'
  const first = unit === 'week' ? mondayOf(from) : from
  const end = startOfDay(daysLater(until, 1), zone)
  return { zone, from: first, until, unit, start: startOfDay(first, zone), end }
}

/** Makes the range of the last days, today included. */
export function lastDays(zone: string, now: Date, days: number): Range {
  const until = dayIn(zone, now)
  return rangeOf(zone, now, { from: daysLater(until, 1 - days), until })
}

function mondayOf(day: string): string {
  const weekday = new Date(day).getUTCDay()
  return daysLater(day, weekday === 0 ? -6 : 1 - weekday)
}

/** The sales of some orders. Each order counts in the period in which it was created. */
export type Sales = {
  orders: number
  /** The paid ones, and the ones that are paid or can no longer be paid. */
  paid: number
  ended: number
  /** The orders of which something was refunded. */
  refunds: number
  /** Points that payers paid, the merchant's part of them, and the refunded points. */
  points: bigint
  merchant_points: bigint
  refunded: bigint
}

/** One day or week, by its first day as `yyyy-mm-dd`. */
export type Period = Sales & { begins: string }

export type Product = {
  description: string
  paid: number
  points: bigint
  merchant_points: bigint
  refunded: bigint
}

/**
 * The sales of a range: by its periods, the oldest first, including periods without orders, and by the descriptions that earned
 * the most points. Settled hours come from the sums of src/payment/orders/sales.ts, and what happened since from the orders.
 */
export async function salesOf(
  db: Db,
  app_id: bigint,
  range: Range,
  { now, products_max }: { now: Date; products_max: number },
): Promise<{ periods: Period[]; products: Product[] }> {
  const { from, until, unit } = range
  const isWithin = isInRange(range)
  const { rows } = await sql<Sales & { begins: string | null; description: string | null }>`
    with ${happenedIn(app_id, range, now)},
    by_period as (
      select date_trunc(${unit}, day::timestamp) as begins, sum(orders) as orders, sum(paid) as paid, sum(orders) - sum(open) as ended,
        sum(refunds) as refunds, sum(points) as points, sum(merchant_points) as merchant_points, sum(refunded) as refunded
      from sold
      group by 1
    ),
    product as (${productsOf(app_id, range, products_max)}),
    shown as (
      select period.begins, null as description, orders, paid, ended, refunds, points, merchant_points, refunded
      from generate_series(${from}::timestamp, ${until}::timestamp, ${sql.raw(`interval '1 ${unit}'`)}) as period (begins)
      left join by_period on by_period.begins = period.begins
      union all
      select null, description, 0, product.paid, 0, 0, product.points, product.merchant_points,
        coalesce((select sum(refunded) from payment_app_product_sales where product_id = product.id and ${isWithin}), 0)
          + coalesce((select sum(refunded) from event where event.description = product.description), 0)
      from product
    )
    select to_char(begins, 'yyyy-mm-dd') as begins, description,
      coalesce(orders, 0)::integer as orders, coalesce(paid, 0)::integer as paid,
      coalesce(ended, 0)::integer as ended, coalesce(refunds, 0)::integer as refunds,
      coalesce(points, 0)::bigint as points, coalesce(merchant_points, 0)::bigint as merchant_points,
      coalesce(refunded, 0)::bigint as refunded
    from shown
    order by shown.begins, points desc, description`.execute(db)
  return {
    periods: rows.flatMap(({ begins, description: _, ...sales }) =>
      begins === null ? [] : [{ begins, ...sales }],
    ),
    products: rows.flatMap(({ description, paid, points, merchant_points, refunded }) =>
      description === null ? [] : [{ description, paid, points, merchant_points, refunded }],
    ),
  }
}

/**
 * The sales of the days just before a range, as many as it has, to compare it with. Undefined if no order was created in them.
 */
export async function salesBefore(
  db: Db,
  app_id: bigint,
  { zone, from, until }: Range,
  now: Date,
): Promise<(Sales & { days: number }) | undefined> {
  const days = daysBetween(from, until)
  const first = daysLater(from, -days)
  const before: Range = {
    ...{ zone, unit: 'day', from: first, until: daysLater(from, -1) },
    ...{ start: startOfDay(first, zone), end: startOfDay(from, zone) },
  }
  const { rows } = await sql<Sales>`
    with ${happenedIn(app_id, before, now)}
    select coalesce(sum(orders), 0)::integer as orders, coalesce(sum(paid), 0)::integer as paid,
      coalesce(sum(orders) - sum(open), 0)::integer as ended, coalesce(sum(refunds), 0)::integer as refunds,
      coalesce(sum(points), 0)::bigint as points, coalesce(sum(merchant_points), 0)::bigint as merchant_points,
      coalesce(sum(refunded), 0)::bigint as refunded
    from sold`.execute(db)
  const sales = rows[0]!
  return sales.orders === 0 ? undefined : { ...sales, days }
}

function isInRange({ from, until }: Range): RawBuilder<SqlBool> {
  return sql<SqlBool>`day >= ${from}::date and day <= ${until}::date`
}

/** What the orders of a range did: `event` since the counted hours, and `sold` in all. Three parts of a `with`. */
function happenedIn(app_id: bigint, range: Range, now: Date) {
  const { zone } = range
  return sql`
    counted as materialized (
      select coalesce(max(until), '-infinity') as until from sales_counted where zone = ${zone}
    ),
    event as materialized (select * from (${eventsOf(app_id, range, now)}) as event where ${isInRange(range)}),
    sold as (
      select day, orders, 0 as open, paid, points, merchant_points, refunds, refunded
      from payment_app_sales
      where app_id = ${app_id} and ${isInRange(range)} and exists (select from sales_counted where zone = ${zone})
      union all
      select day, orders, open, paid, points, merchant_points, refunds, refunded from event
    )`
}

/** What happened since the counted hours, by the day of its order. `open` counts orders of any day that can still be paid. */
function eventsOf(app_id: bigint, { zone, start, end }: Range, now: Date) {
  const since = sql<Date>`(select greatest(${start}::timestamptz, until) from counted)`
  const created = rowsOfApp('orders', app_id, {
    after: sql<bigint>`${lowestIdSince(app_id, since)} - 1`,
    before: sql<bigint>`${lowestIdAfter(app_id, end)}`,
  })
  const counted = sql`(select until from counted)`
  return sql`
    select (created_at at time zone ${zone})::date as day, description, orders, open, paid, points, merchant_points, refunds, refunded
    from (
      select created_at, description, 1 as orders, 0 as open, 0 as paid, 0::bigint as points, 0::bigint as merchant_points,
        0 as refunds, 0::bigint as refunded
      from orders where ${created} and created_at >= ${counted}
      union all
      select created_at, description, 0, 0, 1, amount, merchant_points, 0, 0
      from orders where app_id = ${app_id} and paid_at >= ${counted}
      union all
      select o.created_at, o.description, 0, 0, 0, 0, 0, ${isFirstRefund('f')}::integer, f.amount
      from refunds as f join orders as o on o.id = f.order_id
      where o.app_id = ${app_id} and f.refunded_at >= ${counted}
      union all
      select created_at, null, 0, 1, 0, 0, 0, 0, 0
      from (select app_id, created_at from orders where status = 'unpaid' and expires_at > ${now} offset 0) as unpaid
      where app_id = ${app_id}
    ) as happened`
}

/** The products that earned the most points in a range. What one sold until its last day less what it sold before the first one. */
function productsOf(app_id: bigint, { zone, from, until }: Range, products_max: number) {
  const soldUntil = (condition: RawBuilder<SqlBool>) => sql`
    left join lateral (
      select paid, points, merchant_points from payment_app_product_sales
      where product_id = known.id and ${condition} order by day desc limit 1
    )`
  return sql`
    select max(id) as id, description, sum(paid) as paid, sum(points) as points, sum(merchant_points) as merchant_points
    from (
      select known.id, known.description, later.paid - coalesce(earlier.paid, 0) as paid,
        later.points - coalesce(earlier.points, 0) as points,
        later.merchant_points - coalesce(earlier.merchant_points, 0) as merchant_points
      from payment_app_products as known
      ${soldUntil(sql`day <= ${until}::date`)} as later on true
      ${soldUntil(sql`day < ${from}::date`)} as earlier on true
      where known.app_id = ${app_id} and known.last_day >= ${from}::date and exists (select from sales_counted where zone = ${zone})
      union all
      select null, description, paid, points, merchant_points from event where description is not null
    ) as sold
    group by description having sum(paid) > 0
    order by points desc, description limit ${products_max}`
}

/** Adds periods up. */
export function totalsOf(periods: readonly Sales[]): Sales {
  const none = { orders: 0, paid: 0, ended: 0, refunds: 0, points: 0n, merchant_points: 0n, refunded: 0n }
  return periods.reduce(
    (sum, each) => ({
      orders: sum.orders + each.orders,
      paid: sum.paid + each.paid,
      ended: sum.ended + each.ended,
      refunds: sum.refunds + each.refunds,
      points: sum.points + each.points,
      merchant_points: sum.merchant_points + each.merchant_points,
      refunded: sum.refunded + each.refunded,
    }),
    none,
  )
}
