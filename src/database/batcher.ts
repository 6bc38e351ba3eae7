/**
 * Natural batching, the group commit of payments: while one statement runs, new callers wait together, and the next
 * statement takes them all. Before each statement, the batch gathers the callers that the event loop has at hand. There is
 * no timer, so a lone caller waits for one turn of the event loop.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { AT_ONCE_LIMIT } from '../platform/environment.ts'
import { overloaded, unavailable } from '../platform/errors.ts'
import { currentScope, inBatch, type Scope } from '../platform/tracing.ts'
import { isLockedOut } from './connection.ts'

const ITEMS_MAX = 64
/** Turns of the event loop that a batch gathers for, so a steady stream of callers cannot hold it back. */
const TURNS_MAX = 8
/**
 * A process admits AT_ONCE_LIMIT requests at most, so this queue fills only with callers that have disconnected. Their
 * items are still done.
 */
const QUEUE_MAX = AT_ONCE_LIMIT

/** How long a batch waits for a lock. On an idle machine other processes' batches hold locks for less time. */
const PATIENCE_MS = 250
/** How long a batch waits for locks that no frozen process holds, because running statements end by themselves. */
const BUSY_PATIENCE_MS = 2_500
/** How long an item waits for a frozen process. Postgres ends that process's transaction earlier: see TIMEOUTS. */
const HELD_MS = 5_000
const HELD_POLL_MS = 100

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
  run: (items: Item[], patience_ms: number) => Promise<Outcome[]>
  /** Tells which items need a row that a frozen process has locked. */
  findHeld?: (items: Item[]) => Promise<boolean[]>
}

type Caller<Item, Outcome> = {
  item: Item
  resolve: (outcome: Outcome) => void
  reject: (error: unknown) => void
  scope: Scope | undefined
  /** When the wait for a frozen process ends, in ms of `performance.now()`. */
  until?: number
}

/**
 * Makes the function that callers use. It resolves after the commit that contains the item. When a transaction fails, its
 * items run again one by one, so a bad item fails alone. Items that need rows of a frozen process wait apart, without a
 * connection or a lock, and delay no other item. The function throws overloaded and unavailable.
 */
export function makeBatcher<Item, Outcome>(
  options: BatcherOptions<Item, Outcome>,
): (item: Item) => Promise<Outcome> {
  const { name, run, findHeld, itemsMax = ITEMS_MAX, queueMax = QUEUE_MAX, lanes = 1 } = options
  const waiting: Caller<Item, Outcome>[] = []
  const held: Caller<Item, Outcome>[] = []
  let running = 0

  async function drain(): Promise<void> {
    running += 1
    while (waiting.length > 0) {
      await gather()
      const callers = waiting.splice(0, itemsMax)
      // Another lane may have taken them.
      if (callers.length > 0) await settle(callers)
    }
    running -= 1
  }

  /**
   * Lets callers arrive until a turn of the event loop brings no new one. Requests that came together reach the batcher in
   * one turn or in a few, and a statement for each costs far more than their rows.
   */
  async function gather(): Promise<void> {
    for (let turn = 0, before = 0; turn < TURNS_MAX && waiting.length < itemsMax; turn += 1) {
      if (waiting.length <= before) return
      before = waiting.length
      await nextTurn()
    }
  }

  async function settle(callers: Caller<Item, Outcome>[]): Promise<void> {
    // While some items are held, new ones may be too. They are set apart first, so they do not delay the batch.
    const free = held.length === 0 ? callers : await setApart(callers)
    try {
      await finish(free, PATIENCE_MS)
    } catch (error) {
      if (isLockedOut(error)) await settleLockedOut(free)
      else await settleEach(free)
    }
  }

  /** Waits for busy rows once for the whole batch. Waiting item by item would take longer and serve fewer. */
  async function settleLockedOut(callers: Caller<Item, Outcome>[]): Promise<void> {
    const free = await setApart(callers)
    try {
      await finish(free, BUSY_PATIENCE_MS)
    } catch (error) {
      if (isLockedOut(error)) for (const caller of free) caller.reject(error)
      else await settleEach(free)
    }
  }

  /** Runs each item again. After a connection lost at commit, this also finds out the outcome. */
  async function settleEach(callers: Caller<Item, Outcome>[]): Promise<void> {
    for (const caller of callers) await finish([caller], PATIENCE_MS).catch(caller.reject)
  }

  async function finish(callers: Caller<Item, Outcome>[], patience_ms: number): Promise<void> {
    if (callers.length === 0) return
    const outcomes = await inBatch(name, callers, () => run(itemsOf(callers), patience_ms))
    for (const [index, caller] of callers.entries()) caller.resolve(outcomes[index]!)
  }

  /** Returns the callers whose rows are free, and puts the others into `held`. */
  async function setApart(callers: Caller<Item, Outcome>[]): Promise<Caller<Item, Outcome>[]> {
    const areHeld = (await findHeld?.(itemsOf(callers)).catch(() => undefined)) ?? []
    const until = performance.now() + HELD_MS
    const wasEmpty = held.length === 0
    for (const [index, caller] of callers.entries())
      if (areHeld[index]) held.push(Object.assign(caller, { until: caller.until ?? until }))
    if (wasEmpty && held.length > 0) void watchHeld()
    return callers.filter((_, index) => !areHeld[index])
  }

  async function watchHeld(): Promise<void> {
    while (held.length > 0) {
      await sleep(HELD_POLL_MS)
      const now = performance.now()
      const callers = held.splice(0)
      const inTime = callers.filter(({ until }) => until! > now)
      for (const caller of callers) if (caller.until! <= now) caller.reject(unavailable())
      // They stay in the list meanwhile, so that batches go on checking their own items.
      held.push(...inTime)
      if (inTime.length === 0) continue
      const areHeld = await findHeld!(itemsOf(inTime)).catch(() => inTime.map(() => true))
      const freed = new Set(inTime.filter((_, index) => !areHeld[index]))
      held.push(...held.splice(0).filter((caller) => !freed.has(caller)))
      for (const caller of freed) submit(caller)
    }
  }

  function submit(caller: Caller<Item, Outcome>): void {
    waiting.push(caller)
    if (running < lanes) void drain()
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length + held.length >= queueMax) reject(overloaded())
      else submit({ item, resolve, reject, scope: currentScope() })
    })
}

function itemsOf<Item>(callers: { item: Item }[]): Item[] {
  return callers.map(({ item }) => item)
}

/**
 * Returns the outcomes of a batch in the order of its items. Each row names its item's place, from 1. An item without a row
 * has no outcome.
 */
export function inOrder<Item, Row extends { item: number }, Outcome>(
  items: Item[],
  rows: Row[],
  outcomeOf: (row: Omit<Row, 'item'>) => Outcome,
): (Outcome | undefined)[] {
  const outcomes = new Array<Outcome | undefined>(items.length).fill(undefined)
  for (const { item, ...row } of rows) outcomes[item - 1] = outcomeOf(row)
  return outcomes
}
