// This room: the pool, migrations, timeouts, batches of statements, and bounded counts.
// Verbs: openDatabase, migrate, makeBatcher, giveTimeouts, countNewest.
// Tables: schema_migrations, schema_functions.
// Clauses: spec/limits 3.2.
/**
 * Natural batching, the group commit of payments: while one statement runs, new callers wait together, and the next
 * statement takes them all. Before each statement, the batch gathers the callers that the event loop has at hand. A lone
 * caller waits for one tick of the event loop. On a slow disk, a batch also waits for the callers of the commit before: see regroup.ts.
 */
import assert from 'node:assert/strict'
import { setImmediate as nextTick } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { AT_ONCE_LIMIT } from '../platform/environment.ts'
import { overloaded } from '../platform/errors.ts'
import { currentScope, inBatch, type Scope } from '../platform/tracing.ts'
import { isLockedOut } from './connection.ts'
import { LockedRow, makeFrozenWaits, makeLockQueues, PATIENCE_MS, type Skipping } from './lock-waits.ts'
import { makeRegroup, type Timing } from './regroup.ts'

const ITEMS_MAX = 64
/** Ticks of the event loop that a batch gathers for, so a steady stream of callers cannot hold it back. */
const TICKS_MAX = 8
/**
 * A process admits AT_ONCE_LIMIT requests at most, so this queue fills only with callers that have disconnected. Their
 * items are still done.
 */
const QUEUE_MAX = AT_ONCE_LIMIT

/** How long a batch waits for locks that no frozen process holds, because running statements end by themselves. */
const LONG_PATIENCE_MS = 2_500

/** Bounds of a batcher. */
export type Batching = {
  /** Items of one transaction. */
  itemsMax?: number
  /** Callers that may wait; one more gets overloaded. */
  queueMax?: number
  /** Transactions that may run at once. */
  lanes?: number
}

export type BatcherOptions<Item, Outcome> = Batching & {
  /** The name of the batch in traces. */
  name: string
  /**
   * Runs many items in one transaction and returns their outcomes in the order of the items. It must be safe to run again,
   * and waits for each lock for `patience_ms` at most.
   */
  run: (items: Item[], patience_ms: number, skipping?: Skipping) => Promise<(Outcome | LockedRow)[]>
  /** Whether a run can skip locked rows, and then answers LockedRow for the items that need them. */
  canSkip?: boolean
  /** Whether a batch waits for the callers of a slow commit before it. For the acts that come in numbers. */
  regroups?: boolean
  /** Tells which items need a row that a frozen process has locked. For runs that cannot skip. */
  findFrozen?: (items: Item[]) => Promise<boolean[]>
  /** The clock and the timer of the wait for callers of the commit before. */
  timing?: Timing
}

type Caller<Item, Outcome> = {
  item: Item
  resolve: (outcome: Outcome) => void
  reject: (error: unknown) => void
  scope: Scope | undefined
  /** When the wait for locked rows ends, in ms of `performance.now()`. */
  until?: number
  /** How often the item met a locked row. */
  tries?: number
}

/**
 * Makes the function that callers use. It resolves after the commit that contains the item. When a transaction fails, its
 * items run again one by one, so a bad item fails alone. Items that need rows which stay locked wait apart and delay no other
 * item. The function throws overloaded and unavailable.
 */
export function makeBatcher<Item, Outcome>(
  options: BatcherOptions<Item, Outcome>,
): (item: Item) => Promise<Outcome> {
  const { run, canSkip = false, itemsMax = ITEMS_MAX, queueMax = QUEUE_MAX, lanes = 1 } = options
  const waiting: Caller<Item, Outcome>[] = []
  const frozenWaits = makeFrozenWaits<Caller<Item, Outcome>>({
    findFrozen: (callers) => options.findFrozen?.(itemsOf(callers)),
    submit,
  })
  const lockQueues = makeLockQueues<Caller<Item, Outcome>>({ itemsMax, submit, finish, settleEach })
  const regroup = options.regroups ? makeRegroup(options.timing) : undefined
  let running = 0

  async function drain(): Promise<void> {
    running += 1
    while (waiting.length > 0) {
      const meeting = regroup?.wait(itemsMax - waiting.length)
      if (meeting !== undefined) await meeting
      await gather(waiting, itemsMax)
      const callers = waiting.splice(0, itemsMax)
      // Another run may have taken them.
      if (callers.length > 0) await settle(callers)
    }
    running -= 1
  }

  const settle = canSkip ? settleOrSkip : settleOrSetApart

  /**
   * Waits for locks as long as another process's batch may hold them, so that processes which want one wallet alternate.
   * After that, and for a moment longer, batches skip what is locked.
   */
  async function settleOrSkip(callers: Caller<Item, Outcome>[]): Promise<void> {
    if (!lockQueues.isSkipping())
      try {
        return await finish(callers, PATIENCE_MS)
      } catch (error) {
        if (!isLockedOut(error)) return settleEach(callers)
        lockQueues.noteLocked()
      }
    try {
      await finish(callers, PATIENCE_MS, { waitFor: null })
    } catch (error) {
      if (isLockedOut(error)) lockQueues.setApart(callers)
      else await settleEach(callers)
    }
  }

  async function settleOrSetApart(callers: Caller<Item, Outcome>[]): Promise<void> {
    // While frozen processes lock some rows, new items may need them too. They are set apart first and do not delay the batch.
    const free = frozenWaits.size() === 0 ? callers : await frozenWaits.setApart(callers)
    try {
      await finish(free, PATIENCE_MS)
    } catch (error) {
      if (isLockedOut(error)) await settleLockedOut(free)
      else await settleEach(free)
    }
  }

  /** Waits for locked rows once for the whole batch. Waiting item by item would take longer and serve fewer. */
  async function settleLockedOut(callers: Caller<Item, Outcome>[]): Promise<void> {
    const free = await frozenWaits.setApart(callers)
    try {
      await finish(free, LONG_PATIENCE_MS)
    } catch (error) {
      if (isLockedOut(error)) for (const caller of free) caller.reject(error)
      else await settleEach(free)
    }
  }

  /** Runs each item again. After a connection lost at commit, this also finds out the outcome. */
  async function settleEach(callers: Caller<Item, Outcome>[]): Promise<void> {
    const skipping = canSkip ? { waitFor: null } : undefined
    for (const caller of callers)
      await finish([caller], PATIENCE_MS, skipping).catch((error) =>
        canSkip && isLockedOut(error) ? lockQueues.setApart([caller]) : caller.reject(error),
      )
  }

  async function finish(
    callers: Caller<Item, Outcome>[],
    patience_ms: number,
    skipping?: Skipping,
  ): Promise<void> {
    if (callers.length === 0) return
    const noteAnswers = regroup?.begin()
    const outcomes = await inBatch(options.name, callers, () => run(itemsOf(callers), patience_ms, skipping))
    // A missing outcome would give each later caller that of its neighbour.
    assert.equal(outcomes.length, callers.length)
    noteAnswers?.(callers.length)
    for (const [index, caller] of callers.entries()) {
      const outcome = outcomes[index]!
      if (outcome instanceof LockedRow) lockQueues.enter(caller, outcome.row)
      else caller.resolve(outcome)
    }
  }

  function submit(caller: Caller<Item, Outcome>): void {
    waiting.push(caller)
    regroup?.noteCaller()
    if (running < lanes) void drain()
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length + frozenWaits.size() + lockQueues.size() >= queueMax) reject(overloaded())
      else submit({ item, resolve, reject, scope: currentScope() })
    })
}

/**
 * Lets items arrive until a tick of the event loop brings no new one. Items that came together reach a batch in one tick or in a
 * few, and a statement for each costs far more than their rows.
 */
export async function gather(waiting: readonly unknown[], itemsMax: number): Promise<void> {
  for (let tick = 0, before = 0; tick < TICKS_MAX && waiting.length < itemsMax; tick += 1) {
    if (waiting.length <= before) return
    before = waiting.length
    await nextTick()
  }
}

function itemsOf<Item>(callers: { item: Item }[]): Item[] {
  return callers.map(({ item }) => item)
}

type ColumnType = 'bigint' | 'bytea' | 'text' | 'timestamptz'

/**
 * Passes items to a database function or to unnest: one array a column, in the order of `types`. An undefined value becomes
 * null.
 */
export function columnsOf<Item extends object>(
  items: Item[],
  types: { [Column in keyof Item]?: ColumnType },
): RawBuilder<unknown> {
  const names = Object.keys(types) as (keyof Item)[]
  return sql.join(
    names.map((name) => sql`${items.map((item) => item[name] ?? null)}::${sql.raw(types[name]!)}[]`),
  )
}

/** Passes whether a batch skips locked rows, and the row that it waits for: the last two arguments of a function that skips. */
export function skippingArguments(skipping: Skipping | undefined): RawBuilder<unknown> {
  return sql`${skipping !== undefined}, ${skipping?.waitFor ?? null}`
}

/**
 * Returns the outcomes of a batch in the order of its items. Each row names the number of its item, from 1. An item without a row
 * has no outcome.
 */
export function inOrder<Item, Row extends { item: number }, Outcome>(
  items: Item[],
  rows: Row[],
  outcomeOf: (row: Omit<Row, 'item'>, item: Item) => Outcome,
): (Outcome | undefined)[] {
  const outcomes = new Array<Outcome | undefined>(items.length).fill(undefined)
  for (const { item, ...row } of rows) outcomes[item - 1] = outcomeOf(row, items[item - 1]!)
  return outcomes
}

/** Returns the outcomes of a batch that skips locked rows. Its rows are in the order of the items. */
export function unlessLocked<Row extends { locked: string | null }, Outcome>(
  rows: Row[],
  outcomeOf: (row: Omit<Row, 'locked'>) => Outcome,
): (Outcome | LockedRow)[] {
  return rows.map(({ locked, ...row }) => (locked === null ? outcomeOf(row) : new LockedRow(locked)))
}
