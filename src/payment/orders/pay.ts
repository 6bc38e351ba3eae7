/** The act of paying an order. Its rule is the database function pay_orders; this file calls it in batches. */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { countOutcome } from '../../core/metrics.ts'
import { makeBatcher, skippingArguments, unlessLocked } from '../../database/batcher.ts'
import { named } from '../../database/named-statements.ts'
import { type RowType, rowArray } from '../../database/rows.ts'
import { within } from '../../database/timeouts.ts'
import { isPaused } from './repeats.ts'
import type { PaidOrder } from './return.ts'

export type PayOutcome =
  | 'paid'
  | 'paid_before'
  | 'paid_by_other'
  | 'expired'
  | 'closed'
  | 'unusable'
  | 'changed'
  | 'insufficient'
  | 'daily_limit'
  | 'not_found'
  | 'not_on_sale'
  | 'not_allowed'
  | 'sold_out'
  | 'member_limit'
  | 'tip_refused'
  | 'tip_limit'
  | 'paused'
  | 'order_frozen'
  | 'wallet_frozen'

export type Payment = {
  transaction_id: string
  payer_id: bigint
  /** The points that the page showed to the payer. An order of another amount is not paid. */
  expected_amount: bigint
}

export const ASKED_PAYMENT = {
  type: 'asked_payment',
  columns: ['transaction_id', 'payer_id', 'expected_amount', 'now'],
} as const satisfies RowType<string>

/** A judged payment. The order comes with `paid` and `paid_before`, unless it is refunded. */
export type Judged = { outcome: PayOutcome; order?: PaidOrder }

export type Pay = (payment: Payment) => Promise<Judged>

export type PayOrder = (payment: Payment) => Promise<PayOutcome>

/** Makes the payOrder of this process, for callers that need the outcome alone. */
export function makePayOrder(deps: Core): PayOrder {
  const pay = makePay(deps)
  return async (payment) => (await pay(payment)).outcome
}

/** Makes the function that pays an order and answers with its return to the shop. Payments that arrive together share a commit. */
export function makePay(deps: Core): Pay {
  const pay = makeBatcher<Payment & { now: Date }, Judged>({
    name: 'pay orders',
    ...deps.batching,
    canSkip: true,
    regroups: true,
    run: async (payments, patience_ms, skipping) => {
      const { points_payment_fee_rate } = await deps.settings.read()
      const { rows } = await sql<PaidOrder & { outcome: PayOutcome; locked: string | null }>`
        select ${named} outcome, locked, (shop_return).* from pay_orders(
          ${within(patience_ms, rowArray(ASKED_PAYMENT, payments))},
          ${points_payment_fee_rate}::numeric, ${skippingArguments(skipping)}
        ) order by item`.execute(deps.db)
      // Without a return, the order is null in every column.
      return unlessLocked(rows, ({ outcome, ...order }) =>
        order.id === null ? { outcome } : { outcome, order },
      )
    },
  })
  const payUnlessPaused = async (payment: Payment): Promise<Judged> =>
    (await isPaused(deps)) ? { outcome: 'paused' } : pay({ ...payment, now: deps.clock() })
  return (payment) => countOutcome(deps.metrics?.payments, payUnlessPaused(payment), ({ outcome }) => outcome)
}
