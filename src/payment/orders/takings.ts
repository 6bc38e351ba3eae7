/**
 * The takings of an application between moments, without tips, which its owner does not get. The worker keeps running totals for each
 * five minutes, so a page reads as few rows for a shop with a million payments as for one with ten.
 */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { unhurried } from '../../database/timeouts.ts'

/** The length of the times for which the worker keeps totals. Each day in each time zone begins with one. */
const SPAN = sql.lit('5 minutes')
/** The wait after such a time. A payment has the time of its request and commits later, and the clocks of processes differ. */
const SETTLED_MS = 600_000
/** An application's payments of one day at most are counted in one statement. */
const COUNTED_AT_ONCE = sql.lit('1 day')

export type Takings = { payments: number; points: bigint; merchant_points: bigint }

/**
 * Adds up the payments between each moment and the next.
 * @param edges at least two moments, the earliest first. Between the first and the last one lie one fewer answers than edges.
 */
export async function takingsBetween(db: Db, app_id: bigint, edges: readonly Date[]): Promise<Takings[]> {
  const { rows } = await sql<{ payments: bigint; points: string; merchant_points: string }>`
    select coalesce(total.payments, 0) + later.payments as payments,
      coalesce(total.points, 0) + later.points as points,
      coalesce(total.merchant_points, 0) + later.merchant_points as merchant_points
    from unnest(${edges}::timestamptz[]) with ordinality as edge (at, place)
    left join lateral (
      select until, payments, points, merchant_points from payment_app_takings
      where app_id = ${app_id} and until <= edge.at order by until desc limit 1
    ) as total on true
    cross join lateral (
      select count(*) as payments, coalesce(sum(amount), 0) as points, coalesce(sum(merchant_points), 0) as merchant_points
      from orders
      where app_id = ${app_id} and paid_at >= coalesce(total.until, '-infinity') and paid_at < edge.at and door <> 'tip'
    ) as later
    order by edge.place`.execute(db)
  return rows.slice(1).map((end, i) => {
    const begin = rows[i]!
    return {
      payments: Number(end.payments - begin.payments),
      points: BigInt(end.points) - BigInt(begin.points),
      merchant_points: BigInt(end.merchant_points) - BigInt(begin.merchant_points),
    }
  })
}

/**
 * Adds the totals of every application whose settled payments are not in them yet. Several processes may do it at once: they
 * find the same rows.
 */
export async function countTakings(
  { db, databaseTime }: Pick<Core, 'db' | 'databaseTime'>,
  isStopped: () => boolean = () => false,
): Promise<void> {
  const settled = new Date((await databaseTime()).getTime() - SETTLED_MS)
  let added = 1n
  while (added > 0n && !isStopped()) added = await unhurried(db, (tx) => countOnce(tx, settled))
}

/** Counts, for each application, from its last total to one day after its next payment. Returns the number of new rows. */
async function countOnce(tx: Db, settled: Date): Promise<bigint> {
  const { numAffectedRows } = await sql`
    insert into payment_app_takings (app_id, until, payments, points, merchant_points)
    select app.id, span.until, coalesce(total.payments, 0) + span.payments, coalesce(total.points, 0) + span.points,
      coalesce(total.merchant_points, 0) + span.merchant_points
    from payment_apps as app
    left join lateral (
      select until, payments, points, merchant_points from payment_app_takings
      where app_id = app.id order by until desc limit 1
    ) as total on true
    cross join lateral (
      select paid_at as at from orders
      where app_id = app.id and paid_at >= coalesce(total.until, '-infinity') and not app.is_tips order by paid_at limit 1
    ) as next
    cross join lateral (
      select until, sum(count(*)) over until_then as payments, sum(sum(amount)) over until_then as points,
        sum(sum(merchant_points)) over until_then as merchant_points
      from (
        select date_bin(${SPAN}, paid_at, 'epoch') + ${SPAN}::interval as until, amount, merchant_points from orders
        where app_id = app.id and paid_at >= next.at
          and paid_at < least(
            date_bin(${SPAN}, ${settled}::timestamptz, 'epoch'),
            date_bin(${SPAN}, next.at, 'epoch') + ${COUNTED_AT_ONCE}::interval
          )
      ) as paid
      group by until window until_then as (order by until)
    ) as span
    on conflict do nothing`.execute(tx)
  return numAffectedRows ?? 0n
}
