/** How a test knows that a statement reads what it is about, and not what belongs to others: time would tell it less surely. */
import { sql } from 'kysely'
import type { Tx } from '../../src/database/connection.ts'

/** How many rows of a table this connection has read so far, give or take earlier transactions: the difference counts. */
export async function rowsRead(tx: Tx, table: string): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select coalesce(sum(idx_tup_fetch + seq_tup_read), 0)::bigint as count
    from pg_stat_xact_user_tables where relname = ${table}`.execute(tx)
  return Number(rows[0]!.count)
}
