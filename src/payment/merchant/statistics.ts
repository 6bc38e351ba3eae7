/** Statistics of an application: sales by period and by product. All are set queries. */
import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../database/connection.ts'
import { rowsOfApp } from '../../database/paging.ts'
import { dayIn, daysBetween, daysLater, startOfDay } from '../../web/periods/days.ts'
import { lowestIdAfter, lowestIdSince } from '../orders/lowest-id.ts'

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
 * the most points. The orders are read once for both.
 */
export async function salesOf(
  db: Db,
  app_id: bigint,
  range: Range,
  { now, products_max }: { now: Date; products_max: number },
): Promise<{ periods: Period[]; products: Product[] }> {
  const { zone, from, until, unit } = range
  const { rows } = await sql<Sales & { begins: string | null; description: string | null }>`
    with sold as materialized (
      select grouping(description) = 1 as is_period, begins, description,
        count(*) as orders, count(paid_at) as paid, count(*) filter (where is_ended) as ended,
        count(*) filter (where refunded_amount > 0) as refunds,
        sum(amount) filter (where paid_at is not null) as points,
        sum(merchant_points) as merchant_points, sum(refunded_amount) as refunded
      from (
        select date_trunc(${unit}, created_at at time zone ${zone}) as begins, description, paid_at, amount, merchant_points,
          refunded_amount, paid_at is not null or status <> 'unpaid' or expires_at <= ${now} as is_ended
        from orders
        where ${createdWithin(app_id, range)}
      ) as made
      group by grouping sets ((begins), (description))
    ),
    period as (
      select generate_series(${from}::timestamp, ${until}::timestamp, ${sql.raw(`interval '1 ${unit}'`)}) as begins
    ),
    shown as (
      select period.begins, null as description, sold.orders, sold.paid, sold.ended, sold.refunds, sold.points, sold.merchant_points,
        sold.refunded
      from period left join sold on sold.is_period and sold.begins = period.begins
      union all
      (select null, description, orders, paid, ended, refunds, points, merchant_points, refunded
        from sold where not is_period and paid > 0 order by points desc, description limit ${products_max})
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

/** Selects an application's orders of a range. They are its own rows between two ids, so no other shop's rows are read. */
function createdWithin(app_id: bigint, { start, end }: Pick<Range, 'start' | 'end'>) {
  const between = rowsOfApp('orders', app_id, {
    after: sql<bigint>`${lowestIdSince(app_id, start)} - 1`,
    before: sql<bigint>`${lowestIdAfter(app_id, end)}`,
  })
  return sql<SqlBool>`${between} and created_at >= ${start} and created_at < ${end}`
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
