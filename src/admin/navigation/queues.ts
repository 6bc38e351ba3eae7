/** Counts what waits for an administrator. One statement reads at most COUNTED_MAX rows of each queue by its index. */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/connection.ts'

/** A queue counts up to here. */
export const COUNTED_MAX = 100
const PROPOSALS_LOOKED_AT_MAX = 1_000

export type Queues = {
  /** Payment applications that wait for a review, and approved ones that changed since theirs. */
  reviews: number
  refundRequests: number
  /** Proposals of other administrators that can still be approved. */
  proposals: number
  /** Applications that ask for the right to hold mandates. */
  mandateRights: number
  /** Reports of payment links. */
  linkReports: number
}

/** Counts the queues as one administrator sees them. */
export async function readQueues(
  db: Db,
  { admin_id, now }: { admin_id: bigint; now: Date },
): Promise<Queues> {
  const { rows } = await sql<Queues>`
    select
      (select count(*) from (
        (select from payment_apps where status = 'pending' order by id limit ${COUNTED_MAX})
        union all
        (select from payment_apps where status = 'approved' and unreviewed_change_at is not null
        order by id limit ${COUNTED_MAX})
      ) as waiting)::integer as reviews,
      (select count(*) from (
        select from refund_requests where status = 'open' order by id limit ${COUNTED_MAX}
      ) as waiting)::integer as "refundRequests",
      (select count(*) from (
        select from (${openProposals({ admin_id, now })}) as open limit ${COUNTED_MAX}
      ) as waiting)::integer as proposals,
      (select count(*) from (
        select from payment_apps where mandate_right = 'asked' order by id limit ${COUNTED_MAX}
      ) as waiting)::integer as "mandateRights",
      (select count(*) from (
        select from link_reports where settled_at is null order by link_id, id limit ${COUNTED_MAX}
      ) as waiting)::integer as "linkReports"`.execute(db)
  return rows[0]!
}

/**
 * Selects the proposals that this administrator can approve, among the newest ones without a decision. Expired ones stay
 * without a decision, so there may be any number of them.
 */
export function openProposals({ admin_id, now }: { admin_id: bigint; now: Date }): RawBuilder<unknown> {
  return sql`
    select * from (
      select * from proposals where decision is null order by id desc limit ${PROPOSALS_LOOKED_AT_MAX}
    ) as newest
    where expires_at > ${now} and proposed_by <> ${admin_id}`
}
