/** Describes orders and transfers for the HMAC API. */
import type { z } from 'zod'
import { isExpired, type Order, statusWord } from '../orders/orders.ts'
import type { Transfer } from '../orders/transfers.ts'
import { isoSeconds } from '../signing/hmac.ts'
import type { OrderFields, TransferFields } from './shapes.ts'

/**
 * The full transaction: points as integers, times in UTC, null for a time that has not come. decisions.md 5.8.
 * @param mandate_id of a charge, the public id of its mandate.
 */
export function describeOrder(
  order: Order,
  now: Date,
  mandate_id: string | null,
): z.output<typeof OrderFields> {
  return {
    transaction_id: order.transaction_id,
    order_id: order.order_id,
    status: statusWord(order),
    amount: Number(order.amount),
    platform_fee: Number(order.fee ?? 0n),
    merchant_points: Number(order.merchant_points ?? 0n),
    description: order.description,
    external_reference: order.order_id,
    created_at: isoSeconds(order.created_at),
    updated_at: isoSeconds(order.updated_at),
    paid_at: order.paid_at === null ? null : isoSeconds(order.paid_at),
    expires_at: isoSeconds(order.expires_at),
    expired: isExpired(order, now),
    error_message: null,
    refunded_amount: Number(order.refunded_amount),
    frozen: order.frozen_at !== null,
    mandate_id,
  }
}

/** A transfer in eleven fields. `total_deduction` is the amount with the fee. decisions.md 5.10. */
export function describeTransfer(transfer: Transfer): z.output<typeof TransferFields> {
  return {
    transaction_id: transfer.transaction_id,
    order_id: transfer.order_id,
    status: transfer.status,
    amount: Number(transfer.amount),
    fee: Number(transfer.fee),
    total_deduction: Number(transfer.amount + transfer.fee),
    from_user_id: Number(transfer.from_user_id),
    from_username: transfer.from_username,
    to_user_id: Number(transfer.to_user_id),
    to_username: transfer.to_username,
    paid_at: isoSeconds(transfer.paid_at),
  }
}
