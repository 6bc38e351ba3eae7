/**
 * The sales of every application by day and by product. The worker adds what happened in each hour, so a page reads as few rows for a
 * year of a million orders as for one of ten. An order counts on the day of its creation, but it may be paid and refunded much
 * later. So creations, payments and refunds are three kinds of events, and each is added once, to the day of its order.
 */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { BIGGEST_ID, type Db } from '../../database/connection.ts'
import { unhurried } from '../../database/timeouts.ts'

/** Each process counts until the beginning of an hour. */
const SPAN = sql.lit('1 hour')
/** The wait after an hour. An event has the time of its request and commits later, and the clocks of processes differ. */
const SETTLED_MS = 600_000
/** Orders that were created within so long a time may have ids in another order. */
const UNORDERED = sql.lit('20 minutes')
/** The events of one day at most are added in one transaction, unless no order was created for longer. */
const COUNTED_AT_ONCE = sql.lit('1 day')
/** Earlier than every order. */
const BEGINNING = new Date(0)

/** What a transaction adds: the events from one moment to another one, of orders with this id at least. */
type Step = { zone: string; from: Date; until: Date; orders_from: bigint }

/** Adds all settled events that are not added yet. Several processes may do it at once: one of them adds them. */
export async function countSales(
  { db, databaseTime, settings }: Pick<Core, 'db' | 'databaseTime' | 'settings'>,
  isStopped: () => boolean = () => false,
): Promise<void> {
  const { time_zone: zone } = await settings.read()
  const settled = new Date((await databaseTime()).getTime() - SETTLED_MS)
  await sql`
    insert into sales_counted (zone, until, orders_from) values (${zone}, ${BEGINNING}, 0) on conflict do nothing`.execute(
    db,
  )
  let isBehind = true
  while (isBehind && !isStopped()) isBehind = await unhurried(db, (tx) => countOnce(tx, zone, settled))
}

/** Makes one step. Returns whether another one may follow. */
async function countOnce(tx: Db, zone: string, settled: Date): Promise<boolean> {
  const { rows } = await sql<Step>`
    select zone, until as "from", orders_from, least(
      date_bin(${SPAN}, ${settled}::timestamptz, 'epoch'),
      greatest(until, date_bin(${SPAN}, first.created_at, 'epoch')) + ${COUNTED_AT_ONCE}::interval
    ) as until
    from sales_counted
    left join lateral (select created_at from orders where id >= orders_from order by id limit 1) as first on true
    for update of sales_counted skip locked`.execute(tx)
  const [step] = rows
  if (step === undefined) return false
  if (step.zone !== zone) await beginAgain(tx, zone)
  else if (step.until <= step.from) return false
  else await addEvents(tx, step)
  return true
}

/** Days are those of a time zone. After a change of it, everything is counted again, and pages read the orders meanwhile. */
async function beginAgain(tx: Db, zone: string): Promise<void> {
  await sql`delete from payment_app_product_sales`.execute(tx)
  await sql`delete from payment_app_products`.execute(tx)
  await sql`delete from payment_app_sales`.execute(tx)
  await sql`update sales_counted set zone = ${zone}, until = ${BEGINNING}, orders_from = 0`.execute(tx)
}

/** Adds the events of a step to the days and the products of their orders. */
async function addEvents(tx: Db, step: Step): Promise<void> {
  await sql`
    with happened as materialized (${happenedIn(step)}),
    by_day as (
      insert into payment_app_sales as known (app_id, day, orders, paid, points, merchant_points, refunds, refunded)
      select app_id, day, sum(orders), sum(paid), sum(points), sum(merchant_points), sum(refunds), sum(refunded)
      from happened group by app_id, day
      on conflict (app_id, day) do update
      set orders = known.orders + excluded.orders, paid = known.paid + excluded.paid, points = known.points + excluded.points,
        merchant_points = known.merchant_points + excluded.merchant_points, refunds = known.refunds + excluded.refunds,
        refunded = known.refunded + excluded.refunded
    ),
    product as materialized (
      select app_id, description, max(day) as last_day from happened where paid > 0 or refunded > 0 group by app_id, description
    ),
    put as (
      insert into payment_app_products (app_id, description, last_day)
      select app_id, description, last_day from product
      where not exists (
        select from payment_app_products as known
        where known.app_id = product.app_id and known.description = product.description and known.last_day >= product.last_day
      )
      on conflict (app_id, description) do update set last_day = excluded.last_day
      returning id, app_id, description
    ),
    named as (
      select id, app_id, description from put
      union
      select known.id, known.app_id, known.description from product join payment_app_products as known using (app_id, description)
    ),
    sold as materialized (
      select named.id as product_id, day, paid, points, merchant_points, refunded
      from happened join named using (app_id, description) where paid > 0 or refunded > 0
    ),
    -- A late payment of an old order counts in every later row of its product, too.
    changed as (
      update payment_app_product_sales as known
      set paid = known.paid + more.paid, points = known.points + more.points,
        merchant_points = known.merchant_points + more.merchant_points, refunded = known.refunded + more.refunded
      from (
        select later.product_id, later.day, sum(sold.paid) as paid, sum(sold.points) as points,
          sum(sold.merchant_points) as merchant_points,
          coalesce(sum(sold.refunded) filter (where sold.day = later.day), 0) as refunded
        from sold join payment_app_product_sales as later on later.product_id = sold.product_id
          and later.day >= sold.day and (sold.paid > 0 or later.day = sold.day)
        group by later.product_id, later.day
      ) as more
      where known.product_id = more.product_id and known.day = more.day
    )
    insert into payment_app_product_sales (product_id, day, paid, points, merchant_points, refunded)
    select product_id, day, coalesce(before.paid, 0) + sold.paid, coalesce(before.points, 0) + sold.points,
      coalesce(before.merchant_points, 0) + sold.merchant_points, sold.refunded
    from (
      select product_id, day, sum(paid) over until_day as paid, sum(points) over until_day as points,
        sum(merchant_points) over until_day as merchant_points, refunded
      from sold window until_day as (partition by product_id order by day)
    ) as sold
    left join lateral (
      select paid, points, merchant_points from payment_app_product_sales as known
      where known.product_id = sold.product_id and known.day < sold.day order by known.day desc limit 1
    ) as before on true
    where not exists (
      select from payment_app_product_sales as known where known.product_id = sold.product_id and known.day = sold.day
    )`.execute(tx)
  await sql`
    update sales_counted set until = ${step.until}, orders_from = greatest(orders_from, (
      select max(id) + 1 from orders
      where ${idsOf(step)} and created_at < ${step.until}::timestamptz - ${UNORDERED}::interval
    ))`.execute(tx)
}

/** The events of a step by the day and the description of their orders. */
function happenedIn(step: Step) {
  const { zone, from, until } = step
  const within = (moment: string) =>
    sql`${sql.ref(moment)} >= ${from}::timestamptz and ${sql.ref(moment)} < ${until}::timestamptz`
  return sql`
    select app_id, (created_at at time zone ${zone})::date as day, description, sum(orders) as orders, sum(paid) as paid,
      sum(points) as points, sum(merchant_points) as merchant_points, sum(refunds) as refunds, sum(refunded) as refunded
    from (
      select app_id, created_at, description, 1 as orders, 0 as paid, 0::bigint as points, 0::bigint as merchant_points,
        0 as refunds, 0::bigint as refunded
      from orders where ${idsOf(step)} and ${within('created_at')}
      union all
      select paid.app_id, paid.created_at, paid.description, 0, 1, paid.amount, paid.merchant_points, 0, 0
      from payment_apps as app
      cross join lateral (select * from orders where app_id = app.id and ${within('paid_at')}) as paid
      union all
      select o.app_id, o.created_at, o.description, 0, 0, 0, 0, ${isFirstRefund('f')}::integer, f.amount
      from refunds as f join orders as o on o.id = f.order_id where ${within('f.refunded_at')}
    ) as event
    group by 1, 2, 3`
}

/** Selects, by the primary key, the orders that may have been created in a step. */
function idsOf({ orders_from, until }: Step) {
  return sql`id >= ${orders_from}::bigint and id < coalesce((
    select id from orders where id >= ${orders_from}::bigint and created_at >= ${until}::timestamptz + ${UNORDERED}::interval
    order by id limit 1
  ), ${BIGGEST_ID}::bigint)`
}

/** Whether a refund is the first one of its order. */
export function isFirstRefund(refund: string) {
  return sql`(not exists (
    select from refunds as earlier where earlier.order_id = ${sql.ref(`${refund}.order_id`)} and earlier.id < ${sql.ref(`${refund}.id`)}
  ))`
}
