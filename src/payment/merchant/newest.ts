/** What became of an application's newest orders, and how fast its shop confirms. Each read looks at a bounded number of rows. */
import { sql } from 'kysely'
import type { Db } from '../../database/connection.ts'
import { rowsOfApp } from '../../database/paging.ts'
import { PAYMENT_KINDS } from '../notifications/redelivery.ts'

/** The newest orders that are looked at. */
const NEWEST_MAX = 250

/** What became of an application's newest orders since a moment. `paid`, `expired` and `closed` are the finished ones. */
export type Newest = {
  paid: number
  expired: number
  closed: number
  open: number
  /** Whether there are older ones since that moment. */
  isCut: boolean
  /** The descriptions among them that earned the most points. */
  products: { description: string; paid: number; points: string }[]
}

/** Reads what became of the newest orders. */
export async function newestOf(
  db: Db,
  app_id: bigint,
  { since, now, products }: { since: Date; now: Date; products: number },
): Promise<Newest> {
  const { rows } = await sql<Omit<Newest, 'isCut'>>`
    with newest as materialized (
      select description, amount, paid_at is not null as is_paid, status = 'closed' as is_closed,
        status = 'unpaid' and expires_at > ${now} as is_open
      from (
        select description, amount, paid_at, status, expires_at, created_at from orders
        where ${rowsOfApp('orders', app_id)} order by app_id desc, id desc limit ${NEWEST_MAX}
      ) as last where created_at >= ${since}
    )
    select count(*) filter (where is_paid)::integer as paid, count(*) filter (where is_closed)::integer as closed,
      count(*) filter (where is_open)::integer as open,
      count(*) filter (where not is_paid and not is_closed and not is_open)::integer as expired,
      coalesce((
        select jsonb_agg(jsonb_build_object('description', description, 'paid', paid, 'points', points::text) order by points desc, description)
        from (
          select description, count(*) as paid, sum(amount) as points from newest where is_paid
          group by description order by points desc, description limit ${products}
        ) as best
      ), '[]') as products
    from newest`.execute(db)
  const found = rows[0]!
  return { ...found, isCut: found.paid + found.expired + found.closed + found.open === NEWEST_MAX }
}

/** The newest notifications that are looked at. */
const NOTIFICATIONS_MAX = 80

/**
 * The time from the payment to the end of the attempt that the shop confirmed: its median, which one bad hour does not move;
 * null without such an attempt. And the notifications among them that needed more than one attempt.
 */
export type Latency = { delivered: number; retried: number; median_ms: number | null }

/** Reads the latency of the latest payment notifications. */
export async function latencyOf(db: Db, app_id: bigint): Promise<Latency> {
  const { rows } = await sql<Latency>`
    select count(*)::integer as delivered, count(*) filter (where attempts > 1)::integer as retried,
      round(extract(epoch from percentile_cont(0.5) within group (order by confirmed_at - paid_at)) * 1000)::integer as median_ms
    from (
      select orders.paid_at, latest.attempts, attempt.started_at + attempt.duration_ms * interval '1 ms' as confirmed_at
      from (
        select id, order_id, attempts, status, kind from notifications
        where ${rowsOfApp('notifications', app_id)} order by app_id desc, id desc limit ${NOTIFICATIONS_MAX}
      ) as latest
      join orders on orders.id = latest.order_id
      cross join lateral (
        select started_at, duration_ms from notification_attempts
        where notification_id = latest.id and outcome = 'delivered' order by claim limit 1
      ) as attempt
      where latest.status = 'delivered' and latest.kind in (${sql.join(PAYMENT_KINDS)})
    ) as confirmed`.execute(db)
  return rows[0]!
}
