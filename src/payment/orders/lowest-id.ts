// This room: orders, payments, refunds and transfers: the rules of money for both interfaces.
// Verbs: makePlaceOrder, makePayOrder, refundOrder, makePostTransfer, reverseTransfer, expireOrders.
// Tables: orders, order_requests, refunds, refund_requests, transfers.
// Clauses: spec/payment-api 3.1–3.2, 4.1, 6.2; spec/points 2.3, 3.1–3.3.
/** Turns a moment into an order id, because the index of an application's orders is by id and not by time. */
import { sql } from 'kysely'

/** How much the clocks of two processes may differ. */
const CLOCKS_DIFFER_MS = 600_000

/** The lowest id that an order of the application created since a moment may have. */
export function lowestIdSince(app_id: bigint, moment: Date) {
  return firstSince(app_id, moment, -CLOCKS_DIFFER_MS)
}

/** The id from which on no order of the application was created before a moment. */
export function lowestIdAfter(app_id: bigint, moment: Date) {
  return firstSince(app_id, moment, CLOCKS_DIFFER_MS)
}

/** A subquery, so that Postgres computes it once. */
function firstSince(app_id: bigint, moment: Date, margin_ms: number) {
  return sql`(select first_order_since(${app_id}, ${new Date(moment.getTime() + margin_ms)}::timestamptz))`
}
