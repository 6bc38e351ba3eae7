/** What a shop's team reads of its links. spec/links 1.1 and 1.2. */
import { sql } from 'kysely'
import type { Db } from '../../database/connection.ts'
import { rowsOfApp } from '../../database/paging.ts'
import type { LinkState } from '../../database/tables/links.ts'
import { AppError } from '../../platform/errors.ts'
import { permits } from '../rights/rights.ts'
import type { Link } from './find.ts'
import { waitingMessages } from './messages.ts'
import { PICTURES } from './pictures.ts'

/** The state of a link at a moment: the stored one, or what the clock and the sales make of it. */
export type ShownState = LinkState | 'not_yet' | 'over' | 'sold_out'

/** Decides the state that pages show. */
export function shownState(
  {
    state,
    sells_from,
    sells_until,
    left,
  }: Pick<Link, 'state' | 'sells_from' | 'sells_until'> & Pick<Counted, 'left'>,
  now: Date,
): ShownState {
  if (state !== 'on_sale') return state
  if (sells_until !== null && now >= sells_until) return 'over'
  if (left !== null && left <= 0n) return 'sold_out'
  return sells_from !== null && now < sells_from ? 'not_yet' : state
}

/** Units sold, and units left; null without a limit. */
type Counted = { sold: bigint; left: bigint | null }

const sold = sql<bigint>`units_sold(link.id)`
/** Unsold units by stock and by codes, the lesser of both. The query names the link `link`. */
export const unitsLeft = sql<bigint | null>`least(
  link.stock - units_sold(link.id),
  case when link.delivery = 'codes' then (
    select count(*) from link_codes where link_id = link.id and order_id is null and withdrawn_at is null
  ) end
)`

const TAKEN_DAYS = 30

export type ListedLink = Awaited<ReturnType<typeof linksOfApp>>[number]

/** Lists the links of an application, the newest first, with the points paid for each in the last 30 days. */
export async function linksOfApp(
  db: Db,
  app_id: bigint,
  { now, before, limit }: { now: Date; before: bigint | undefined; limit: number },
) {
  const since = new Date(now.getTime() - TAKEN_DAYS * 86_400_000)
  const links = await db
    .selectFrom('links as link')
    .where(rowsOfApp('link', app_id, { before }))
    .orderBy('link.app_id', 'desc')
    .orderBy('link.id', 'desc')
    .limit(limit)
    .select(['link.id', 'link.slug', 'link.title', 'link.state', 'link.sells_from', 'link.sells_until'])
    .select(['link.amount', 'link.amount_min', 'link.amount_max', sold.as('sold'), unitsLeft.as('left')])
    .execute()
  const taken = await takenSince(db, app_id, since)
  return links.map((link) => ({
    ...link,
    shown: shownState(link, now),
    taken: taken.get(link.id) ?? 0n,
  }))
}

/** The points paid for each link since a moment, before fees and refunds. */
async function takenSince(db: Db, app_id: bigint, since: Date): Promise<Map<bigint, bigint>> {
  const { rows } = await sql<{ link_id: bigint; points: string }>`
    select sale.link_id, sum(paid.amount) as points
    from orders as paid join link_orders as sale on sale.order_id = paid.id
    where paid.app_id = ${app_id} and paid.paid_at >= ${since}::timestamptz and paid.door = 'link'
    group by sale.link_id`.execute(db)
  return new Map(rows.map(({ link_id, points }) => [link_id, BigInt(points)]))
}

/** Links that the page of a member shows at once. */
const SHARED_MAX = 50

export type SharedLink = Awaited<ReturnType<typeof linksToShare>>[number]

/** Lists the links that a member can share, of all live applications in which they read orders: on sale or paused, the newest first. */
export async function linksToShare(db: Db, user_id: bigint, now: Date) {
  const links = await db
    .selectFrom('links as link')
    .innerJoin('payment_apps', 'payment_apps.id', 'link.app_id')
    .where(permits(user_id, 'orders.read'))
    .where('payment_apps.book', '=', 'live')
    .where('link.state', 'in', ['on_sale', 'paused'])
    .orderBy('link.id', 'desc')
    .limit(SHARED_MAX)
    .select(['link.id', 'link.slug', 'link.title', 'link.state', 'link.sells_from', 'link.sells_until'])
    .select(['link.amount', 'link.amount_min', 'link.amount_max', unitsLeft.as('left')])
    .select(['payment_apps.payment_id', 'payment_apps.name as app_name'])
    .execute()
  return links.map((link) => ({ ...link, shown: shownState(link, now) }))
}

/** Lists the approved live applications in which a member may make a link, the newest first. */
export async function appsToSellWith(db: Db, user_id: bigint) {
  return db
    .selectFrom('payment_apps')
    .where(permits(user_id, 'settings.edit'))
    .where('book', '=', 'live')
    .where('status', '=', 'approved')
    .orderBy('id', 'desc')
    .limit(SHARED_MAX)
    .select(['payment_id', 'name'])
    .execute()
}

export type FoundLink = Awaited<ReturnType<typeof findLinks>>[number]

/** Links that staff sees at once, and how many titles a search looks at. */
const FOUND_MAX = 50
const LOOKED_THROUGH_MAX = 1_000

/**
 * Finds links for staff, the reported ones first, then the stopped ones, then the newest: all, or those of an address, an application, an owner's name or
 * a part of a title. Drafts are their team's alone.
 */
export async function findLinks(db: Db, text: string, now: Date) {
  const slug = /(?:^|\/l\/)([a-z0-9]{10})$/.exec(text)?.[1] ?? ''
  const name = text.replace(/^@/, '').toLowerCase()
  const links = await db
    .selectFrom('links as link')
    .innerJoin('payment_apps as app', 'app.id', 'link.app_id')
    .innerJoin('users as owner', 'owner.id', 'app.applicant_id')
    .where('link.state', '<>', 'draft')
    .$if(text !== '', (query) =>
      query.where(
        sql<boolean>`(
          link.slug = ${slug} or app.payment_id = ${text} or lower(app.name) = ${name} or lower(owner.username) = ${name}
          or link.id in (
            select id from (select id, title from links order by id desc limit ${LOOKED_THROUGH_MAX}) as newest
            where position(${name} in lower(title)) > 0
          )
        )`,
      ),
    )
    .orderBy(sql`exists (select from link_reports where link_id = link.id and settled_at is null)`, 'desc')
    .orderBy((eb) => eb('link.state', '<>', 'stopped'))
    .orderBy('link.id', 'desc')
    .limit(FOUND_MAX)
    .select(['link.id', 'link.slug', 'link.title', 'link.state', 'link.sells_from', 'link.sells_until'])
    .select(['link.stopped_reason', 'link.created_at', 'app.payment_id', 'app.name as app_name'])
    .select(['owner.username as owner', 'owner.id as owner_id', sold.as('sold'), unitsLeft.as('left')])
    .execute()
  return links.map((link) => ({ ...link, shown: shownState(link, now) }))
}

export type TeamLink = Awaited<ReturnType<typeof getLinkOf>>

/** Finds a link of an application. Throws not_found. */
export async function getLinkOf(db: Db, app_id: bigint, slug: string, now: Date) {
  const link = await db
    .selectFrom('links as link')
    .where('link.app_id', '=', app_id)
    .where('link.slug', '=', slug)
    .selectAll('link')
    .select([sold.as('sold'), unitsLeft.as('left')])
    .select(
      sql<number>`(
        select count(*)::int from link_codes where link_id = link.id and order_id is null and withdrawn_at is null
      )`.as('free'),
    )
    .select([PICTURES.picture.as('picture'), waitingMessages.as('waiting')])
    .executeTakeFirst()
  if (link === undefined) throw new AppError('not_found', 'There is no such link')
  return { ...link, shown: shownState(link, now) }
}
