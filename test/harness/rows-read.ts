/**
 * Counts the rows that a statement reads, so a test can prove that it reads only its own. Time would be less
 * reliable.
 */
import { sql } from 'kysely'
import type { Tx } from '../../src/database/connection.ts'
import type { TestApp } from './harness.ts'

/**
 * The rows of a table that this connection has read so far. Earlier transactions may count too, so use the
 * difference.
 */
export async function rowsRead(tx: Tx, table: string): Promise<number> {
  return (await rowsOfTables(tx)).get(table) ?? 0
}

/** The rows of a table that an act reads within a transaction. */
export const rowsReadBy = (
  { db }: Pick<TestApp, 'db'>,
  table: string,
  act: (tx: Tx) => Promise<unknown>,
): Promise<number> =>
  db.transaction().execute(async (tx) => {
    const before = await rowsRead(tx, table)
    await act(tx)
    return (await rowsRead(tx, table)) - before
  })

/** The rows of every table that this connection has read so far. */
export async function rowsOfTables(tx: Tx): Promise<Map<string, number>> {
  const { rows } = await sql<{ relname: string; count: bigint }>`
    select relname, (coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0))::bigint as count
    from pg_stat_xact_user_tables`.execute(tx)
  return new Map(rows.map(({ relname, count }) => [relname, Number(count)]))
}
