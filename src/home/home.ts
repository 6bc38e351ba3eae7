/**
 * What a member's home page shows of orders, applications and sessions. Each read is one statement that looks at a bounded
 * number of rows by an index, however much the member has done.
 */
import { sql } from 'kysely'
import type { Core } from '../core/core.ts'
import type { Db } from '../database/connection.ts'
import type { Book } from '../database/tables/columns.ts'

const ORDERS_MAX = 5
/** The opened orders, the paid ones and the authorised applications that are looked at. */
const LOOKED_AT_MAX = 200
const APPS_MAX = 9
const SESSIONS_MAX = 20

export type WaitingOrder = {
  transaction_id: string
  description: string
  amount: bigint
  expires_at: Date
  book: Book
  app_name: string
  app_logo_url: string | null
}

/** Returns the orders that a member has opened and can still pay, the one that expires first at the beginning. */
export async function ordersToPay({ db, clock }: Core, user_id: bigint): Promise<WaitingOrder[]> {
  const { rows } = await sql<WaitingOrder>`
    with seen as materialized (
      select order_id from order_views where user_id = ${user_id} order by order_id desc limit ${LOOKED_AT_MAX}
    )
    select o.transaction_id, o.description, o.amount, o.expires_at, o.book, app.name as app_name, app.logo_url as app_logo_url
    from seen
    cross join lateral (select * from orders where id = seen.order_id limit 1) as o
    cross join lateral (select * from payment_apps where id = o.app_id limit 1) as app
    where o.status = 'unpaid' and o.expires_at > ${clock()} and o.frozen_at is null
      and (app.book = 'test' or app.status = 'approved')
    order by o.expires_at limit ${ORDERS_MAX}`.execute(db)
  return rows
}

/** An application or a shop on the home page. */
export type HomeApp = {
  kind: 'shop' | 'app'
  name: string
  logo_url: string | null
  homepage: string | null
}

/**
 * Returns what the member uses, the last used first, and what the site offers beside it: live shops that were approved, and
 * applications that their owners list and the staff has reviewed, with a homepage, the newest review first.
 */
export async function appsFor(db: Db, user_id: bigint): Promise<{ used: HomeApp[]; offered: HomeApp[] }> {
  const { rows } = await sql<HomeApp & { is_used: boolean }>`
    with paid as materialized (
      select app_id, paid_at from orders where payer_id = ${user_id} order by id desc limit ${LOOKED_AT_MAX}
    ),
    allowed as materialized (
      select app_id, updated_at from consents where user_id = ${user_id} order by app_id desc limit ${LOOKED_AT_MAX}
    ),
    used as (
      select 'shop' as kind, app.name, app.logo_url, app.homepage, shop.at
      from (select app_id, max(paid_at) as at from paid group by app_id) as shop
      join payment_apps as app on app.id = shop.app_id
      where app.book = 'live' and app.status = 'approved'
      union all
      select 'app', app.name, app.logo_url, app.homepage, allowed.updated_at
      from allowed join oauth_apps as app on app.id = allowed.app_id
      where app.suspended_at is null
      order by at desc limit ${APPS_MAX}
    ),
    offered as (
      (select 'shop' as kind, name, logo_url, homepage, reviewed_at as at from payment_apps
        where book = 'live' and status = 'approved' and homepage is not null
        order by reviewed_at desc limit ${APPS_MAX * 2})
      union all
      (select 'app', name, logo_url, homepage, reviewed_at from oauth_apps
        where reviewed_at is not null and suspended_at is null and homepage is not null and is_listed
        order by reviewed_at desc limit ${APPS_MAX * 2})
    )
    select true as is_used, kind, name, logo_url, homepage, at from used
    union all
    select false, kind, name, logo_url, homepage, at from offered
    order by is_used desc, at desc`.execute(db)
  const shown = new Set<string>()
  const isFirst = ({ name, homepage }: HomeApp) => {
    const key = `${name.toLowerCase()} ${homepage ?? ''}`
    return !shown.has(key) && Boolean(shown.add(key))
  }
  const first = rows.filter(isFirst)
  const used = first.filter(({ is_used }) => is_used)
  const places = Math.max(3, APPS_MAX - used.length)
  return { used, offered: first.filter(({ is_used }) => !is_used).slice(0, places) }
}

/** Returns the applications and shops that a visitor sees, the newest review first. */
export async function appsForVisitors(db: Db): Promise<HomeApp[]> {
  // No member has the number 0.
  return (await appsFor(db, 0n)).offered.slice(0, APPS_MAX)
}

export type OtherSessions = { count: number; isMore: boolean; last: { agent: string; at: Date } | undefined }

/** Returns how many other browsers are signed in to the account, and the one that was used last. */
export async function otherSessions(
  { db, clock }: Core,
  { id, user }: { id: bigint; user: { id: bigint } },
): Promise<OtherSessions> {
  const rows = await db
    .selectFrom('sessions')
    .where('user_id', '=', user.id)
    .where('expires_at', '>', clock())
    .where('id', '<>', id)
    .select('agent')
    .select((eb) => eb.fn.coalesce('last_seen_at', 'auth_time').as('at'))
    .orderBy('at', 'desc')
    .limit(SESSIONS_MAX + 1)
    .execute()
  return { count: Math.min(rows.length, SESSIONS_MAX), isMore: rows.length > SESSIONS_MAX, last: rows[0] }
}
