/** Describes orders, transfers, mandates and charges for the HMAC API. spec/mandates 4.1. */
import type { z } from 'zod'
import type { Charge } from '../mandates/charge.ts'
import type { Mandate } from '../mandates/mandates.ts'
import { isExpired, type Order, statusWord } from '../orders/orders.ts'
import type { Transfer } from '../orders/transfers.ts'
import { isoSeconds } from '../signing/hmac.ts'
import type { ChargeFields, MandateFields } from './mandate-shapes.ts'
import type { OrderFields, TipFields, TransferFields } from './shapes.ts'

/** What the function tip_facts answers. */
export type TipFacts = z.output<typeof TipFields>

/**
 * The full transaction: points as integers, times in UTC, null for a time that has not come. spec/payment-api 3.2.
 * @param mandate_id of a charge, the public id of its mandate.
 * @param tip of a tip, as the database function tip_facts tells it.
 */
export function describeOrder(
  order: Order,
  now: Date,
  mandate_id: string | null,
  tip: TipFacts | null = null,
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
    ...(tip !== null && { tip }),
  }
}

/** A transfer in eleven fields. `total_deduction` is the amount with the fee. spec/payment-api 4.1. */
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

/** What a merchant's program may know of a mandate. */
export type WireMandate = Pick<Mandate, Exclude<keyof z.output<typeof MandateFields>, 'left'> | 'remaining'>

/** A mandate: points and ids as integers, times in UTC, null for what does not exist. */
export function describeMandate(mandate: WireMandate): z.output<typeof MandateFields> {
  const { user_id, accepted_at, ended_at, spent, remaining, resets_at } = mandate
  const { mandate_id, reference, status, reason, kind, purpose, period, starts_on, ends_on } = mandate
  const { with_token, replaces, username, period_from, period_to, next_charge_on, version } = mandate
  return {
    ...{ mandate_id, reference, status, reason, kind, purpose },
    charge_max: Number(mandate.charge_max),
    period_max: Number(mandate.period_max),
    ...{ period, starts_on, ends_on, with_token, replaces },
    user_id: user_id === null ? null : Number(user_id),
    username,
    accepted_at: accepted_at === null ? null : isoSeconds(accepted_at),
    ended_at: ended_at === null ? null : isoSeconds(ended_at),
    ...{ period_from, period_to },
    spent: spent === null ? null : Number(spent),
    left: remaining === null ? null : Number(remaining),
    resets_at: resets_at === null ? null : isoSeconds(resets_at),
    ...{ next_charge_on, version },
    updated_at: isoSeconds(mandate.updated_at),
  }
}

/** A charge: its order, and its period as of that charge. */
export function describeCharge(
  { order, mandate_id, period_from, spent, left, resets_at }: Charge,
  now: Date,
): z.output<typeof ChargeFields> {
  return {
    ...describeOrder(order, now, mandate_id),
    mandate_id,
    period_from,
    spent: Number(spent),
    left: Number(left),
    resets_at: isoSeconds(resets_at),
  }
}
