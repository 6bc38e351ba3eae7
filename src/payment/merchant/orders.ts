/** The merchant's search in the orders of one application: by number, payer, amount, day and fate. Read only. */
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { BIGGEST_ID, type Db } from '../../database/connection.ts'
import { type Counts, countNewest } from '../../database/counts.ts'
import { containing, type Looked, PAGE_LINES, type Page, pageOf, rowsWithin } from '../../database/paging.ts'
import { lowestIdAfter, lowestIdSince } from '../orders/lowest-id.ts'
import { isExpired, type Order } from '../orders/orders.ts'

/** The rows that one statement looks at. A search for words costs twice as much for each row, so it looks at half. */
const LOOKED_THROUGH_MAX = 20_000
const READ_THROUGH_MAX = 10_000
const CHUNK_LINES = 1_000

/** The state of an order for its merchant. */
export const FATES = ['open', 'paid', 'partlyRefunded', 'refunded', 'expired', 'closed'] as const

export type Fate = (typeof FATES)[number]

export type OrderFilter = {
  /** A number, ours or the merchant's. If no order has it, words in the merchant's numbers and in descriptions. */
  text?: string | undefined
  /** The username of the payer. */
  payer?: string | undefined
  fate?: Fate | undefined
  /** Whole points, both inclusive. */
  min?: bigint | undefined
  max?: bigint | undefined
  /** Created from this moment (inclusive) until that one (exclusive). */
  from?: Date | undefined
  until?: Date | undefined
  /** Only orders older than this one. */
  before?: bigint | undefined
}

export type ListedOrder = Pick<
  Order,
  | 'id'
  | 'door'
  | 'transaction_id'
  | 'order_id'
  | 'trade_no'
  | 'description'
  | 'status'
  | 'amount'
  | 'fee'
  | 'merchant_points'
  | 'refunded_amount'
  | 'money'
  | 'created_at'
  | 'expires_at'
  | 'paid_at'
> & { buyer: string | null }

/** Which of these orders have a refund request that waits for an administrator. */
export async function withOpenRefundRequest(db: Db, ids: bigint[]): Promise<ReadonlySet<bigint>> {
  if (ids.length === 0) return new Set()
  const rows = await db
    .selectFrom('refund_requests')
    .where('order_id', 'in', ids)
    .where('status', '=', 'open')
    .select('order_id')
    .execute()
  return new Set(rows.map(({ order_id }) => order_id))
}

/** A page of an application's orders, the newest first. */
export async function ordersOfApp(
  db: Db,
  app_id: bigint,
  filter: OrderFilter,
  now: Date,
): Promise<Page<ListedOrder>> {
  const { before: _before, ...sought } = filter
  const isSearch = Object.values(sought).some((value) => value !== undefined)
  const scope = await scopeOf(db, app_id, filter, now)
  const within = rowsWithin(isSearch, scope.within)
  return look(db, scope, { before: filter.before, within, lines: PAGE_LINES })
}

/**
 * Counts the newest matching orders by fate: in a search, among as many as the search looks through. The fate and the page of
 * the filter do not matter.
 */
export async function countFates(
  db: Db,
  app_id: bigint,
  filter: OrderFilter,
  now: Date,
): Promise<Counts<Fate>> {
  const { lane, fits, within } = await scopeOf(db, app_id, { ...filter, fate: undefined }, now)
  const { text, payer, min, max } = filter
  const isSearch = [text, payer, min, max].some((value) => value !== undefined)
  const fates = FATES.map((fate) => sql`when ${hasFate(fate, now)} then ${sql.lit(fate)}`)
  return countNewest(
    db,
    FATES,
    sql`
      select case when ${fits} then case ${sql.join(fates, sql` `)} end end as filter
      from orders as o where ${lane.before(undefined)} ${lane.newestFirst}`,
    isSearch ? within : undefined,
  )
}

/** Counts the matching orders, among as many as a search looks through. `among`: so many, if there are older ones. */
export async function countOrders(
  db: Db,
  app_id: bigint,
  filter: OrderFilter,
  now: Date,
): Promise<{ rows: number; among: number | undefined }> {
  const { lane, fits, within } = await scopeOf(db, app_id, filter, now)
  const { rows } = await sql<{ rows: number; looked: number }>`
    select (count(*) filter (where ${fits}))::integer as rows, count(*)::integer as looked
    from (select * from orders as o where ${lane.before(filter.before)} ${lane.newestFirst} limit ${within}) as o`.execute(
    db,
  )
  const { rows: found, looked } = rows[0]!
  return { rows: found, among: looked < within ? undefined : within }
}

/** Reads at most `max` matching orders, the newest first, in chunks that keep memory small. */
export async function* eachOrder(
  db: Db,
  app_id: bigint,
  filter: OrderFilter,
  now: Date,
  max: number,
): AsyncGenerator<ListedOrder[]> {
  const scope = await scopeOf(db, app_id, filter, now)
  let { before } = filter
  for (let left = max; left > 0; ) {
    const lines = Math.min(left, CHUNK_LINES)
    const page = await look(db, scope, { before, within: scope.within, lines })
    if (page.rows.length > 0) yield page.rows
    if (page.next === undefined) return
    before = page.next
    left -= page.rows.length
  }
}

/** The fate of an order at a moment. */
export function fateOf(order: Pick<Order, 'status' | 'expires_at' | 'refunded_amount'>, now: Date): Fate {
  if (order.status === 'paid') return order.refunded_amount > 0n ? 'partlyRefunded' : 'paid'
  if (order.status === 'refunded' || order.status === 'closed') return order.status
  return isExpired(order, now) ? 'expired' : 'open'
}

/** The rows to look at, the condition, and the number of rows for one statement. */
type Scope = { lane: Lane; fits: RawBuilder<SqlBool>; within: number }

async function scopeOf(db: Db, app_id: bigint, filter: OrderFilter, now: Date): Promise<Scope> {
  const { text, payer, fate, min, max, from, until } = filter
  const numbered = text === undefined ? [] : await withNumber(db, app_id, text)
  const payer_id = payer === undefined ? undefined : await memberNamed(db, payer)
  const isRead = text !== undefined && numbered.length === 0
  const fits = [sql<SqlBool>`o.app_id = ${app_id}`]
  if (isRead) fits.push(mentions(text))
  if (payer_id !== undefined) fits.push(sql`o.payer_id = ${payer_id}`)
  if (fate !== undefined) fits.push(hasFate(fate, now))
  if (min !== undefined) fits.push(sql`o.amount >= ${min}`)
  if (max !== undefined) fits.push(sql`o.amount <= ${max}`)
  if (from !== undefined) fits.push(sql`o.created_at >= ${from}`)
  if (until !== undefined) fits.push(sql`o.created_at < ${until}`)
  const low = from === undefined ? sql`0` : lowestIdSince(app_id, from)
  const high = until === undefined ? undefined : lowestIdAfter(app_id, until)
  // One payer has fewer orders than the whole shop.
  const owner =
    payer_id === undefined ? { column: 'o.app_id', id: app_id } : { column: 'o.payer_id', id: payer_id }
  const lane = numbered.length > 0 ? laneOfNumbers(numbered) : laneOf(owner, low, high)
  return { lane, fits: sql.join(fits, sql` and `), within: isRead ? READ_THROUGH_MAX : LOOKED_THROUGH_MAX }
}

/** Adjacent rows of an index, in its order. */
type Lane = { before(id: bigint | undefined): RawBuilder<SqlBool>; newestFirst: RawBuilder<unknown> }

/**
 * A range of pairs makes Postgres use the index of these pairs. Otherwise it may walk all orders of the site for those of
 * one shop.
 */
function laneOf(
  { column, id }: { column: string; id: bigint | null },
  low: RawBuilder<unknown>,
  high: RawBuilder<unknown> = sql`${BIGGEST_ID}::bigint`,
): Lane {
  const owner = sql.ref(column)
  return {
    before: (before = BIGGEST_ID) => sql`
      ${owner} is not null and (${owner}, o.id) >= (${id}::bigint, ${low}) and (${owner}, o.id) < (${id}::bigint, least(${high}, ${before}::bigint))`,
    newestFirst: sql`order by ${owner} desc, o.id desc`,
  }
}

function laneOfNumbers(ids: bigint[]): Lane {
  return {
    before: (before = BIGGEST_ID) => sql`o.id = any(${ids}::bigint[]) and o.id < ${before}::bigint`,
    newestFirst: sql`order by o.id desc`,
  }
}

/** Finds the orders of an application that the shop, the gateway or the transaction ID calls by this number. */
export async function withNumber(db: Db, app_id: bigint, number: string): Promise<bigint[]> {
  // Each part uses its own index; one condition with `or` would use none.
  const { rows } = await sql<{ id: bigint }>`
    select id from orders where transaction_id = ${number} and app_id = ${app_id}
    union select id from orders where trade_no = ${number} and app_id = ${app_id}
    union select id from orders where app_id = ${app_id} and book in ('live', 'test') and door in ('hmac', 'gateway', 'link', 'tip') and order_id = ${number}
  `.execute(db)
  return rows.map(({ id }) => id)
}

/** Null if no member has the name. It then matches no order. */
async function memberNamed(db: Db, username: string): Promise<bigint | null> {
  const { rows } = await sql<{ id: bigint }>`
    select id from users where lower(username) = lower(${username}) limit 1`.execute(db)
  return rows[0]?.id ?? null
}

function mentions(text: string) {
  return sql<SqlBool>`concat_ws(' ', o.order_id, o.description) ilike ${containing(text)}`
}

function hasFate(fate: Fate, now: Date): RawBuilder<SqlBool> {
  switch (fate) {
    case 'open':
      return sql`o.status = 'unpaid' and o.expires_at > ${now}`
    case 'expired':
      return sql`(o.status = 'expired' or (o.status = 'unpaid' and o.expires_at <= ${now}))`
    case 'paid':
      return sql`o.status = 'paid' and o.refunded_amount = 0`
    case 'partlyRefunded':
      return sql`o.status = 'paid' and o.refunded_amount > 0`
    case 'refunded':
    case 'closed':
      return sql`o.status = ${fate}`
  }
}

type Look = { before: bigint | undefined; within: number; lines: number }

/** Looks at a bounded number of rows of the lane, the newest first, for `lines` matching ones. */
async function look(db: Db, { lane, fits }: Scope, { before, within, lines }: Look) {
  const { newestFirst } = lane
  const { rows } = await sql<(ListedOrder | { id: null }) & Looked>`
    with line as (
      select o.id, o.door, o.transaction_id, o.order_id, o.trade_no, o.description, o.status, o.amount, o.fee, o.merchant_points,
        o.refunded_amount, o.money, o.created_at, o.expires_at, o.paid_at, payer.username as buyer
      from (select * from orders as o where ${lane.before(before)} ${newestFirst} limit ${within}) as o
      left join lateral (select username from users where id = o.payer_id limit 1) as payer on true
      where ${fits}
      ${newestFirst} limit ${lines + 1}
    )
    select line.*, looked.*, (select created_at from orders where orders.id = looked.oldest) as oldest_at
    from (
      select count(*) as seen, min(id) as oldest
      from (select o.id from orders as o where ${lane.before(before)} ${newestFirst} limit ${within}) as seen
    ) as looked
    left join line on true
    order by line.id desc`.execute(db)
  return pageOf<ListedOrder>(rows, within, lines)
}
