/** Lets a test wait until a statement waits for a lock that the test holds. */
import { sql } from 'kysely'
import { vi } from 'vitest'
import type { Db } from '../../src/database/connection.ts'

/**
 * Resolves when this many statements wait for locks of this transaction, directly or in a chain. `db` is another
 * connection, which watches them.
 */
export async function untilBlocked(db: Db, tx: Db, count = 1): Promise<void> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)
  const areWaiting = async () => {
    const waiting = await sql`
      with recursive waiting (pid) as (
        select ${rows[0]!.pid}::integer
        union select a.pid from pg_stat_activity as a join waiting on waiting.pid = any (pg_blocking_pids(a.pid))
      ) select from waiting`.execute(db)
    return waiting.rows.length > count
  }
  await vi.waitUntil(areWaiting, { timeout: 60_000 })
}
