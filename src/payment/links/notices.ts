/** Alerts the team of an application when one of its links runs low or sells out. spec/links 4.6. */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { raiseAlert } from '../alerts/alerts.ts'
import { rolesWith } from '../rights/rights.ts'

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
