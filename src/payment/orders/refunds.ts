/**
 * An administrator's refunds of orders, in full or in part, and reversals of transfers. The acts are database functions;
 * here are their callers, which also write the audit log. spec/points 2.3.
 */
import { sql } from 'kysely'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import { type Db, type Tx, violatedConstraint } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { meetRefundRequest } from './refund-requests.ts'

type Act = { transaction_id: string; reason: string; actor_id: bigint; ip: string | null }

export type Refund = Act & {
  /** Whole points that the payer gets back. 0, all that is left of a refunded order, is a conflict unless the key is repeated. */
  amount: bigint
  /** Whether the platform returns its part of the fee. Otherwise the merchant bears it all. */
  with_fee: boolean
  /** The idempotency key: the same form acts once. */
  key: string
  /** The merchant's request that it accepts. Without one, it accepts the open request of the order. */
  request_id?: bigint
}

type RefundOutcome = 'refunded' | 'repeated' | Exclude<keyof typeof REFUND_FAULTS, 'nothing_left'>

const REFUND_FAULTS = {
  not_found: ['not_found', 'There is no such order'],
  not_paid: ['conflict', 'This order is not paid'],
  too_much: ['conflict', 'That is more than is left of this order'],
  nothing_left: ['conflict', 'The whole order was refunded before'],
  insufficient: ['conflict', 'The merchant does not have that many points'],
  no_request: ['conflict', 'This request for a refund is not open any more'],
} as const

/** The refunds of an order, the oldest first. */
export async function refundsOf(db: Db, order_id: bigint) {
  return db
    .selectFrom('refunds')
    .where('order_id', '=', order_id)
    .orderBy('id')
    .select(['amount', 'reason', 'refunded_at', 'journal_id'])
    .execute()
}

/**
 * Refunds a paid order and accepts its open refund request. Returns false for a repeated form, which does nothing. Throws
 * not_found or conflict without moving points.
 */
export async function refundOrder(deps: Core, refund: Refund): Promise<boolean> {
  return deps.db.transaction().execute((tx) => refundWithin(tx, refund, deps.clock()))
}

/** Refunds within a larger transaction. */
export async function refundWithin(tx: Tx, refund: Refund, now: Date): Promise<boolean> {
  const { transaction_id, amount, with_fee, key, request_id, reason, actor_id, ip } = refund
  const { rows } = await sql<{ outcome: RefundOutcome }>`
    select refund_order(
      ${transaction_id}, ${amount}::bigint, ${with_fee}::boolean, ${key}, ${reason}, ${actor_id}::bigint, ${now}::timestamptz,
      ${request_id ?? null}::bigint
    ) as outcome`
    .execute(tx)
    .catch(explainClosed)
  const { outcome } = rows[0]!
  if (outcome === 'repeated') return false
  if (outcome !== 'refunded') {
    const [code, message] = REFUND_FAULTS[amount === 0n && outcome === 'too_much' ? 'nothing_left' : outcome]
    throw new AppError(code, message)
  }
  await meetRefundRequest(tx, transaction_id, { request_id, actor_id, now })
  const detail = { amount: String(amount), with_fee, reason }
  await recordAudit(tx, { actor_id, action: 'order.refund', subject: transaction_id, detail, ip })
  return true
}

type ReversalOutcome = 'reversed' | 'repeated' | 'not_found' | 'insufficient'

const REVERSAL_FAULTS = {
  not_found: ['not_found', 'There is no such transfer'],
  insufficient: ['conflict', 'The recipient no longer has that many points'],
} as const

export type Reversal = Act & { with_fee: boolean }

/**
 * Reverses a transfer in full. Returns false for a repeated form, which does nothing. Throws not_found or conflict without
 * moving points.
 */
export async function reverseTransfer(deps: Core, reversal: Reversal): Promise<boolean> {
  return deps.db.transaction().execute((tx) => reverseWithin(tx, reversal, deps.clock()))
}

/** Reverses within a larger transaction. */
export async function reverseWithin(tx: Tx, reversal: Reversal, now: Date): Promise<boolean> {
  const { transaction_id, with_fee, reason, actor_id, ip } = reversal
  const { rows } = await sql<{ outcome: ReversalOutcome }>`
    select reverse_transfer(
      ${transaction_id}, ${with_fee}::boolean, ${reason}, ${actor_id}::bigint, ${now}::timestamptz
    ) as outcome`
    .execute(tx)
    .catch(explainClosed)
  const { outcome } = rows[0]!
  if (outcome === 'repeated') return false
  if (outcome !== 'reversed') {
    const [code, message] = REVERSAL_FAULTS[outcome]
    throw new AppError(code, message)
  }
  const detail = { with_fee, reason }
  await recordAudit(tx, { actor_id, action: 'transfer.reverse', subject: transaction_id, detail, ip })
  return true
}

/** Explains the database's refusal to credit an anonymised member, whose points could never be spent. */
function explainClosed(error: unknown): never {
  if (violatedConstraint(error) !== 'ledger_accounts_closed_is_empty') throw error
  const message = 'The account of the member who would get the points was anonymised'
  throw new AppError('conflict', message, { cause: error })
}
