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
/** More unsold codes than these are many, wherever visitors or lists show them. An alert of a low stock begins at them at most. */
const CODES_COUNTED_MAX = 1_000n
/** Unsold units by stock and by counted codes, the lesser of both. The query names the link `link`. */
export const unitsLeft = sql<bigint | null>`least(
  link.stock - units_sold(link.id),
  case when link.delivery = 'codes' then (
    select count(*) from (
      select from link_codes where link_id = link.id and order_id is null and withdrawn_at is null limit ${CODES_COUNTED_MAX + 1n}
    ) as free
  ) end
)`

/** Whether more units are left than unitsLeft counts. */
export function hasManyLeft({ delivery, left }: Pick<Link, 'delivery'> & Pick<Counted, 'left'>): boolean {
  return delivery === 'codes' && left !== null && left > CODES_COUNTED_MAX
}

/** Whether unsold codes, and not the stock, bound what is left. */
export function isShortOfCodes({
  delivery,
  stock,
  sold,
  left,
}: Pick<Link, 'delivery'> & {
  stock: number | null
  sold: number | bigint
  left: number | bigint | null
}): boolean {
  return delivery === 'codes' && left !== null && (stock === null || stock - Number(sold) > left)
}

const TAKEN_DAYS = 30
/** The points paid for a link in those days, before fees and refunds. The query names the link `link`. */
const takenUntil = (now: Date) => sql<string>`
  points_taken(link.id) - points_taken_before(link.id, ${new Date(now.getTime() - TAKEN_DAYS * 86_400_000)})`
/** Adds to a read link what pages show of it. */
const listed = <
  T extends Parameters<typeof shownState>[0] &
    Parameters<typeof isShortOfCodes>[0] &
    Counted & { taken: string },
>(
  link: T,
  now: Date,
) => ({
  ...link,
  shown: shownState(link, now),
  isMany: hasManyLeft(link),
  isShortOfCodes: isShortOfCodes(link),
  taken: BigInt(link.taken),
})

export type ListedLink = Awaited<ReturnType<typeof linksOfApp>>[number]

/**
 * Lists the links of an application, the newest first, with the points paid for each in the last 30 days, before fees and refunds.
 */
export async function linksOfApp(
  db: Db,
  app_id: bigint,
  { now, before, limit }: { now: Date; before: bigint | undefined; limit: number },
) {
  const links = await db
    .selectFrom('links as link')
    .where(rowsOfApp('link', app_id, { before }))
    .orderBy('link.app_id', 'desc')
    .orderBy('link.id', 'desc')
    .limit(limit)
    .select(['link.id', 'link.slug', 'link.title', 'link.state', 'link.sells_from', 'link.sells_until'])
    .select(['link.amount', 'link.amount_min', 'link.amount_max', 'link.delivery', 'link.stock'])
    .select([sold.as('sold'), unitsLeft.as('left'), takenUntil(now).as('taken')])
    .execute()
  return links.map((link) => listed(link, now))
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
    .select(['link.amount', 'link.amount_min', 'link.amount_max', 'link.delivery', 'link.stock'])
    .select([sold.as('sold'), unitsLeft.as('left'), takenUntil(now).as('taken')])
    .select(['payment_apps.payment_id', 'payment_apps.name as app_name'])
    .execute()
  return links.map((link) => listed(link, now))
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
export const FOUND_MAX = 50
const LOOKED_THROUGH_MAX = 1_000

/**
 * Finds links for staff, the reported ones first, then the stopped ones, then the newest: all, or those of an address, an application,
 * an owner's name or a part of a title. Drafts are their team's alone.
 */
export async function findLinks(db: Db, text: string, now: Date, limit = FOUND_MAX) {
  const links = await db
    .selectFrom('links as link')
    .innerJoin('payment_apps as app', 'app.id', 'link.app_id')
    .innerJoin('users as owner', 'owner.id', 'app.applicant_id')
    .where('link.id', '=', sql<bigint>`any(array(${text === '' ? firstLinks : linksWith(text)}))`)
    .where('link.state', '<>', 'draft')
    .orderBy(sql`exists (select from link_reports where link_id = link.id and settled_at is null)`, 'desc')
    .orderBy((eb) => eb('link.state', '<>', 'stopped'))
    .orderBy('link.id', 'desc')
    .limit(limit)
    .select(['link.id', 'link.slug', 'link.title', 'link.state', 'link.sells_from', 'link.sells_until'])
    .select(['link.stopped_reason', 'link.created_at', 'app.payment_id', 'app.name as app_name'])
    .select(['link.amount', 'link.amount_min', 'link.amount_max', 'link.book'])
    .select(['owner.username as owner', 'owner.id as owner_id', sold.as('sold'), unitsLeft.as('left')])
    .execute()
  return links.map((link) => ({ ...link, shown: shownState(link, now) }))
}

/** The ids of reported links, of stopped ones and of the newest. Each reported one is found by one step along the index. */
const firstLinks = sql`
  (with recursive reported as (
    (select link_id from link_reports where settled_at is null order by link_id limit 1)
    union all
    select (
      select link_id from link_reports where settled_at is null and link_id > reported.link_id order by link_id limit 1
    ) from reported where reported.link_id is not null
  )
  select link_id from reported where link_id is not null limit ${FOUND_MAX})
  union (select id from links where state = 'stopped' order by id desc limit ${FOUND_MAX})
  union (select id from links where state <> 'draft' order by id desc limit ${FOUND_MAX})`

/** The ids of the newest links whose address, application, owner or title this is. */
function linksWith(text: string) {
  const slug = /(?:^|\/l\/)([a-z0-9]{10})$/.exec(text)?.[1] ?? ''
  const name = text.replace(/^@/, '').toLowerCase()
  return sql`
    select id from links where slug = ${slug}
    union
    select of_app.id
    from (
      select id from payment_apps where payment_id = ${text} or name_skeleton = name_skeleton(${text})
        or applicant_id = (select id from users where lower(username) = ${name})
      limit ${FOUND_MAX}
    ) as app
    cross join lateral (
      select id from links where app_id = app.id and state <> 'draft' order by id desc limit ${FOUND_MAX}
    ) as of_app
    union
    (select id from (select id, title from links order by id desc limit ${LOOKED_THROUGH_MAX}) as newest
    where position(${name} in lower(title)) > 0 order by id desc limit ${FOUND_MAX})`
}

export type TeamLink = Awaited<ReturnType<typeof getLinkOf>>

/** Finds a link of an application, with all its unsold codes counted. Throws not_found. */
export async function getLinkOf(db: Db, app_id: bigint, slug: string, now: Date) {
  const link = await db
    .selectFrom('links as link')
    .where('link.app_id', '=', app_id)
    .where('link.slug', '=', slug)
    .innerJoinLateral(
      sql<{ free: number }>`(
        select count(*)::int as free from link_codes where link_id = link.id and order_id is null and withdrawn_at is null
      )`.as('codes'),
      (join) => join.onTrue(),
    )
    .selectAll('link')
    .select([sold.as('sold'), 'codes.free'])
    .select(
      sql<bigint | null>`least(
        link.stock - units_sold(link.id), case when link.delivery = 'codes' then codes.free end
      )`.as('left'),
    )
    .select([PICTURES.picture.as('picture'), waitingMessages.as('waiting')])
    .executeTakeFirst()
  if (link === undefined) throw new AppError('not_found', 'There is no such link')
  return { ...link, shown: shownState(link, now) }
}
