/**
 * What frozen processes hold. A transaction that has locked rows and is idle waits for its process, which may be frozen;
 * running statements end by themselves. Who has locked a row stands in its xmax, so finding out neither locks nor waits.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from './connection.ts'

/** Idle for longer than a process takes between two statements of an act. */
const FROZEN_MS = 200

/**
 * Which items need a row that a frozen process has locked. `items` are rows called `asked`, with a column `item`; each of
 * `xmaxes` selects the xmax of rows that such an item needs.
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
