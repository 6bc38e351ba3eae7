/** Alerts the team of an application when one of its links sells, runs low or sells out. spec/links 4.6. */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import { dayIn, startOfDay } from '../../web/periods/days.ts'
import { raiseAlert } from '../alerts/alerts.ts'
import { rolesWith } from '../rights/rights.ts'
import { isTip, type Link } from './find.ts'

type Stock = 'low' | 'sold_out' | null
type Changed = {
  id: bigint
  app_id: bigint
  slug: string
  title: string
  left: bigint
  before: Stock
  stock: Stock
}

/**
 * Raises the alerts that are due: one for each fall to the links' own bound, and one for each fall to nothing. A link that begins
 * there counts as fallen. Several processes may run it at once: a row that one of them has locked is left to it.
 */
export async function tellOfStock(deps: Core): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    const { rows } = await sql<Changed>`
      with changed as (
        select link.id, link.stock_alerted as before, units.remaining,
          case when units.remaining <= 0 then 'sold_out' when units.remaining <= link.low_stock then 'low' end as stock
        from links as link
        -- More codes than the bound need no count.
        cross join lateral (
          select least(
            link.stock - units_sold(link.id),
            case when link.delivery = 'codes' then (
              select count(*) from (
                select from link_codes where link_id = link.id and order_id is null and withdrawn_at is null
                limit link.low_stock + 1
              ) as free
            ) end
          ) as remaining
        ) as units
        where link.state = 'on_sale' and (link.stock is not null or link.delivery = 'codes')
          and link.stock_alerted is distinct from
            case when units.remaining <= 0 then 'sold_out' when units.remaining <= link.low_stock then 'low' end
        for no key update of link skip locked
      )
      update links as link set stock_alerted = changed.stock from changed where link.id = changed.id
      returning link.id, link.app_id, link.slug, link.title, changed.remaining as "left", changed.before, changed.stock`.execute(
      tx,
    )
    for (const { app_id, slug, title, left, before, stock } of rows) {
      // A link that sold out has more again, but has not risen above its bound: no other fall.
      if (stock === null || (stock === 'low' && before === 'sold_out')) continue
      await raiseAlert(tx, deps, {
        app_id,
        kind: stock === 'low' ? 'link_low' : 'link_sold_out',
        cause: `${slug} ${deps.clock().toISOString()}`,
        facts: { link: slug, title, left: String(left) },
        to: { roles: rolesWith('settings.edit') },
      })
    }
  })
}

/** Links with new sales that one round looks at. The next round finds the others. */
const SOLD_MAX = 500

/**
 * Raises the alerts of sales that are due: one for all sales of a link since the last look, or one for a day that is over in the
 * site's time zone. Test mode raises none, because anyone can buy there for nothing. Several processes may run it at once: a link
 * that one of them has locked is left to it.
 */
export async function tellOfSales(deps: Core): Promise<void> {
  const { time_zone: zone } = await deps.settings.read()
  const today = startOfDay(dayIn(zone, deps.clock()), zone)
  const { rows } = await sql<{ id: bigint }>`
    select link.id from links as link
    cross join lateral (
      select order_id from link_orders where link_id = link.id and sold_total > link.sales_alerted order by sold_total limit 1
    ) as sale
    join orders as paid on paid.id = sale.order_id
    where link.sale_alerts <> 'off' and link.book = 'live'
      and (link.sale_alerts = 'each' or paid.paid_at < ${today}::timestamptz)
    order by paid.paid_at limit ${SOLD_MAX}`.execute(deps.db)
  for (const { id } of rows)
    await deps.db.transaction().execute((tx) => tellOfSalesOf(tx, deps, { id, today, zone }))
}

/** What a link has sold since the last alert; with `day`, on that day. */
type Sold = { day: string | null; orders: bigint; units: bigint; points: string; last: bigint }

async function tellOfSalesOf(
  tx: Tx,
  deps: Core,
  { id, today, zone }: { id: bigint; today: Date; zone: string },
): Promise<void> {
  const link = await tx
    .selectFrom('links')
    .where('id', '=', id)
    .where('sale_alerts', '<>', 'off')
    .selectAll()
    .forNoKeyUpdate()
    .skipLocked()
    .executeTakeFirst()
  if (link === undefined) return
  const isDaily = link.sale_alerts === 'daily'
  // A sale of today ends the list, because the clocks of two processes may differ at midnight.
  const { rows } = await sql<Sold>`
    select day, count(*) as orders, sum(units)::bigint as units, sum(amount)::text as points, max(sold_total) as last
    from (
      select sale.units, sale.sold_total, paid.amount,
        case when ${isDaily} then (paid.paid_at at time zone ${zone})::date::text end as day,
        not ${isDaily} or bool_and(paid.paid_at < ${today}::timestamptz) over (order by sale.sold_total) as is_due
      from link_orders as sale join orders as paid on paid.id = sale.order_id
      where sale.link_id = ${id} and sale.sold_total > ${link.sales_alerted}
    ) as sold
    where is_due group by day order by last`.execute(tx)
  for (const sold of rows) await tellOfSale(tx, deps, link, sold)
  const last = rows.at(-1)?.last
  if (last === undefined) return
  await tx.updateTable('links').set({ sales_alerted: last }).where('id', '=', id).execute()
}

/** The buyers are not among the facts: the page of the sales names them, and an anonymised one neutrally. */
async function tellOfSale(
  tx: Tx,
  deps: Core,
  { app_id, slug, title, ...link }: Link,
  { day, orders, units, points, last }: Sold,
): Promise<void> {
  await raiseAlert(tx, deps, {
    ...{ app_id, kind: 'link_sold', cause: `${slug} ${last}`, to: { roles: rolesWith('settings.edit') } },
    facts: {
      ...{ link: slug, title, orders: String(orders), units: String(units), points },
      ...(day !== null && { day }),
      ...(isTip(link) && { tip: 'yes' }),
    },
  })
}
