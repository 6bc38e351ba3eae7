/**
 * Finds rows that frozen processes have locked. An idle transaction with locks waits for its process, which may be frozen;
 * running statements end by themselves. A row's xmax names the transaction that locked it, so reading it takes no lock.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from './connection.ts'

/** A working process takes less time between two statements of an act. */
const FROZEN_MS = 200

/**
 * Tells for each item whether it needs a row that a frozen process has locked, in the order of the items.
 * @param items rows named `asked`, with a column `item`.
 * @param xmaxes queries for the xmax of the rows that an item needs.
 */
export async function findHeld(
  db: Db,
  items: RawBuilder<unknown>,
  ...xmaxes: RawBuilder<unknown>[]
): Promise<boolean[]> {
  const { rows } = await sql<{ is_held: boolean }>`
    with frozen as materialized (
      select backend_xid as xid from pg_stat_activity
      where datname = current_database() and state = 'idle in transaction' and backend_xid is not null
        and state_change < clock_timestamp() - interval '1 ms' * ${FROZEN_MS}
    )
    select exists (
      select from (${sql.join(xmaxes, sql` union all `)}) as needed (xid)
      where needed.xid in (select xid from frozen)
    ) as is_held
    from ${items} order by asked.item`.execute(db)
  return rows.map(({ is_held }) => is_held)
}
