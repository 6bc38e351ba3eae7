/**
 * Finds rows that frozen processes have locked. An idle transaction with locks waits for its process, which may be frozen;
 * running statements end by themselves. A row's xmax names the transaction that locked it, so reading it takes no lock.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { unavailable } from '../platform/errors.ts'
import { HELD_MS, HELD_POLL_MS } from './busy.ts'
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

type Waiting = { until?: number; reject: (error: unknown) => void }

type HeldRoom<C> = {
  /** Returns the callers whose rows are free, and keeps the others. */
  setApart(callers: C[]): Promise<C[]>
  /** The callers in the room. */
  size(): number
}

/**
 * Makes the room of items that need rows of a frozen process. They wait without a connection or a lock, and return to the
 * batcher when the rows are free. After HELD_MS they are given up as unavailable.
 */
export function makeHeldRoom<C extends Waiting>(batcher: {
  findHeld: (callers: C[]) => Promise<boolean[]> | undefined
  submit: (caller: C) => void
}): HeldRoom<C> {
  const held: C[] = []

  async function setApart(callers: C[]): Promise<C[]> {
    const areHeld = (await batcher.findHeld(callers)?.catch(() => undefined)) ?? []
    const until = performance.now() + HELD_MS
    const wasEmpty = held.length === 0
    for (const [index, caller] of callers.entries())
      if (areHeld[index]) held.push(Object.assign(caller, { until: caller.until ?? until }))
    if (wasEmpty && held.length > 0) void watch()
    return callers.filter((_, index) => !areHeld[index])
  }

  async function watch(): Promise<void> {
    while (held.length > 0) {
      await sleep(HELD_POLL_MS)
      const now = performance.now()
      const callers = held.splice(0)
      const inTime = callers.filter(({ until }) => until! > now)
      for (const caller of callers) if (caller.until! <= now) caller.reject(unavailable())
      // They stay in the list meanwhile, so that batches go on checking their own items.
      held.push(...inTime)
      if (inTime.length === 0) continue
      const areHeld = (await batcher.findHeld(inTime)?.catch(() => undefined)) ?? inTime.map(() => true)
      const freed = new Set(inTime.filter((_, index) => !areHeld[index]))
      held.push(...held.splice(0).filter((caller) => !freed.has(caller)))
      for (const caller of freed) batcher.submit(caller)
    }
  }

  return { setApart, size: () => held.length }
}
