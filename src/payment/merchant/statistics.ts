/** Statistics of an application: sales by period and by product, and the latency of notifications. All are set queries. */
import { sql } from 'kysely'
import type { Db } from '../../database/connection.ts'

export const UNITS = ['day', 'week'] as const
export type Unit = (typeof UNITS)[number]

/** The number of days or weeks to show, including the current one. */
const PERIODS = { day: 30, week: 12 } as const
const PRODUCTS_MAX = 10
/** Enough for an average, and bounded for every shop. */
const NOTIFICATIONS_MAX = 1_000

/** How far the clocks of two processes may differ. An order with a lower id may be that much younger. */
const MARGIN = sql.raw(`interval '5 minutes'`)

/** One day or week, from midnight in Asia/Shanghai; a week begins on Monday. Orders count in the period of their creation. */
export type Period = {
  /** `yyyy-mm-dd` */
  begins: string
  orders: number
  /** The paid ones, and the ones that are paid or can no longer be paid. */
  paid: number
  settled: number
  /** Points that payers paid, the merchant's part of them, and the refunded points. */
  points: bigint
  merchant_points: bigint
  refunded: bigint
}

/** The latest periods, the oldest first, including periods without orders. */
export async function periodsOf(
  db: Db,
  app_id: bigint,
  { unit, now }: { unit: Unit; now: Date },
): Promise<Period[]> {
  const { rows } = await sql<Period>`
    with period as (
      select latest.begins - ${sql.raw(`interval '1 ${unit}'`)} * ago as begins
      from (select date_trunc(${unit}, ${now}::timestamptz at time zone 'Asia/Shanghai') as begins) as latest
      cross join generate_series(0, ${PERIODS[unit] - 1}) as ago
    ), sold as (
      select date_trunc(${unit}, created_at at time zone 'Asia/Shanghai') as begins,
        count(*) as orders, count(paid_at) as paid,
        count(*) filter (where paid_at is not null or status <> 'unpaid' or expires_at <= ${now}) as settled,
        sum(amount) filter (where paid_at is not null) as points,
        sum(merchant_points) as merchant_points, sum(refunded_amount) as refunded
      from orders
      where app_id = ${app_id}
        and id >= (select first_order_since(${app_id}, min(begins) at time zone 'Asia/Shanghai' - ${MARGIN}) from period)
        and created_at >= (select min(begins) at time zone 'Asia/Shanghai' from period)
      group by 1
    )
    select to_char(begins, 'yyyy-mm-dd') as begins,
      coalesce(orders, 0)::integer as orders, coalesce(paid, 0)::integer as paid,
      coalesce(settled, 0)::integer as settled, coalesce(points, 0)::bigint as points,
      coalesce(merchant_points, 0)::bigint as merchant_points, coalesce(refunded, 0)::bigint as refunded
    from period left join sold using (begins)
    order by begins`.execute(db)
  return rows
}

export type Product = { description: string; paid: number; points: bigint }

/** The descriptions that earned the most points since a day. */
export async function topProducts(db: Db, app_id: bigint, since: string): Promise<Product[]> {
  const { rows } = await sql<Product>`
    select description, count(*)::integer as paid, sum(amount)::bigint as points
    from orders
    where app_id = ${app_id} and paid_at is not null
      and id >= (select first_order_since(${app_id}, ${since}::date::timestamp at time zone 'Asia/Shanghai' - ${MARGIN}))
      and created_at >= ${since}::date::timestamp at time zone 'Asia/Shanghai'
    group by description
    order by points desc, description
    limit ${PRODUCTS_MAX}`.execute(db)
  return rows
}

/** The time from the payment to the end of the attempt that the shop confirmed; null without such an attempt. */
export type Latency = { delivered: number; at_once: number; average_ms: number | null }

/** Reads the latency of the latest payment notifications. */
export async function latencyOf(db: Db, app_id: bigint): Promise<Latency> {
  const { rows } = await sql<Latency>`
    select count(*)::integer as delivered,
      count(*) filter (where attempts <= 1)::integer as at_once,
      round(extract(epoch from avg(confirmed_at - paid_at)) * 1000)::integer as average_ms
    from (
      select orders.paid_at, latest.attempts, attempt.started_at + attempt.duration_ms * interval '1 ms' as confirmed_at
      from (
        select id, order_id, attempts from notifications
        where app_id = ${app_id} and status = 'delivered' and kind in ('gateway', 'order.paid')
        order by id desc limit ${NOTIFICATIONS_MAX}
      ) as latest
      join orders on orders.id = latest.order_id
      cross join lateral (
        select started_at, duration_ms from notification_attempts
        where notification_id = latest.id and outcome = 'delivered' order by claim limit 1
      ) as attempt
    ) as confirmed`.execute(db)
  return rows[0]!
}
