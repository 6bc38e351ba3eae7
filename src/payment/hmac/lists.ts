/**
 * POST /payment/orders/:payment_id and POST /payment/transfers/:payment_id: everything of an application, page by page,
 * so that a merchant can compare its own books with ours. Signed like every other request.
 */
import type { FastifyInstance } from 'fastify'
import type { Db } from '../../database/connection.ts'
import type { OrderStatus } from '../../database/tables.ts'
import type { Deps } from '../../deps.ts'
import { AppError } from '../../errors.ts'
import type { StatusWord } from '../orders.ts'
import type { FlatParameters } from '../parameters.ts'
import { describeOrder, describeTransfer } from './answers.ts'
import { type Authenticate, requireReadable } from './authenticate.ts'

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200

const ORDER_STATUSES: Record<StatusWord, OrderStatus[]> = {
  pending: ['unpaid', 'expired'],
  completed: ['paid'],
  cancelled: ['closed'],
  refunded: ['refunded'],
}
const TRANSFER_STATUSES = { completed: 'completed', reversed: 'reversed' } as const

/** Which rows, in which order. */
type Page<Status> = {
  limit: number
  /** Oldest first, for those who follow what is new; else newest first. */
  isAscending: boolean
  /** The transaction_id of the last row of the page before. */
  cursor: string | undefined
  statuses: Status | undefined
  since: Date | undefined
  until: Date | undefined
}

export function listRoutes(app: FastifyInstance, deps: Deps, authenticate: Authenticate): void {
  app.post<{ Params: { payment_id: string } }>('/payment/orders/:payment_id', async (request) => {
    const { api, parameters } = await authenticate(request)
    requireReadable(api)
    const page = readPage(parameters, ORDER_STATUSES)
    const rows = await findOrders(deps.db, api.id, page)
    const now = deps.clock()
    return answer(rows, page, (order) => describeOrder(order, now))
  })

  app.post<{ Params: { payment_id: string } }>('/payment/transfers/:payment_id', async (request) => {
    const { api, parameters } = await authenticate(request)
    requireReadable(api)
    const page = readPage(parameters, TRANSFER_STATUSES)
    const rows = await findTransfers(deps.db, api.id, page)
    return answer(rows, page, describeTransfer)
  })
}

/** One row more than asked for was read, to know whether there is another page. */
function answer<Row extends { transaction_id: string }>(
  rows: Row[],
  { limit }: Page<unknown>,
  describe: (row: Row) => object,
) {
  const shown = rows.slice(0, limit)
  const next_cursor = rows.length > limit ? shown.at(-1)!.transaction_id : null
  return { success: true, data: shown.map(describe), next_cursor }
}

/** Orders of the HMAC door, as they were created: all of one book, its application's. */
async function findOrders(db: Db, app_id: bigint, page: Page<OrderStatus[]>) {
  const { limit, isAscending, cursor, statuses, since, until } = page
  const after = cursor === undefined ? undefined : await findCursor(db, 'orders', app_id, cursor)
  let query = db.selectFrom('orders').where('app_id', '=', app_id).where('door', '=', 'hmac')
  if (statuses !== undefined) query = query.where('status', 'in', statuses)
  if (since !== undefined) query = query.where('created_at', '>=', since)
  if (until !== undefined) query = query.where('created_at', '<', until)
  if (after !== undefined) query = query.where('id', isAscending ? '>' : '<', after)
  return query
    .orderBy('id', isAscending ? 'asc' : 'desc')
    .limit(limit + 1)
    .selectAll()
    .execute()
}

/** Transfers as they were made. */
async function findTransfers(db: Db, app_id: bigint, page: Page<'completed' | 'reversed'>) {
  const { limit, isAscending, cursor, statuses: status, since, until } = page
  const after = cursor === undefined ? undefined : await findCursor(db, 'transfers', app_id, cursor)
  let query = db.selectFrom('transfers').where('app_id', '=', app_id)
  if (status !== undefined) query = query.where('status', '=', status)
  if (since !== undefined) query = query.where('paid_at', '>=', since)
  if (until !== undefined) query = query.where('paid_at', '<', until)
  if (after !== undefined) query = query.where('id', isAscending ? '>' : '<', after)
  return query
    .orderBy('id', isAscending ? 'asc' : 'desc')
    .limit(limit + 1)
    .selectAll()
    .execute()
}

/** Throws parameter_invalid for a cursor that is no row of this application. */
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
  if (row === undefined) throw invalid('cursor', 'the next_cursor of the page before')
  return row.id
}

/** Throws parameter_invalid, naming the parameter. An empty one counts as absent. */
function readPage<Word extends string, Status>(
  parameters: FlatParameters,
  words: Record<Word, Status>,
): Page<Status> {
  const { limit, order, cursor, status, since, until } = parameters
  return {
    limit: limit ? readLimit(limit) : LIMIT_DEFAULT,
    isAscending: oneOf('order', order || 'desc', { asc: true, desc: false }),
    cursor: cursor || undefined,
    statuses: status ? oneOf('status', status, words) : undefined,
    since: since ? readMoment('since', since) : undefined,
    until: until ? readMoment('until', until) : undefined,
  }
}

function readLimit(text: string): number {
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > LIMIT_MAX) throw invalid('limit', `a number from 1 to ${LIMIT_MAX}`)
  return limit
}

/** Seconds since 1970, as timestamps are everywhere in this API. */
function readMoment(name: string, text: string): Date {
  if (!/^\d{1,10}$/.test(text)) throw invalid(name, 'seconds since 1970')
  return new Date(Number(text) * 1000)
}

function oneOf<Value>(name: string, text: string, values: Record<string, Value>): Value {
  const value = Object.hasOwn(values, text) ? values[text] : undefined
  if (value === undefined) throw invalid(name, `one of ${Object.keys(values).join(', ')}`)
  return value
}

function invalid(name: string, expected: string): AppError {
  return new AppError('parameter_invalid', `Invalid ${name}: ${expected}`)
}
