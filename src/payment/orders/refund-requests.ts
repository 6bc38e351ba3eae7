/**
 * Refunds that a merchant asks for. An administrator accepts one by refunding the order, as any other is refunded, or
 * declines it with words that the merchant and the buyer read.
 */
import { sql } from 'kysely'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Db, Tx } from '../../database/connection.ts'
import type { RefundRequestStatus } from '../../database/tables/payments.ts'
import { AppError } from '../../platform/errors.ts'
import { type Actor, audit, lockPermitted } from '../rights/rights.ts'

export type RefundRequest = {
  id: bigint
  /** Whole points. */
  amount: bigint
  reason: string
  status: RefundRequestStatus
  asked_at: Date
  answer: string | null
  decided_at: Date | null
}

/** What was asked for of an order, the first first. */
export async function refundRequestsOf(db: Db, order_id: bigint): Promise<RefundRequest[]> {
  return db
    .selectFrom('refund_requests')
    .where('order_id', '=', order_id)
    .orderBy('id')
    .select(['id', 'amount', 'reason', 'status', 'asked_at', 'answer', 'decided_at'])
    .execute()
}

/** What can be given back of a paid order, in whole points. */
export type Recoverable = {
  left: bigint
  /** The parts of `left` that come from the fee and from the payee's wallet, and what that wallet holds. */
  from_fee: bigint
  from_wallet: bigint
  have: bigint
}

/** Undefined for an order of which nothing can be given back. */
export async function recoverableOf(db: Db, order_id: bigint): Promise<Recoverable | undefined> {
  const { rows } = await sql<Recoverable>`
    select left_over.points as left, part.from_fee, left_over.points - part.from_fee as from_wallet,
      coalesce(wallet.balance, 0) as have
    from orders as o
    cross join lateral (select o.amount - o.refunded_amount as points) as left_over
    cross join lateral (
      select (o.fee - div(o.fee::numeric * o.refunded_amount, o.amount))::bigint as from_fee
    ) as part
    left join ledger_accounts as wallet
      on wallet.user_id = o.payee_id and wallet.book = o.book and wallet.kind = 'wallet'
    where o.id = ${order_id} and o.paid_at is not null and left_over.points > 0`.execute(db)
  return rows[0]
}

export type Asking = { transaction_id: string; amount: bigint; reason: string }

/**
 * Asks for a refund. Throws not_found for an order of another application, conflict for one that is not paid, for more
 * than is left of it, and while another request waits.
 */
export async function askRefund(
  deps: Core,
  payment_id: string,
  { transaction_id, amount, reason }: Asking,
  actor: Actor,
): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    const { id: app_id } = await lockPermitted(tx, payment_id, actor, 'refunds.ask')
    const order = await lockOrder(tx, app_id, transaction_id)
    if (order.paid_at === null) throw new AppError('conflict', 'This order is not paid')
    if (amount > order.amount - order.refunded_amount)
      throw new AppError('conflict', 'That is more than is left of this order')
    const asked = await tx
      .insertInto('refund_requests')
      .values({ order_id: order.id, amount, reason, asked_by: actor.user_id, asked_at: deps.clock() })
      .onConflict((conflict) => conflict.column('order_id').where('status', '=', 'open').doNothing())
      .returning('id')
      .executeTakeFirst()
    if (asked === undefined) throw new AppError('conflict', 'A refund of this order was asked for already')
    const detail = { payment_id, amount: String(amount), reason }
    await audit(tx, 'refund_request.ask', transaction_id, detail, actor)
  })
}

/** Takes an open request back. Throws not_found for an order of another application, conflict when there is none. */
export async function withdrawRefundRequest(
  deps: Core,
  payment_id: string,
  transaction_id: string,
  actor: Actor,
): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    const { id: app_id } = await lockPermitted(tx, payment_id, actor, 'refunds.ask')
    const order = await lockOrder(tx, app_id, transaction_id)
    const closed = await tx
      .updateTable('refund_requests')
      .where('order_id', '=', order.id)
      .where('status', '=', 'open')
      .set({ status: 'withdrawn', decided_by: actor.user_id, decided_at: deps.clock() })
      .returning('id')
      .executeTakeFirst()
    if (closed === undefined) throw new AppError('conflict', 'No refund of this order is asked for')
    await audit(tx, 'refund_request.withdraw', transaction_id, { payment_id }, actor)
  })
}

/** Locks an order of the application, as a refund of it does. */
async function lockOrder(tx: Tx, app_id: bigint, transaction_id: string) {
  const order = await tx
    .selectFrom('orders')
    .where('transaction_id', '=', transaction_id)
    .where('app_id', '=', app_id)
    .select(['id', 'amount', 'refunded_amount', 'paid_at'])
    .forUpdate()
    .executeTakeFirst()
  if (order === undefined) throw new AppError('not_found', 'There is no such order')
  return order
}

/** What the key of a refund is that meets a request. With it, whoever confirms, and however often, one request is met once. */
const KEY = /^request-(\d{1,18})-*$/
const KEY_LENGTH = 43

export function keyOfRequest(id: bigint): string {
  return `request-${id}`.padEnd(KEY_LENGTH, '-')
}

/**
 * Marks the open request of an order as met by the refund with this key, within the refund's transaction. Throws
 * conflict when the key is that of a request which is not open (any more), or asks for another order.
 */
export async function meetRefundRequest(
  tx: Tx,
  transaction_id: string,
  { key, actor_id, now }: { key: string; actor_id: bigint; now: Date },
): Promise<void> {
  const [, id] = KEY.exec(key) ?? []
  const met = await tx
    .updateTable('refund_requests as request')
    .from('orders')
    .whereRef('orders.id', '=', 'request.order_id')
    .where('orders.transaction_id', '=', transaction_id)
    .$if(id !== undefined, (query) => query.where('request.id', '=', BigInt(id!)))
    .where('request.status', '=', 'open')
    .set({ status: 'accepted', decided_by: actor_id, decided_at: now })
    .returning('request.id')
    .executeTakeFirst()
  if (met === undefined && id !== undefined)
    throw new AppError('conflict', 'This request for a refund is not open any more')
}

/** Declines a request with words for the merchant and the buyer. Throws conflict when it is not open (any more). */
export async function declineRefundRequest(
  deps: Core,
  { id, answer, actor_id, ip }: { id: bigint; answer: string; actor_id: bigint; ip: string },
): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    const declined = await tx
      .updateTable('refund_requests as request')
      .from('orders')
      .whereRef('orders.id', '=', 'request.order_id')
      .where('request.id', '=', id)
      .where('request.status', '=', 'open')
      .set({ status: 'declined', answer, decided_by: actor_id, decided_at: deps.clock() })
      .returning('orders.transaction_id')
      .executeTakeFirst()
    if (declined === undefined)
      throw new AppError('conflict', 'This request for a refund is not open any more')
    const { transaction_id } = declined
    await recordAudit(tx, {
      actor_id,
      action: 'refund_request.decline',
      subject: transaction_id,
      detail: { answer },
      ip,
    })
  })
}

/** Requests as administrators read them: those that wait, the oldest first, or what was decided, the newest first. */
export async function listRefundRequests(
  db: Db,
  { isOpen, after }: { isOpen: boolean; after: bigint | undefined },
  limit: number,
) {
  let query = db
    .selectFrom('refund_requests as request')
    .innerJoin('orders', 'orders.id', 'request.order_id')
    .innerJoin('payment_apps as app', 'app.id', 'orders.app_id')
    .innerJoin('users as asker', 'asker.id', 'request.asked_by')
    .innerJoin('users as payer', 'payer.id', 'orders.payer_id')
    .leftJoin('users as decider', 'decider.id', 'request.decided_by')
    .where('request.status', isOpen ? '=' : '<>', 'open')
    .orderBy('request.id', isOpen ? 'asc' : 'desc')
    .limit(limit)
    .select(['request.id', 'request.amount', 'request.reason', 'request.status', 'request.asked_at'])
    .select(['request.answer', 'request.decided_at', 'request.order_id', 'orders.transaction_id'])
    .select(['orders.description', 'orders.amount as order_amount', 'app.name as app_name', 'app.payment_id'])
    .select(['asker.username as asker', 'payer.username as payer', 'decider.username as decider'])
  if (after !== undefined) query = query.where('request.id', isOpen ? '>' : '<', after)
  return query.execute()
}
