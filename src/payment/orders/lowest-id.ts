/** Turns a moment into an order id, because one application's orders are indexed by id and not by time. */
import { sql } from 'kysely'

/** By how much the clocks of processes may differ that create orders at the same time. */
const CLOCKS_DIFFER_MS = 600_000

/** From which id on there may be orders of an application that were created since a moment. */
export function lowestIdSince(app_id: bigint, moment: Date) {
  return firstSince(app_id, moment, -CLOCKS_DIFFER_MS)
}

/** From which id on there are none that were created before a moment. */
export function lowestIdAfter(app_id: bigint, moment: Date) {
  return firstSince(app_id, moment, CLOCKS_DIFFER_MS)
}

/** A subquery, so that it is worked out once. */
function firstSince(app_id: bigint, moment: Date, margin_ms: number) {
  return sql`(select first_order_since(${app_id}, ${new Date(moment.getTime() + margin_ms)}::timestamptz))`
}
