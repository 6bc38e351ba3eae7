// This room: orders, payments, refunds and transfers: the rules of money for both interfaces.
// Verbs: makePlaceOrder, makePayOrder, refundOrder, makePostTransfer, reverseTransfer, expireOrders, takingsBetween, countSales.
// Tables: orders, order_requests, refunds, refund_requests, transfers, payment_app_takings, payment_app_sales, sales_counted.
// Clauses: spec/payment-api 3.1–3.2, 4.1, 6.2; spec/points 2.3, 3.1–3.3.
/** Turns a moment into the id of an order or a transfer, because the indexes of an application's rows are by id and not by time. */
import { type RawBuilder, sql } from 'kysely'

/** How much the clocks of two processes may differ. */
const CLOCKS_DIFFER_MS = 600_000

type Table = 'orders' | 'transfers'
const FIRST_SINCE = { orders: sql`first_order_since`, transfers: sql`first_transfer_since` }

/**
 * The lowest id that a row of the application made since a moment may have.
 * @param app_id the id, or a column that holds it.
 * @param moment the moment, or a subquery that returns it.
 */
export function lowestIdSince(
  app_id: bigint | RawBuilder<bigint>,
  moment: Date | RawBuilder<Date>,
  table: Table = 'orders',
) {
  return firstSince(table, app_id, moment, -CLOCKS_DIFFER_MS)
}

/** The id from which on no row of the application was made before a moment. */
export function lowestIdAfter(app_id: bigint, moment: Date, table: Table = 'orders') {
  return firstSince(table, app_id, moment, CLOCKS_DIFFER_MS)
}

/** A subquery, so that Postgres computes it once. */
function firstSince(
  table: Table,
  app_id: bigint | RawBuilder<bigint>,
  moment: Date | RawBuilder<Date>,
  margin_ms: number,
) {
  const at = sql`${moment}::timestamptz + ${margin_ms} * interval '1 millisecond'`
  return sql`(select ${FIRST_SINCE[table]}(${app_id}, ${at}))`
}
