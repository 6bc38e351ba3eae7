/** Lets a test wait until a statement waits for a lock that the test holds. */
import { sql } from 'kysely'
import type { Tx } from '../../src/database/connection.ts'
import { liftTimeouts } from '../../src/database/timeouts.ts'
import { until } from './waiting.ts'

/**
 * Resolves when this many statements wait for locks of this transaction, directly or in a chain. The transaction looks itself,
 * and without timeouts, so that nothing takes it for a frozen one however slow the machine is.
 * @param hasEnded whether the statement has ended without a wait, which it should not. Then this resolves, too.
 */
export async function untilBlocked(tx: Tx, count = 1, hasEnded = () => false): Promise<void> {
  await liftTimeouts(tx)
  const areWaiting = async () => {
    // A transaction otherwise goes on seeing the activity that it saw first.
    await sql`select pg_stat_clear_snapshot()`.execute(tx)
    const waiting = await sql`
      with recursive waiting (pid) as (
        select pg_backend_pid()
        union select a.pid from pg_stat_activity as a join waiting on waiting.pid = any (pg_blocking_pids(a.pid))
      ) select from waiting`.execute(tx)
    return waiting.rows.length > count || hasEnded()
  }
  await until(areWaiting)
}
