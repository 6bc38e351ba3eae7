/** What stands at the head of each queue, for the dashboard. One statement reads a bounded number of rows by their indexes. */
import { sql } from 'kysely'
import type { Db } from '../../database/connection.ts'
import { COUNTED_MAX, openProposals } from '../navigation/queues.ts'

export type Waiting = {
  /** The payment application that waits longest for its review. */
  review: string | null
  review_since: Date | null
  /** The points that merchants ask to refund, in the oldest requests. */
  refund_points: bigint
  refund_since: Date | null
  proposer: string | null
  proposal_since: Date | null
}

/** Reads the oldest entry of each queue. */
export async function readWaiting(
  db: Db,
  { admin_id, now }: { admin_id: bigint; now: Date },
): Promise<Waiting> {
  const { rows } = await sql<Waiting>`
    with review as (
      -- Each half has its own index.
      select name, coalesce(unreviewed_change_at, created_at) as since from (
        (select * from payment_apps where status = 'pending' order by id limit 1)
        union all
        (select * from payment_apps where status = 'approved' and unreviewed_change_at is not null order by id limit 1)
      ) as first
      order by id limit 1
    ), request as (
      select amount, asked_at from refund_requests where status = 'open' order by id limit ${COUNTED_MAX}
    ), proposal as (
      select proposer.username, proposed_at
      from (select * from (${openProposals({ admin_id, now })}) as open order by id limit 1) as oldest
      join users as proposer on proposer.id = proposed_by
    )
    select
      (select name from review) as review, (select since from review) as review_since,
      coalesce((select sum(amount) from request), 0)::bigint as refund_points,
      (select min(asked_at) from request) as refund_since,
      (select username from proposal) as proposer, (select proposed_at from proposal) as proposal_since`.execute(
    db,
  )
  return rows[0]!
}
