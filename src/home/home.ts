/**
 * What a member's home page shows of orders and sessions. Each read is one statement that looks at a bounded
 * number of rows by an index, however much the member has done.
 */
import { sql } from 'kysely'
import type { Core } from '../core/core.ts'
import type { Book } from '../database/tables/columns.ts'

/** So few that the page still begins with the wallet. The page of payments lists them all. */
const ORDERS_MAX = 2
/** The opened orders that are looked at. */
const LOOKED_AT_MAX = 200
const SESSIONS_MAX = 20

export type WaitingOrder = {
  transaction_id: string
  description: string
  amount: bigint
  expires_at: Date
  book: Book
  app_name: string
  app_logo_url: string | null
  /** Whom a tip pays. Null for every other order. */
  author: string | null
}

/** Returns the orders that a member has opened and can still pay, the one that expires first at the beginning. */
export async function ordersToPay({ db, clock }: Core, user_id: bigint): Promise<WaitingOrder[]> {
  const { rows } = await sql<WaitingOrder>`
    with seen as materialized (
      select order_id from order_views where user_id = ${user_id} order by order_id desc limit ${LOOKED_AT_MAX}
    )
    select o.transaction_id, o.description, o.amount, o.expires_at, o.book, app.name as app_name, app.logo_url as app_logo_url,
      case when o.door = 'tip' then (
        select author.username from tips join users as author on author.id = tips.to_user_id where tips.order_id = o.id
      ) end as author
    from seen
    cross join lateral (select * from orders where id = seen.order_id limit 1) as o
    cross join lateral (select * from payment_apps where id = o.app_id limit 1) as app
    where o.status = 'unpaid' and o.expires_at > ${clock()} and o.frozen_at is null
      and (app.book = 'test' or app.status = 'approved')
    order by o.expires_at limit ${ORDERS_MAX}`.execute(db)
  return rows
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
