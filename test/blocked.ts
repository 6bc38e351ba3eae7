/** How a test knows that a statement has come as far as a lock that the test holds. */
import { sql } from 'kysely'
import { vi } from 'vitest'
import type { Db } from '../src/database/connection.ts'

/** Resolves when a statement waits for what this transaction has locked. `db` is to look from, outside of it. */
export async function untilBlocked(db: Db, tx: Db): Promise<void> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)
  const isWaitedFor = async () => {
    const waiting = await sql`
      select from pg_stat_activity where ${rows[0]!.pid} = any (pg_blocking_pids(pid))`.execute(db)
    return waiting.rows.length > 0
  }
  await vi.waitUntil(isWaitedFor, { timeout: 20_000 })
}
