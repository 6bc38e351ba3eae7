/**
 * What a member's home page shows of orders, applications and sessions. Each read is one statement that looks at a bounded
 * number of rows by an index, however much the member has done.
 */
import { sql } from 'kysely'
import type { Core } from '../core/core.ts'
import type { Book } from '../database/tables/columns.ts'
import { type GroupRules, type MemberStatus, refusalOf } from '../identity/apps/access.ts'

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

/** A row of the statement, with what decides whether it is shown. A shop has no group rules. Linked applications have one `shop`. */
type Candidate = HomeApp & GroupRules & { is_used: boolean; shop: bigint | null }

/**
 * Returns what the member uses, the last used first, and what the site offers beside it: live shops that were approved, and
 * applications that their owners list and the staff has reviewed, with a homepage, the newest review first. Leaves out
 * applications whose group rules refuse the member now, unconfirmed ones, and all whose owner is suspended or banned.
 */
export async function appsFor(
  { db, clock }: Pick<Core, 'db' | 'clock'>,
  user: (MemberStatus & { id: bigint }) | undefined,
): Promise<{ used: HomeApp[]; offered: HomeApp[] }> {
  const now = clock()
  // No member has the number 0.
  const user_id = user?.id ?? 0n
  const isFree = sql`not is_banned_or_suspended(owner.is_banned, owner.suspended_till, ${now}::timestamptz)`
  const { rows } = await sql<Candidate>`
    with paid as materialized (
      select app_id, paid_at from orders where payer_id = ${user_id} order by id desc limit ${LOOKED_AT_MAX}
    ),
    allowed as materialized (
      select app_id, updated_at from consents where user_id = ${user_id} order by app_id desc limit ${LOOKED_AT_MAX}
    ),
    used as (
      select 'shop' as kind, ${linkOf('payment_app_id')}, app.name, app.logo_url, app.homepage, shop.at, '{}'::text[] as allow_groups,
        '{}'::text[] as deny_groups
      from (select app_id, max(paid_at) as at from paid group by app_id) as shop
      join payment_apps as app on app.id = shop.app_id
      join users as owner on owner.id = app.applicant_id
      where app.book = 'live' and app.status = 'approved' and ${isFree}
      union all
      select 'app', ${linkOf('oauth_app_id')}, app.name, app.logo_url, app.homepage, allowed.updated_at, app.allow_groups, app.deny_groups
      from allowed join oauth_apps as app on app.id = allowed.app_id
      left join users as owner on owner.id = app.owner_id
      where app.suspended_at is null and app.confirmed_at is not null and ${isFree}
    ),
    offered as (
      (select 'shop' as kind, ${linkOf('payment_app_id')}, app.name, app.logo_url, app.homepage, app.reviewed_at as at, '{}'::text[] as allow_groups,
          '{}'::text[] as deny_groups
        from payment_apps as app join users as owner on owner.id = app.applicant_id
        where app.book = 'live' and app.status = 'approved' and app.homepage is not null and ${isFree}
        order by app.reviewed_at desc limit ${APPS_MAX * 2})
      union all
      (select 'app', ${linkOf('oauth_app_id')}, app.name, app.logo_url, app.homepage, app.reviewed_at, app.allow_groups, app.deny_groups
        from oauth_apps as app join users as owner on owner.id = app.owner_id
        where app.reviewed_at is not null and app.suspended_at is null and app.homepage is not null and app.is_listed
          and app.confirmed_at is not null and ${isFree}
        order by app.reviewed_at desc limit ${LOOKED_AT_MAX})
    )
    select true as is_used, kind, shop, name, logo_url, homepage, allow_groups, deny_groups, at from used
    union all
    select false, kind, shop, name, logo_url, homepage, allow_groups, deny_groups, at from offered
    order by is_used desc, at desc`.execute(db)
  const isAdmitted = (app: Candidate) => user === undefined || refusalOf(user, app, now) === undefined
  const shown = new Set<string>()
  const isFirst = ({ shop, name, homepage }: Candidate) => {
    const key = shop === null ? `${name.toLowerCase()} ${homepage ?? ''}` : `shop ${shop}`
    return !shown.has(key) && Boolean(shown.add(key))
  }
  const first = rows.filter(isAdmitted).filter(isFirst)
  const used = first.filter(({ is_used }) => is_used).slice(0, APPS_MAX)
  const places = Math.max(3, APPS_MAX - used.length)
  return { used, offered: first.filter(({ is_used }) => !is_used).slice(0, places) }
}

/** The link of an application `app`, by the column of its kind. */
const linkOf = (column: 'oauth_app_id' | 'payment_app_id') =>
  sql`(select oauth_app_id from shop_links where ${sql.ref(column)} = app.id) as shop`

/** Returns the applications and shops that a visitor sees, the newest review first. */
export async function appsForVisitors(deps: Pick<Core, 'db' | 'clock'>): Promise<HomeApp[]> {
  return (await appsFor(deps, undefined)).offered.slice(0, APPS_MAX)
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
