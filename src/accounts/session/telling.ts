/**
 * Ends sessions and tells the applications that asked for it (OpenID Connect Back-Channel Logout 1.0). The database functions
 * write a delivery for each application in the same transaction; the worker sends them.
 */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Db, Tx } from '../../database/connection.ts'

/** Ends these sessions and tells their applications, unless `isTold` is false. */
export async function endAndTell(
  db: Db,
  { clock }: Pick<Core, 'clock'>,
  ids: readonly bigint[],
  isTold = true,
): Promise<void> {
  if (ids.length === 0) return
  await sql`select end_sessions(${ids}::bigint[], ${clock()}::timestamptz, ${isTold}::boolean)`.execute(db)
}

/**
 * Tells applications that all sessions of a member end: the one whose consent the member took back, or all that the member
 * uses.
 */
export async function tellOfMember(
  tx: Tx,
  { user_id, app_id, now }: { user_id: bigint; app_id?: bigint; now: Date },
): Promise<void> {
  await sql`select tell_of_member(${user_id}::bigint, ${app_id ?? null}::bigint, ${now}::timestamptz)`.execute(
    tx,
  )
}
