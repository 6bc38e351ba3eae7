/** Counts what waits for an administrator. One statement reads at most COUNTED_MAX rows of each queue by its index. */
import { sql } from 'kysely'
import type { Db } from '../../database/connection.ts'

/** A queue counts up to here. */
export const COUNTED_MAX = 100

export type Queues = {
  /** Payment applications that wait for a review, and approved ones that changed since theirs. */
  reviews: number
  refundRequests: number
  /** Proposals of other administrators that can still be approved. */
  proposals: number
  /** Applications that ask for the right to hold mandates. */
  mandateRights: number
}

/** Counts the queues as one administrator sees them. */
export async function readQueues(
  db: Db,
  { admin_id, now }: { admin_id: bigint; now: Date },
): Promise<Queues> {
  const { rows } = await sql<Queues>`
    select
      (select count(*) from (
        (select from payment_apps where status = 'pending' limit ${COUNTED_MAX})
        union all
        (select from payment_apps where status = 'approved' and unreviewed_change_at is not null limit ${COUNTED_MAX})
      ) as waiting)::integer as reviews,
      (select count(*) from (
        select from refund_requests where status = 'open' limit ${COUNTED_MAX}
      ) as waiting)::integer as "refundRequests",
      (select count(*) from (
        select from correction_proposals
        where decision is null and expires_at > ${now} and proposed_by <> ${admin_id} limit ${COUNTED_MAX}
      ) as waiting)::integer as proposals,
      (select count(*) from (
        select from payment_apps where mandate_right = 'asked' limit ${COUNTED_MAX}
      ) as waiting)::integer as "mandateRights"`.execute(db)
  return rows[0]!
}
