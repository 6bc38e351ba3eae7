/**
 * Natural batching, the group commit of the money path: while one statement is in flight, callers that arrive
 * wait together, and the next statement takes them all. No timer: a lone caller never waits for company.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { AT_ONCE_LIMIT } from '../platform/environment.ts'
import { overloaded, unavailable } from '../platform/errors.ts'
import { currentScope, inBatch, type Scope } from '../platform/tracing.ts'
import { isLockedOut } from './connection.ts'

const ITEMS_MAX = 64
/** Nobody who was let in is refused here, but for those who asked and went away again: their items are still done. */
const QUEUE_MAX = AT_ONCE_LIMIT

/** How long a batch waits for a lock: on an idle machine, longer than the batches of other processes hold theirs. */
const PATIENCE_MS = 250
/** How long it waits for what no frozen process holds, since running statements end by themselves. */
const BUSY_PATIENCE_MS = 2_500
/** How long an item waits for a frozen process, whose locks end before: see TIMEOUTS. */
const HELD_MS = 5_000
const HELD_POLL_MS = 100

/** Bounds of a batcher. */
export type Batching = {
  /** The most items of one transaction. */
  itemsMax?: number
  /** The most callers that may wait; beyond, overloaded. */
  queueMax?: number
  /** How many transactions may be under way at once. */
  lanes?: number
}

export type BatcherOptions<Item, Outcome> = Batching & {
  /** What it does, for traces. */
  name: string
  /**
   * Runs many items in one transaction; outcomes in the order of the items. Must be safe to run again. It waits for each
   * lock so long at most.
   */
  run: (items: Item[], patience_ms: number) => Promise<Outcome[]>
  /** Which items need a row that a frozen process holds. Without it, none does. */
  findHeld?: (items: Item[]) => Promise<boolean[]>
}

type Caller<Item, Outcome> = {
  item: Item
  resolve: (outcome: Outcome) => void
  reject: (error: unknown) => void
  scope: Scope | undefined
  /** Until when it may wait for a frozen process. */
  until?: number
}

/**
 * Makes the function that callers use. It resolves only after the commit that holds the item. A transaction that fails
 * as a whole is run again item by item, so one bad item harms nobody else. Items that need what a frozen process holds
 * wait apart, without a connection or a lock, and hold up nobody. Throws overloaded, and unavailable.
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
    while (waiting.length > 0) await settle(waiting.splice(0, itemsMax))
    running -= 1
  }

  async function settle(callers: Caller<Item, Outcome>[]): Promise<void> {
    // While some are held, others may be: they are found before they hold up the rest.
    const free = held.length === 0 ? callers : await setApart(callers)
    try {
      await finish(free, PATIENCE_MS)
    } catch (error) {
      if (isLockedOut(error)) await settleLockedOut(free)
      else await settleEach(free)
    }
  }

  /** What is busy is waited for as a whole: item by item it would serve fewer, and be held the longer. */
  async function settleLockedOut(callers: Caller<Item, Outcome>[]): Promise<void> {
    const free = await setApart(callers)
    try {
      await finish(free, BUSY_PATIENCE_MS)
    } catch (error) {
      if (isLockedOut(error)) for (const caller of free) caller.reject(error)
      else await settleEach(free)
    }
  }

  /** A connection lost at commit leaves the outcome unknown; running the item again finds out. */
  async function settleEach(callers: Caller<Item, Outcome>[]): Promise<void> {
    for (const caller of callers) await finish([caller], PATIENCE_MS).catch(caller.reject)
  }

  async function finish(callers: Caller<Item, Outcome>[], patience_ms: number): Promise<void> {
    if (callers.length === 0) return
    const outcomes = await inBatch(name, callers, () => run(itemsOf(callers), patience_ms))
    for (const [index, caller] of callers.entries()) caller.resolve(outcomes[index]!)
  }

  /** Answers those that nothing frozen holds up; the others wait. */
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
      // In the list meanwhile, so that batches go on asking.
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
 * The outcomes of a batch whose statement answers with rows for some of its items only, each row naming the item's
 * place from 1: an item without a row has no outcome.
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
