/**
 * Counts the rows that a statement reads, so a test can prove that it reads only its own. Time would be less
 * reliable.
 */
import { sql } from 'kysely'
import type { Tx } from '../../src/database/connection.ts'

/**
 * The rows of a table that this connection has read so far. Earlier transactions may count too, so use the
 * difference.
 */
export async function rowsRead(tx: Tx, table: string): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select coalesce(sum(idx_tup_fetch + seq_tup_read), 0)::bigint as count
    from pg_stat_xact_user_tables where relname = ${table}`.execute(tx)
  return Number(rows[0]!.count)
}
