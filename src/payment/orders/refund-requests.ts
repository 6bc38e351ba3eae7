/**
 * A merchant's requests for refunds. An administrator accepts a request by refunding the order, or declines it with an
 * answer that the merchant and the payer read.
 */
import { sql } from 'kysely'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Db, Tx } from '../../database/connection.ts'
import { type Counts, countEach } from '../../database/counts.ts'
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

/** The refund requests of an order, the oldest first. */
export async function refundRequestsOf(db: Db, order_id: bigint): Promise<RefundRequest[]> {
  return db
    .selectFrom('refund_requests')
    .where('order_id', '=', order_id)
    .orderBy('id')
    .select(['id', 'amount', 'reason', 'status', 'asked_at', 'answer', 'decided_at'])
    .execute()
}

/** The part of a paid order that can still be refunded, in whole points. */
export type Recoverable = {
  left: bigint
  /** The parts of `left` that come from the fee and from the payee's wallet, and what that wallet holds. */
  from_fee: bigint
  from_wallet: bigint
  have: bigint
}

/** Returns undefined for an order without anything left to refund. The database function has the rules of refund_order. */
export async function recoverableOf(db: Db, order_id: bigint): Promise<Recoverable | undefined> {
  const { rows } = await sql<Recoverable>`
    select points as left, from_fee, from_wallet, have from quote_refund(${order_id}::bigint)`.execute(db)
  return rows[0]
}

/** What the refund of some points would take: from the fee, and from the wallet that was paid. */
export type RefundQuote = {
  payer: string
  payee: string
  payee_id: bigint
  from_fee: bigint
  from_wallet: bigint
  /** The balance of the payee's wallet. */
  have: bigint
}

/** Quotes a refund before it is asked for. Throws not_found and conflict as askRefund does. */
export async function quoteRefundRequest(
  db: Db,
  app_id: bigint,
  { transaction_id, amount }: Pick<Asking, 'transaction_id' | 'amount'>,
): Promise<RefundQuote> {
  const { rows } = await sql<RefundQuote & { left: bigint; is_paid: boolean; is_asked: boolean }>`
    select o.paid_at is not null as is_paid, o.amount - o.refunded_amount as left,
      exists (select from refund_requests where order_id = o.id and status = 'open') as is_asked,
      payer.username as payer, payee.username as payee, payee.id as payee_id,
      part.from_fee, ${amount}::bigint - part.from_fee as from_wallet, coalesce(wallet.balance, 0) as have
    from orders as o
    left join users as payer on payer.id = o.payer_id
    left join users as payee on payee.id = o.payee_id
    left join ledger_accounts as wallet
      on wallet.user_id = o.payee_id and wallet.book = o.book and wallet.kind = 'wallet'
    cross join lateral (
      select case when o.fee is null or ${amount}::bigint > o.amount - o.refunded_amount then 0
        else refunded_fee(o.fee, o.amount, o.refunded_amount + ${amount}::bigint)
          - refunded_fee(o.fee, o.amount, o.refunded_amount) end as from_fee
    ) as part
    where o.transaction_id = ${transaction_id} and o.app_id = ${app_id} and o.door <> 'tip'`.execute(db)
  const [found] = rows
  if (found === undefined) throw new AppError('not_found', 'There is no such order')
  const { left, is_paid, is_asked, ...quote } = found
  if (!is_paid) throw notPaid()
  if (amount > left) throw new RefundTooLarge(left)
  if (is_asked) throw alreadyAsked()
  return quote
}

const notPaid = () => new AppError('conflict', 'This order is not paid')

/** A refund of more points than are left of its order. */
export class RefundTooLarge extends AppError {
  readonly left: bigint
  constructor(left: bigint) {
    super('conflict', 'That is more than is left of this order')
    this.left = left
  }
}

const alreadyAsked = () => new AppError('conflict', 'This order already has an open refund request')

export type Asking = { transaction_id: string; amount: bigint; reason: string }

/**
 * Asks for a refund. Throws not_found for an order of another application, and for a tip, which did not pay the owner. Throws
 * conflict for an unpaid order, for more than is left of it, and while another request is open.
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
    if (order.paid_at === null) throw notPaid()
    const left = order.amount - order.refunded_amount
    if (amount > left) throw new RefundTooLarge(left)
    const asked = await tx
      .insertInto('refund_requests')
      .values({ order_id: order.id, amount, reason, asked_by: actor.user_id, asked_at: deps.clock() })
      .onConflict((conflict) => conflict.column('order_id').where('status', '=', 'open').doNothing())
      .returning('id')
      .executeTakeFirst()
    if (asked === undefined) throw alreadyAsked()
    const detail = { payment_id, amount: String(amount), reason }
    await audit(tx, 'refund_request.ask', transaction_id, detail, actor)
  })
}

/**
 * Withdraws the open request and returns its points. Throws not_found for an order of another application, conflict without
 * an open request.
 */
export async function withdrawRefundRequest(
  deps: Core,
  payment_id: string,
  transaction_id: string,
  actor: Actor,
): Promise<bigint> {
  return deps.db.transaction().execute(async (tx) => {
    const { id: app_id } = await lockPermitted(tx, payment_id, actor, 'refunds.ask')
    const order = await lockOrder(tx, app_id, transaction_id)
    const closed = await tx
      .updateTable('refund_requests')
      .where('order_id', '=', order.id)
      .where('status', '=', 'open')
      .set({ status: 'withdrawn', decided_by: actor.user_id, decided_at: deps.clock() })
      .returning('amount')
      .executeTakeFirst()
    if (closed === undefined) throw new AppError('conflict', 'This order has no open refund request')
    await audit(tx, 'refund_request.withdraw', transaction_id, { payment_id }, actor)
    return closed.amount
  })
}

/** Locks an order of the application, as a refund does. */
async function lockOrder(tx: Tx, app_id: bigint, transaction_id: string) {
  const order = await tx
    .selectFrom('orders')
    .where('transaction_id', '=', transaction_id)
    .where('app_id', '=', app_id)
    .where('door', '<>', 'tip')
    .select(['id', 'amount', 'refunded_amount', 'paid_at'])
    .forUpdate()
    .executeTakeFirst()
  if (order === undefined) throw new AppError('not_found', 'There is no such order')
  return order
}

/**
 * Marks the open request of an order as accepted, within the refund's transaction. Throws conflict if the refund
 * names a request that is not open, or one for another order.
 */
export async function meetRefundRequest(
  tx: Tx,
  transaction_id: string,
  { request_id, actor_id, now }: { request_id: bigint | undefined; actor_id: bigint; now: Date },
): Promise<void> {
  const met = await tx
    .updateTable('refund_requests as request')
    .from('orders')
    .whereRef('orders.id', '=', 'request.order_id')
    .where('orders.transaction_id', '=', transaction_id)
    .$if(request_id !== undefined, (query) => query.where('request.id', '=', request_id!))
    .where('request.status', '=', 'open')
    .set({ status: 'accepted', decided_by: actor_id, decided_at: now })
    .returning('request.id')
    .executeTakeFirst()
  if (met === undefined && request_id !== undefined)
    throw new AppError('conflict', 'This request for a refund is not open any more')
}

/** Declines a request with an answer for the merchant and the payer. Throws conflict if the request is not open. */
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

/** Lists requests for administrators: open ones, the oldest first, or decided ones, the newest first. */
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
    .innerJoin('users as payee', 'payee.id', 'orders.payee_id')
    .leftJoin('users as decider', 'decider.id', 'request.decided_by')
    .where('request.status', isOpen ? '=' : '<>', 'open')
    .orderBy('request.id', isOpen ? 'asc' : 'desc')
    .limit(limit)
    .select(['request.id', 'request.amount', 'request.reason', 'request.status', 'request.asked_at'])
    .select(['request.answer', 'request.decided_at', 'request.order_id', 'orders.transaction_id'])
    .select(['orders.description', 'orders.amount as order_amount', 'app.name as app_name', 'app.payment_id'])
    .select(['asker.username as asker', 'payer.username as payer', 'decider.username as decider'])
    .select('payee.username as payee')
  if (after !== undefined) query = query.where('request.id', isOpen ? '>' : '<', after)
  return query.execute()
}

/** Counts the open requests by their index. Most others are decided, so their count finds its rows at once. */
export async function countRefundRequests(db: Db): Promise<Counts<'open' | 'decided'>> {
  return countEach(db, {
    open: sql`select from refund_requests where status = 'open' order by id`,
    decided: sql`select from refund_requests where status <> 'open'`,
  })
}
