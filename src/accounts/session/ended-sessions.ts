/**
 * Ends sessions, and queues a logout token for each application that asked for one (OpenID Connect Back-Channel Logout 1.0). The
 * database functions write the deliveries in the same transaction; the worker sends them.
 */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Db, Tx } from '../../database/connection.ts'

/** Ends these sessions and queues the logout tokens of their applications, unless `isTold` is false. */
export async function endSessionsById(
  db: Db,
  { clock }: Pick<Core, 'clock'>,
  ids: readonly bigint[],
  isTold = true,
): Promise<void> {
  if (ids.length === 0) return
  await sql`select end_sessions(${ids}::bigint[], ${clock()}::timestamptz, ${isTold}::boolean)`.execute(db)
}

/** Queues a logout token for all sessions of a member: for one application whose consent has ended, or for all of the member. */
export async function queueLogoutsOf(
  tx: Tx,
  { user_id, app_id, now }: { user_id: bigint; app_id?: bigint; now: Date },
): Promise<void> {
  await sql`select tell_of_member(${user_id}::bigint, ${app_id ?? null}::bigint, ${now}::timestamptz)`.execute(
    tx,
  )
}
