/**
 * /account/payments: the searchable list of the orders that a member has paid or opened, and the record of
 * opening one.
 */
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { z } from 'zod'
import { browserScope, requireUser, sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { type Counts, countNewest } from '../../database/counts.ts'
import {
  amountIn,
  containing,
  type Looked,
  PAGE_LINES,
  type Page,
  pageOf,
  rowsWithin,
} from '../../database/paging.ts'
import type { Book } from '../../database/tables/columns.ts'
import type { OrderStatus } from '../../database/tables/payments.ts'
import { refundAsked } from '../../ledger/wallet.ts'
import { cursor, listUrl, olderUrl, searchText } from '../../web/lists.ts'
import { PeriodAsked, spanOf } from '../../web/periods/periods.ts'
import { isExpired } from '../orders/orders.ts'

const PAGE = '/account/payments'

declare module '../../web/views.ts' {
  interface PageData {
    'payment/buyer/payments': PartData['parts/pager'] & {
      orders: (Awaited<ReturnType<typeof ordersOfPayer>>['rows'][number] & { fate: Fate })[]
      asked: z.output<typeof Asked>
      groups: { group: Group | undefined; href: string }[]
      counts: Counts<Group>
    }
  }
}

/** The groups of fates by which the list is filtered. */
const GROUPS = ['open', 'paid', 'refunded', 'ended'] as const
type Group = (typeof GROUPS)[number]

const Asked = PeriodAsked.extend({ q: searchText, state: z.enum(GROUPS).optional().catch(undefined) })
const Paged = z.object({ before: cursor })

/** GET /account/payments. */
export async function payerPages(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)

  app.get(PAGE, async (request, reply) => {
    const asked = Asked.parse(request.query)
    const { before } = Paged.parse(request.query)
    const { id } = sessionOf(request).user
    const now = deps.clock()
    const { time_zone: zone } = await deps.settings.read()
    const filter = { ...spanOf(asked, { now, zone }), text: asked.q || undefined, now }
    const [found, counts] = await Promise.all([
      ordersOfPayer(deps.db, id, { ...filter, group: asked.state, before }),
      countGroups(deps.db, id, filter),
    ])
    return reply.page('payment/buyer/payments', {
      orders: found.rows.map((order) => ({ ...order, fate: fateOf(order, now) })),
      lookedBackTo: found.looked_back_to,
      older: olderUrl(PAGE, asked, found.next),
      newest: PAGE,
      asked,
      groups: [undefined, ...GROUPS].map((group) => ({
        group,
        href: listUrl(PAGE, { ...asked, state: group }),
      })),
      counts,
      isSearch: listUrl('', asked) !== '',
      before,
    })
  })
}

/** Records that a member has opened an order; only the first time counts. */
export async function noteView(
  db: Db,
  view: { user_id: bigint; order_id: bigint; now: Date },
): Promise<void> {
  const { user_id, order_id, now: viewed_at } = view
  await db
    .insertInto('order_views')
    .values({ user_id, order_id, viewed_at })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** The state of an order for a member who has paid or opened it. */
export type Fate = 'open' | 'paid' | 'partlyRefunded' | 'refunded' | 'paidByOther' | 'expired' | 'closed'

export type PayerOrder = {
  id: bigint
  transaction_id: string
  order_id: string
  description: string
  amount: bigint
  refunded_amount: bigint
  status: OrderStatus
  created_at: Date
  expires_at: Date
  paid_at: Date | null
  is_payer: boolean
  /** The points whose refund waits for an administrator. Only the payer reads them. */
  refund_asked: bigint | null
  book: Book
  app_name: string
  app_logo_url: string | null
  /** Whom a tip pays. Null for every other order. */
  author: string | null
}

export type PayerOrderFilter = {
  /** Words in the description, the shop's name and the order's numbers; digits also match the amount. */
  text?: string | undefined
  /** Paid from this moment (inclusive) until that one (exclusive). Unpaid orders count by their creation. */
  from?: Date | undefined
  until?: Date | undefined
  /** Only orders whose fate is in this group at the moment `now`. */
  group?: Group | undefined
  /** Only orders older than this one. */
  before?: bigint | undefined
  now: Date
}

/** A page of the orders that a member has paid or opened, the newest first. */
export async function ordersOfPayer(
  db: Db,
  user_id: bigint,
  { group, before, now, ...filter }: PayerOrderFilter,
): Promise<Page<PayerOrder>> {
  const within = rowsWithin([group, ...Object.values(filter)].some((value) => value !== undefined))
  const isInGroup = group === undefined ? sql`true` : sql`${groupOf(user_id, now)} = ${group}`
  const { rows } = await sql<(PayerOrder | { id: null }) & Looked>`
    with ${newestOf(user_id, { before, within })},
    line as (
      select o.id, o.transaction_id, o.order_id, o.description, o.amount, o.refunded_amount, o.status, o.created_at,
        o.expires_at, o.paid_at, coalesce(o.payer_id = ${user_id}, false) as is_payer, o.book, app.name as app_name, app.logo_url as app_logo_url,
        case when o.payer_id = ${user_id} then ${refundAsked(sql`o.id`)} end as refund_asked,
        case when o.door = 'tip' then (
          select author.username from tips join users as author on author.id = tips.to_user_id where tips.order_id = o.id
        ) end as author
      from mine
      cross join lateral (select * from orders where id = mine.id limit 1) as o
      cross join lateral (select * from payment_apps where id = o.app_id limit 1) as app
      where ${fits(filter)} and ${isInGroup}
      order by o.id desc limit ${PAGE_LINES + 1}
    )
    select line.*, looked.*, (select created_at from orders where orders.id = looked.oldest) as oldest_at
    from (select count(*) as seen, min(id) as oldest from mine) as looked
    left join line on true
    order by line.id desc`.execute(db)
  return pageOf<PayerOrder>(rows, within)
}

/** Counts the newest orders of a member by group. */
function countGroups(
  db: Db,
  user_id: bigint,
  { now, ...filter }: Omit<PayerOrderFilter, 'group' | 'before'>,
): Promise<Counts<Group>> {
  const within = rowsWithin(true)
  return countNewest(
    db,
    GROUPS,
    sql`
      with ${newestOf(user_id, { before: undefined, within })}
      select (
        select ${groupOf(user_id, now)} from (select * from orders where id = mine.id limit 1) as o
        cross join lateral (select * from payment_apps where id = o.app_id limit 1) as app
        where ${fits(filter)}
      ) as filter
      from mine order by id desc`,
    within,
  )
}

/** The newest orders that a member has paid or opened, as `mine`. */
function newestOf(user_id: bigint, { before, within }: { before: bigint | undefined; within: number }) {
  const isOlder = (id: string) => (before === undefined ? sql`true` : sql`${sql.ref(id)} < ${before}`)
  return sql`mine as materialized (
      select id from (
        (select id from orders where payer_id = ${user_id} and ${isOlder('id')} order by id desc limit ${within})
        union
        (select order_id from order_views where user_id = ${user_id} and ${isOlder('order_id')} order by order_id desc limit ${within})
      ) as either
      order by id desc limit ${within}
    )`
}

function fits({ text, from, until }: Pick<PayerOrderFilter, 'text' | 'from' | 'until'>) {
  const conditions = [sql`true`]
  if (text !== undefined) conditions.push(mentions(text))
  if (from !== undefined) conditions.push(sql`coalesce(o.paid_at, o.created_at) >= ${from}`)
  if (until !== undefined) conditions.push(sql`coalesce(o.paid_at, o.created_at) < ${until}`)
  return sql.join(conditions, sql` and `)
}

/** The group of the fate of an order `o`, as fateOf says it. */
function groupOf(user_id: bigint, now: Date) {
  return sql`case
    when o.paid_at is not null and o.payer_id is distinct from ${user_id} then 'ended'
    when o.status = 'paid' and o.refunded_amount = 0 then 'paid'
    when o.status in ('paid', 'refunded') then 'refunded'
    when o.status = 'unpaid' and o.expires_at > ${now} then 'open'
    else 'ended'
  end`
}

function mentions(text: string) {
  return sql`(
    concat_ws(' ', o.description, app.name, o.order_id, o.transaction_id, o.trade_no) ilike ${containing(text)}
    or o.amount = ${amountIn(text)}::bigint
  )`
}

/** The fate of an order at a moment. */
export function fateOf(order: PayerOrder, now: Date): Fate {
  if (order.paid_at !== null && !order.is_payer) return 'paidByOther'
  if (order.status === 'paid') return order.refunded_amount > 0n ? 'partlyRefunded' : 'paid'
  if (order.status === 'refunded' || order.status === 'closed') return order.status
  return isExpired(order, now) ? 'expired' : 'open'
}
