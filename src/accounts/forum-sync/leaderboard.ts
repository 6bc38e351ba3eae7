/**
 * Scores by the pages of the forum's leaderboard, from which the forum computes the score of each member. A page is one transaction
 * that decides its grants; the ledger posts them after it. A member who is missed is imported a day later. spec/accounts 5.7.
 */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import { decideGrant } from '../forum/points.ts'
import type { Compared } from './compare.ts'
import type { Row } from './lists.ts'

/** Decides the grants of a page. Members suspended here wait, and a score of 0 is none. */
export async function decideScores(
  { settings }: Core,
  tx: Tx,
  rows: Row[],
  asked_at: Date,
): Promise<Compared> {
  const isPastCounted = (await settings.read()).forum_points_for_past_score === 'on'
  const scores = new Map(
    rows.flatMap(({ forum_id, score }) => (score === undefined || score <= 0n ? [] : [[forum_id, score]])),
  )
  const { rows: ours } = await sql<{ user_id: bigint; forum_id: bigint }>`
    select id as user_id, forum_id from users
    where forum_id = any(${[...scores.keys()]}::bigint[])
      and not is_banned_or_suspended(is_banned, suspended_till, ${asked_at})
      and exists (select from forum_members where user_id = users.id)
    order by id`.execute(tx)
  let differences = 0
  for (const { user_id, forum_id } of ours) {
    const granted = await decideGrant(tx, user_id, scores.get(forum_id)!, { isPastCounted, now: asked_at })
    if (granted > 0n) differences += 1
  }
  return { user_ids: ours.map(({ user_id }) => user_id), differences }
}
