/** Lists the orders and transfers of an application page by page, so that a merchant can reconcile them. spec/payment-api 5.1. */
import { sql } from 'kysely'
import type { z } from 'zod'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { rowsOfApp } from '../../database/paging.ts'
import type { OrderStatus } from '../../database/tables/payments.ts'
import { AppError } from '../../platform/errors.ts'
import { mandateNotFound } from '../mandates/refusals.ts'
import { lowestIdAfter, lowestIdSince } from '../orders/lowest-id.ts'
import type { Order, StatusWord } from '../orders/orders.ts'
import type { Transfer } from '../orders/transfers.ts'
import { formerSince } from '../signing/keys.ts'
import type { FlatParameters } from '../wire-fields/fields.ts'
import { describeOrder, describeTransfer, type TipFacts } from './answers.ts'
import { type Authenticated, requireReadable } from './caller.ts'
import {
  LIMIT_DEFAULT,
  type OrderPage,
  OrdersList,
  readerOf,
  type TransferPage,
  TransfersList,
} from './shapes.ts'

/** The doors whose orders a list may name. The gateway has its own list. */
export type ListedDoor = 'hmac' | 'link' | 'tip'

/** The orders that one page looks at, because the list leaves out those of other doors. */
const LOOKED_THROUGH_MAX = 20_000

const ORDER_STATUSES: Record<StatusWord, OrderStatus[]> = {
  pending: ['unpaid', 'expired'],
  completed: ['paid'],
  cancelled: ['closed'],
  refunded: ['refunded'],
}

/** The request of a list whose rows have these statuses. */
type ListRequest<Word extends string> = z.ZodObject<
  Omit<typeof TransfersList.shape, 'status'> & { status: z.ZodType<Word | undefined> }
>

/** An order with the public id of its mandate, if it is a charge, and its author, if it is a tip. */
type ListedOrder = Order & { public_mandate_id: string | null; tip: TipFacts | null }

/** The filter, order and cursor of a page. */
type Page<Word> = {
  limit: number
  /** Whether the oldest comes first, for clients that follow new rows. */
  isAscending: boolean
  /** The transaction_id of the last row of the previous page. */
  cursor: string | undefined
  status: Word | undefined
  since: Date | undefined
  until: Date | undefined
  /** The handover since which a former owner's token sees nothing. */
  hidden_since: Date | undefined
}

/** Lists the orders that were placed through one of these doors. */
export async function listOrders(
  deps: Core,
  asked: Authenticated,
  doors: readonly ListedDoor[],
): Promise<z.output<typeof OrderPage>> {
  requireReadable(asked.api)
  const page = await readPage(deps.db, asked, OrdersList)
  const mandate = await findFilter(deps.db, asked)
  const { rows, stopped_at } = await findOrders(deps.db, { app_id: asked.api.id, mandate, doors }, page)
  const now = deps.clock()
  return answer(
    rows,
    page,
    (order) => describeOrder(order, now, order.public_mandate_id, order.tip),
    stopped_at,
  )
}

/** Lists the transfers of the application. */
export async function listTransfers(
  deps: Core,
  asked: Authenticated,
): Promise<z.output<typeof TransferPage>> {
  requireReadable(asked.api)
  const page = await readPage(deps.db, asked, TransfersList)
  return answer(await findTransfers(deps.db, asked.api.id, page), page, describeTransfer)
}

/**
 * Answers with a page. One extra row shows that there is another page.
 * @param stopped_at the last row of a look that ended early.
 */
function answer<Row extends { transaction_id: string }, Fields>(
  rows: Row[],
  { limit }: Page<unknown>,
  describe: (row: Row) => Fields,
  stopped_at: string | null = null,
) {
  const shown = rows.slice(0, limit)
  const next_cursor = rows.length > limit ? shown.at(-1)!.transaction_id : stopped_at
  return { success: true as const, data: shown.map(describe), next_cursor }
}

/** The rows that this page may look at, in its order. Throws parameter_invalid for an unknown cursor. */
async function laneOf(
  db: Db,
  table: 'orders' | 'transfers',
  app_id: bigint,
  { isAscending, cursor }: Page<unknown>,
) {
  const last = cursor === undefined ? undefined : await findCursor(db, table, app_id, cursor)
  const direction = sql.raw(isAscending ? 'asc' : 'desc')
  return {
    within: rowsOfApp(table, app_id, isAscending ? { after: last } : { before: last }),
    inOrder: sql`order by app_id ${direction}, id ${direction}`,
  }
}

/**
 * Finds orders of these doors in the order of their creation. `stopped_at` is the last order that the bounded look
 * reached, if there are more; the page may then have fewer rows than its limit.
 */
async function findOrders(
  db: Db,
  { app_id, mandate, doors }: { app_id: bigint; mandate: bigint | undefined; doors: readonly ListedDoor[] },
  page: Page<StatusWord>,
): Promise<{ rows: ListedOrder[]; stopped_at: string | null }> {
  const { limit, status, since, until, hidden_since } = page
  const { within, inOrder } =
    mandate === undefined
      ? await laneOf(db, 'orders', app_id, page)
      : await laneOfCharges(db, { app_id, mandate }, page)
  const lane = [within]
  const fits = [sql`door = any(${doors}::text[])`]
  if (status !== undefined) fits.push(sql`status = any(${ORDER_STATUSES[status]}::text[])`)
  if (since !== undefined) fits.push(sql`created_at >= ${since}`)
  if (until !== undefined) fits.push(sql`created_at < ${until}`)
  if (mandate === undefined) {
    if (since !== undefined)
      lane.push(sql`(app_id, id) >= (${app_id}::bigint, ${lowestIdSince(app_id, since)})`)
    if (until !== undefined)
      lane.push(sql`(app_id, id) < (${app_id}::bigint, ${lowestIdAfter(app_id, until)})`)
  }
  // Hides earlier orders that were paid since the handover too, because the new owner sold them.
  if (hidden_since !== undefined) fits.push(sql`(paid_at is null or paid_at < ${hidden_since})`)
  const rowsOfLane = sql`from orders where ${sql.join(lane, sql` and `)} ${inOrder}`
  const { rows } = await sql<ListedOrder>`
    select *, (select m.mandate_id from mandates as m where m.id = looked_at.mandate_id) as public_mandate_id,
      case when door = 'tip' then tip_facts(id) end as tip
    from (select * ${rowsOfLane} limit ${LOOKED_THROUGH_MAX}) as looked_at
    where ${sql.join(fits, sql` and `)} ${inOrder} limit ${limit + 1}`.execute(db)
  if (rows.length > limit) return { rows, stopped_at: null }
  const stops = await sql<{ transaction_id: string }>`
    select transaction_id ${rowsOfLane} offset ${LOOKED_THROUGH_MAX - 1} limit 1`.execute(db)
  return { rows, stopped_at: stops.rows[0]?.transaction_id ?? null }
}

/** Finds transfers in the order of their creation. */
async function findTransfers(db: Db, app_id: bigint, page: Page<'completed' | 'reversed'>) {
  const { limit, status, since, until } = page
  const { within, inOrder } = await laneOf(db, 'transfers', app_id, page)
  const fits = [within]
  if (status !== undefined) fits.push(sql`status = ${status}`)
  if (since !== undefined)
    fits.push(
      sql`paid_at >= ${since} and (app_id, id) >= (${app_id}::bigint, ${lowestIdSince(app_id, since, 'transfers')})`,
    )
  if (until !== undefined)
    fits.push(
      sql`paid_at < ${until} and (app_id, id) < (${app_id}::bigint, ${lowestIdAfter(app_id, until, 'transfers')})`,
    )
  const { rows } = await sql<Transfer>`
    select * from transfers where ${sql.join(fits, sql` and `)} ${inOrder} limit ${limit + 1}`.execute(db)
  return rows
}

/** The charges of a mandate that a page may look at. Their running sums have an index, in the order of their creation. */
async function laneOfCharges(
  db: Db,
  { app_id, mandate }: { app_id: bigint; mandate: bigint },
  { isAscending, cursor }: Page<unknown>,
) {
  const last = cursor === undefined ? undefined : await findCursor(db, 'orders', app_id, cursor)
  const direction = sql.raw(isAscending ? 'asc' : 'desc')
  const beyond =
    last === undefined
      ? sql``
      : sql`and (mandate_period, mandate_spent) ${sql.raw(isAscending ? '>' : '<')} (
          select mandate_period, mandate_spent from orders where id = ${last} and mandate_id = ${mandate}
        )`
  return {
    within: sql`mandate_id = ${mandate} ${beyond}`,
    inOrder: sql`order by mandate_id ${direction}, mandate_period ${direction}, mandate_spent ${direction}`,
  }
}

/** The id of the mandate that the request names. Throws mandate_not_found. Undefined if it names none. */
async function findFilter(db: Db, { api, parameters }: Authenticated): Promise<bigint | undefined> {
  const { mandate_id } = parameters
  if (!mandate_id) return undefined
  const mandate = await db
    .selectFrom('mandates')
    .where('mandate_id', '=', mandate_id)
    .where('app_id', '=', api.id)
    .select('id')
    .executeTakeFirst()
  if (mandate === undefined) throw mandateNotFound()
  return mandate.id
}

/** The id of the cursor's row. Throws parameter_invalid for a row of another application. */
async function findCursor(
  db: Db,
  table: 'orders' | 'transfers',
  app_id: bigint,
  transaction_id: string,
): Promise<bigint> {
  const row = await db
    .selectFrom(table)
    .where('transaction_id', '=', transaction_id)
    .where('app_id', '=', app_id)
    .select('id')
    .executeTakeFirst()
  if (row === undefined)
    throw new AppError('parameter_invalid', 'Invalid cursor: the next_cursor of the page before')
  return row.id
}

/** Reads the page of a request. Throws parameter_invalid with the parameter's name. An empty parameter counts as absent. */
async function readPage<Word extends string>(
  db: Db,
  { parameters, isFormerOwners, token_id }: Authenticated,
  request: ListRequest<Word>,
): Promise<Page<Word>> {
  const page = asPage(parameters, request)
  const hidden_since = isFormerOwners ? await formerSince(db, token_id!) : undefined
  if (hidden_since === undefined) return page
  const { until = hidden_since } = page
  return { ...page, hidden_since, until: until < hidden_since ? until : hidden_since }
}

function asPage<Word extends string>(parameters: FlatParameters, request: ListRequest<Word>): Page<Word> {
  const read = readerOf(request, parameters)
  return {
    limit: Number(read('limit') ?? LIMIT_DEFAULT),
    isAscending: read('order') === 'asc',
    cursor: read('cursor'),
    status: read('status'),
    since: asMoment(read('since')),
    until: asMoment(read('until')),
    hidden_since: undefined,
  }
}

/** Reads a timestamp in seconds, the unit of this API. */
function asMoment(seconds: string | undefined): Date | undefined {
  return seconds === undefined ? undefined : new Date(Number(seconds) * 1000)
}
