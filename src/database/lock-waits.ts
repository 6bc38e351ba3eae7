/**
 * What batches do with items that need a locked row. The locks of running transactions last for milliseconds, and those of
 * frozen processes for seconds. Such items wait apart from the batches and delay no other item.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { unavailable } from '../platform/errors.ts'
import { type Db, isLockedOut } from './connection.ts'

/** How long a batch waits for a lock. On an idle machine other processes' batches hold locks for less time. */
export const PATIENCE_MS = 250
/** How long an item waits for locked rows. Postgres ends a frozen transaction earlier: see TIMEOUTS. */
const LOCK_WAIT_MS = 5_000
/** The pause before locked rows are asked for again. */
const LOCK_POLL_MS = 100
/** How long an item pauses before each of its next batches. Other batches hold locks for a few milliseconds. */
const RETRY_PAUSES_MS = [1, 2, 4, 8]
/** The shortest slice of time for a row, when items wait for many rows. */
const SLICE_MS = 20
/** How long batches skip locked rows after a wait that was too long. Then they would wait again, for PATIENCE_MS at most. */
const SKIPPING_MS = 1_000

/** A working process takes less time between two statements of an act. */
const FROZEN_MS = 200

/** The outcome of an item that needs a row which another transaction has locked. Nothing was done for it, and it runs again. */
export class LockedRow {
  /** Names the row, as the database function reads it. */
  readonly row: string
  constructor(row: string) {
    this.row = row
  }
}

/** Tells an act to skip locked rows. It waits only for `waitFor`, before it locks any other row. */
export type Skipping = { waitFor: string | null }

type Waiting = { until?: number; tries?: number; reject: (error: unknown) => void }

type LockQueues<C> = {
  /** Takes a caller whose item needs this locked row. */
  enter(caller: C, row: string): void
  /** Takes callers whose statement waited too long, although it skips. Each then runs by itself. */
  setApart(callers: C[]): void
  /** Remembers that a statement has waited too long for a row. */
  noteLocked(): void
  /** Whether batches skip locked rows, because a statement waited too long a moment ago. */
  isSkipping(): boolean
  /** The number of callers that wait. */
  size(): number
}

/**
 * Makes the queues for locked rows. An item first joins some of the next batches, because most locks last for milliseconds.
 * Then it joins the queue for its row. One statement serves a queue, so a wallet in demand still serves many items at once.
 * Such a statement holds no other lock while it waits. One queue is served at a time, because each statement needs a
 * connection. With more queues each gets a shorter slice of time, so rows that stay locked delay the others little. After
 * LOCK_WAIT_MS an item fails as unavailable.
 */
export function makeLockQueues<C extends Waiting>(batcher: {
  itemsMax: number
  submit: (caller: C) => void
  finish: (callers: C[], patience_ms: number, skipping: Skipping) => Promise<void>
  settleEach: (callers: C[]) => Promise<void>
}): LockQueues<C> {
  /** By the row that they wait for. A symbol stands for an unknown row. */
  const queues = new Map<string | symbol, C[]>()
  /** What the statement under way waits for. */
  let waitedFor: string | symbol | undefined
  let inside = 0
  let skipsUntil = 0

  const noteLocked = (): void => {
    skipsUntil = performance.now() + SKIPPING_MS
  }

  function enter(caller: C, row: string): void {
    caller.until ??= performance.now() + LOCK_WAIT_MS
    caller.tries = (caller.tries ?? 0) + 1
    inside += 1
    const pause_ms = RETRY_PAUSES_MS[caller.tries - 1]
    const hasQueue = queues.has(row) || waitedFor === row
    if (pause_ms === undefined || hasQueue) queue(row, [caller])
    else
      setTimeout(() => {
        inside -= 1
        batcher.submit(caller)
      }, pause_ms)
  }

  function setApart(callers: C[]): void {
    const until = performance.now() + LOCK_WAIT_MS
    inside += callers.length
    for (const caller of callers) {
      caller.until ??= until
      queue(Symbol('caller'), [caller])
    }
  }

  function queue(row: string | symbol, callers: C[]): void {
    queues.set(row, [...(queues.get(row) ?? []), ...callers])
    // In the next tick the other items of the same batch have joined their queues.
    setImmediate(() => {
      if (waitedFor === undefined) void serve()
    })
  }

  /** Serves the queues one after another. */
  async function serve(): Promise<void> {
    for (;;) {
      waitedFor = queues.keys().next().value
      if (waitedFor === undefined) return
      const callers = queues.get(waitedFor)!
      queues.delete(waitedFor)
      const rest = callers.splice(batcher.itemsMax)
      if (rest.length > 0) queues.set(waitedFor, rest)
      await wait(waitedFor, callers)
    }
  }

  async function wait(row: string | symbol, callers: C[]): Promise<void> {
    const now = performance.now()
    const inTime = callers.filter(({ until }) => until! > now)
    inside -= callers.length
    for (const caller of callers) if (caller.until! <= now) caller.reject(unavailable())
    const patience_ms = Math.max(SLICE_MS, Math.floor(PATIENCE_MS / (queues.size + 1)))
    try {
      await batcher.finish(inTime, patience_ms, { waitFor: typeof row === 'string' ? row : null })
    } catch (error) {
      if (!isLockedOut(error)) return batcher.settleEach(inTime)
      noteLocked()
      inside += inTime.length
      setTimeout(() => queue(row, inTime), LOCK_POLL_MS)
    }
  }

  return { enter, setApart, noteLocked, isSkipping: () => performance.now() < skipsUntil, size: () => inside }
}

/**
 * Tells for each item whether it needs a row that a frozen process has locked, in the order of the items.
 * @param items rows named `asked`, with a column `item`.
 * @param xmaxes queries for the xmax of the rows that an item needs.
 */
export async function findFrozen(
  db: Db,
  items: RawBuilder<unknown>,
  ...xmaxes: RawBuilder<unknown>[]
): Promise<boolean[]> {
  const { rows } = await sql<{ is_frozen: boolean }>`
    with frozen as materialized (
      select backend_xid as xid from pg_stat_activity
      where datname = current_database() and state = 'idle in transaction' and backend_xid is not null
        and state_change < clock_timestamp() - interval '1 ms' * ${FROZEN_MS}
    )
    select exists (
      select from (${sql.join(xmaxes, sql` union all `)}) as needed (xid)
      where needed.xid in (select xid from frozen)
    ) as is_frozen
    from ${items} order by asked.item`.execute(db)
  return rows.map(({ is_frozen }) => is_frozen)
}

type FrozenWaits<C> = {
  /** Returns the callers whose rows are free, and keeps the others. */
  setApart(callers: C[]): Promise<C[]>
  /** The number of callers that wait. */
  size(): number
}

/**
 * Makes the wait for rows that frozen processes have locked. Its callers hold no connection and no lock, and return to the
 * batcher when the rows are free. After LOCK_WAIT_MS an item fails as unavailable.
 */
export function makeFrozenWaits<C extends Waiting>(batcher: {
  findFrozen: (callers: C[]) => Promise<boolean[]> | undefined
  submit: (caller: C) => void
}): FrozenWaits<C> {
  const waiting: C[] = []

  async function setApart(callers: C[]): Promise<C[]> {
    const areFrozen = (await batcher.findFrozen(callers)?.catch(() => undefined)) ?? []
    const until = performance.now() + LOCK_WAIT_MS
    const wasEmpty = waiting.length === 0
    for (const [index, caller] of callers.entries())
      if (areFrozen[index]) waiting.push(Object.assign(caller, { until: caller.until ?? until }))
    if (wasEmpty && waiting.length > 0) void watch()
    return callers.filter((_, index) => !areFrozen[index])
  }

  async function watch(): Promise<void> {
    while (waiting.length > 0) {
      await sleep(LOCK_POLL_MS)
      const now = performance.now()
      const callers = waiting.splice(0)
      const inTime = callers.filter(({ until }) => until! > now)
      for (const caller of callers) if (caller.until! <= now) caller.reject(unavailable())
      // They stay in the list meanwhile, so that batches go on checking their own items.
      waiting.push(...inTime)
      if (inTime.length === 0) continue
      const areFrozen = (await batcher.findFrozen(inTime)?.catch(() => undefined)) ?? inTime.map(() => true)
      const freed = new Set(inTime.filter((_, index) => !areFrozen[index]))
      waiting.push(...waiting.splice(0).filter((caller) => !freed.has(caller)))
      for (const caller of freed) batcher.submit(caller)
    }
  }

  return { setApart, size: () => waiting.length }
}
