/** The record of one order for its merchant: its events, its movements of points and the request that placed it. Read only. */
import { type Selectable, sql } from 'kysely'
import type { Db } from '../../database/connection.ts'
import { rowsOfOne } from '../../database/paging.ts'
import type { JournalKind } from '../../database/tables/ledger.ts'
import type { ReceivedRequest, RefundsTable } from '../../database/tables/payments.ts'
import { AppError } from '../../platform/errors.ts'
import { isExpired, type Order } from '../orders/orders.ts'
import {
  type Recoverable,
  type RefundRequest,
  recoverableOf,
  refundRequestsOf,
} from '../orders/refund-requests.ts'

/** An event of an order. `times` counts the members who opened it; `at` is the first of them. */
export type OrderEvent =
  | { what: 'created' | 'expired' | 'closed'; at: Date }
  | { what: 'viewed'; at: Date; times: number }
  | { what: 'paid'; at: Date; amount: bigint; username: string }
  | { what: 'refunded' | 'refundAsked'; at: Date; amount: bigint; reason: string }
  | { what: 'refundDeclined' | 'refundWithdrawn'; at: Date; reason: string | null }

/** One movement of the order's points. `username` owns the wallet; null means the fee account. */
export type OrderMovement = {
  id: bigint
  kind: JournalKind
  posted_at: Date
  lines: { username: string | null; amount: bigint }[]
}

type Refund = Pick<Selectable<RefundsTable>, 'amount' | 'fee_part' | 'reason' | 'refunded_at'>

/** What else the buyer paid in this shop, this order included. */
export type Visits = { orders: number; points: bigint }

export type OrderRecord = {
  order: Order & {
    buyer: string | null
    buyer_avatar: string | null
    plain_rate: string | null
    fee_percent: string | null
  }
  /** Undefined for an order that nobody has paid. */
  visits: Visits | undefined
  events: OrderEvent[]
  movements: OrderMovement[]
  refunds: Refund[]
  requests: RefundRequest[]
  /** Undefined if nothing is left to refund. */
  recoverable: Recoverable | undefined
  /** Undefined for an order that is older than the keeping of requests. */
  received: { request: ReceivedRequest; received_at: Date } | undefined
}

/** Reads the record of an order. Throws not_found for an order of another application. */
export async function getOrderRecord(
  db: Db,
  app_id: bigint,
  transaction_id: string,
  now: Date,
): Promise<OrderRecord> {
  const order = await db
    .selectFrom('orders')
    .leftJoin('users as buyer', 'buyer.id', 'orders.payer_id')
    .where('orders.transaction_id', '=', transaction_id)
    .where('orders.app_id', '=', app_id)
    .selectAll('orders')
    .select(['buyer.username as buyer', 'buyer.avatar_url as buyer_avatar'])
    .select([
      sql<string | null>`trim_scale(orders.rate)::text`.as('plain_rate'),
      // The share of the fee that was taken, after its rounding.
      sql<string | null>`trim_scale(round(orders.fee * 100.0 / orders.amount, 2))::text`.as('fee_percent'),
    ])
    .executeTakeFirst()
  if (order === undefined) throw new AppError('not_found', 'There is no such order')
  const { id } = order
  const [refunds, requests, recoverable, movements, received, views, visits] = await Promise.all([
    db
      .selectFrom('refunds')
      .where('order_id', '=', id)
      .orderBy('id')
      .select(['amount', 'fee_part', 'reason', 'refunded_at'])
      .execute(),
    refundRequestsOf(db, id),
    // A tip did not pay the owner, who asks for no refund of it.
    order.door === 'tip' ? undefined : recoverableOf(db, id),
    movementsOf(db, id),
    db
      .selectFrom('order_requests')
      .where('order_id', '=', id)
      .select(['request', 'received_at'])
      .executeTakeFirst(),
    db
      .selectFrom('order_views')
      .where('order_id', '=', id)
      .select((eb) => [
        eb.fn.min('viewed_at').as('at'),
        eb.cast<number>(eb.fn.countAll(), 'integer').as('times'),
      ])
      .executeTakeFirstOrThrow(),
    order.payer_id === null ? undefined : visitsOf(db, app_id, order.payer_id),
  ])
  const viewed: OrderEvent[] = views.at === null ? [] : [{ what: 'viewed', at: views.at, times: views.times }]
  const events = eventsOf(order, [...viewed, ...requests.flatMap(eventsOfRequest)], refunds, now)
  return { order, visits, events, movements, refunds, requests, recoverable, received }
}

/** The newest orders of a payer that are looked at. */
const VISITS_LOOKED_THROUGH = 1_000

async function visitsOf(db: Db, app_id: bigint, payer_id: bigint): Promise<Visits> {
  const { rows } = await sql<Visits>`
    select count(*)::integer as orders, coalesce(sum(amount), 0)::bigint as points
    from (
      select app_id, amount, paid_at from orders where ${rowsOfOne('payer_id', 'id', payer_id)}
      order by payer_id desc, id desc limit ${VISITS_LOOKED_THROUGH}
    ) as paid
    where app_id = ${app_id} and paid_at is not null`.execute(db)
  return rows[0]!
}

function eventsOf(
  order: OrderRecord['order'],
  others: OrderEvent[],
  refunds: Refund[],
  now: Date,
): OrderEvent[] {
  const events: OrderEvent[] = [{ what: 'created', at: order.created_at }, ...others]
  if (order.paid_at !== null && order.buyer !== null)
    events.push({ what: 'paid', at: order.paid_at, amount: order.amount, username: order.buyer })
  if (isExpired(order, now)) events.push({ what: 'expired', at: order.expires_at })
  if (order.status === 'closed') events.push({ what: 'closed', at: order.updated_at })
  for (const { refunded_at, amount, reason } of refunds)
    events.push({ what: 'refunded', at: refunded_at, amount, reason })
  return events.sort((a, b) => a.at.getTime() - b.at.getTime())
}

/** An accepted request shows as its refund. */
function eventsOfRequest({
  amount,
  reason,
  status,
  asked_at,
  answer,
  decided_at,
}: RefundRequest): OrderEvent[] {
  const asked: OrderEvent = { what: 'refundAsked', at: asked_at, amount, reason }
  if (decided_at === null || status === 'accepted') return [asked]
  const what = status === 'declined' ? 'refundDeclined' : 'refundWithdrawn'
  return [asked, { what, at: decided_at, reason: answer }]
}

async function movementsOf(db: Db, order_id: bigint): Promise<OrderMovement[]> {
  const { rows } = await sql<Omit<OrderMovement, 'lines'> & OrderMovement['lines'][number]>`
    with moved as (
      select journal_id from orders where id = ${order_id} and journal_id is not null
      union all select journal_id from refunds where order_id = ${order_id}
    )
    select j.id, j.kind, j.posted_at, holder.username, entry.amount
    from moved
    join journal as j on j.id = moved.journal_id
    join entries as entry on entry.journal_id = j.id
    join ledger_accounts as account on account.id = entry.account_id
    left join users as holder on holder.id = account.user_id
    order by j.id, entry.id`.execute(db)
  const movements = new Map<bigint, OrderMovement>()
  for (const { id, kind, posted_at, ...line } of rows) {
    const movement = movements.get(id) ?? { id, kind, posted_at, lines: [] }
    movement.lines.push(line)
    movements.set(id, movement)
  }
  return [...movements.values()]
}
