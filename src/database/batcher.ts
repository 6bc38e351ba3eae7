/**
 * Natural batching, the group commit of the money path: while one statement is in flight, callers that arrive
 * wait together, and the next statement takes them all. No timer: a lone caller never waits for company.
 */
import { overloaded } from '../errors.ts'
import { AT_ONCE_LIMIT } from '../overload.ts'
import { currentScope, inBatch, type Scope } from '../tracing.ts'
import { isLockedOut } from './connection.ts'

const ITEMS_MAX = 64
/** Nobody who was let in is refused here, but for those who asked and went away again: their items are still done. */
const QUEUE_MAX = AT_ONCE_LIMIT

/** How long a batch waits for a lock: longer than the batches of other processes hold theirs. */
const PATIENCE_MS = 250
/** How long one item of a batch that was locked out waits, to see whether it is the one. */
const PROBE_MS = 100
/** How long an item may be locked out. A frozen process holds its locks for less: see TIMEOUTS. */
const GIVE_UP_MS = 5_000
/** How many items try alone at once, each on a connection of the pool. */
const TRYING_MAX = 3

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
}

type Caller<Item, Outcome> = {
  item: Item
  resolve: (outcome: Outcome) => void
  reject: (error: unknown) => void
  scope: Scope | undefined
}

/** One that others have locked out, until when it may try. */
type LockedOut<Item, Outcome> = { caller: Caller<Item, Outcome>; until: number }

/**
 * Makes the function that callers use. It resolves only after the commit that holds the item. A transaction that fails
 * as a whole is run again item by item, so one bad item harms nobody else. One that others lock out leaves the lane, and
 * its items try alone: those that need what is locked wait, the rest and the next batch go on. Throws overloaded, and
 * what the database says to an item that stays locked out.
 */
export function makeBatcher<Item, Outcome>(
  options: BatcherOptions<Item, Outcome>,
): (item: Item) => Promise<Outcome> {
  const { name, run, itemsMax = ITEMS_MAX, queueMax = QUEUE_MAX, lanes = 1 } = options
  const runFor = (callers: Caller<Item, Outcome>[], patience_ms: number) =>
    inBatch(name, callers, () =>
      run(
        callers.map((caller) => caller.item),
        patience_ms,
      ),
    )
  const waiting: Caller<Item, Outcome>[] = []
  let running = 0
  /** Locked out in company, so perhaps not by what they need themselves. */
  const suspected: LockedOut<Item, Outcome>[] = []
  /** Locked out alone. */
  const lockedOut: LockedOut<Item, Outcome>[] = []
  let trying = 0
  let tryingAgain = 0

  async function drain(): Promise<void> {
    running += 1
    while (waiting.length > 0) await settle(waiting.splice(0, itemsMax))
    running -= 1
  }

  async function settle(callers: Caller<Item, Outcome>[]): Promise<void> {
    try {
      const outcomes = await runFor(callers, PATIENCE_MS)
      for (const [index, caller] of callers.entries()) caller.resolve(outcomes[index]!)
    } catch (error) {
      if (isLockedOut(error)) return putAside(callers, callers.length === 1 ? lockedOut : suspected)
      // A connection lost at commit leaves the outcome unknown; running the item again finds out.
      for (const caller of callers) {
        try {
          const [outcome] = await runFor([caller], PATIENCE_MS)
          caller.resolve(outcome!)
        } catch (error) {
          if (isLockedOut(error)) putAside([caller], lockedOut)
          else caller.reject(error)
        }
      }
    }
  }

  function putAside(callers: Caller<Item, Outcome>[], queue: LockedOut<Item, Outcome>[]): void {
    const until = performance.now() + GIVE_UP_MS
    queue.push(...callers.map((caller) => ({ caller, until })))
    while (trying < TRYING_MAX && trying < suspected.length + lockedOut.length) void tryAlone()
  }

  /** Those that may be free come first, and one connection is kept for them. */
  async function tryAlone(): Promise<void> {
    trying += 1
    for (;;) {
      const suspect = suspected.shift()
      const again = suspect === undefined && tryingAgain < TRYING_MAX - 1 ? lockedOut.shift() : undefined
      const next = suspect ?? again
      if (next === undefined) break
      if (again !== undefined) tryingAgain += 1
      try {
        const [outcome] = await runFor([next.caller], suspect === undefined ? PATIENCE_MS : PROBE_MS)
        next.caller.resolve(outcome!)
      } catch (error) {
        if (!isLockedOut(error)) next.caller.reject(error)
        else lockedOut.push(next)
        giveUp(error)
      }
      if (again !== undefined) tryingAgain -= 1
    }
    trying -= 1
  }

  /** However many wait their turn, none waits for longer than it may. */
  function giveUp(error: unknown): void {
    const now = performance.now()
    for (const each of lockedOut.splice(0)) {
      if (each.until <= now) each.caller.reject(error)
      else lockedOut.push(each)
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length + suspected.length + lockedOut.length >= queueMax) {
        reject(overloaded())
        return
      }
      waiting.push({ item, resolve, reject, scope: currentScope() })
      if (running < lanes) void drain()
    })
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
