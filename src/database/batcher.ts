/**
 * Natural batching, the group commit of the money path: while one statement is in flight, callers that arrive
 * wait together, and the next statement takes them all. No timer: a lone caller never waits for company.
 */
import { overloaded } from '../errors.ts'
import { AT_ONCE_LIMIT } from '../overload.ts'
import { currentScope, inBatch, type Scope } from '../tracing.ts'

const ITEMS_MAX = 64
/** Nobody who was let in is refused here, but for those who asked and went away again: their items are still done. */
const QUEUE_MAX = AT_ONCE_LIMIT

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
  /** Runs many items in one transaction; outcomes in the order of the items. Must be safe to run again. */
  run: (items: Item[]) => Promise<Outcome[]>
}

type Caller<Item, Outcome> = {
  item: Item
  resolve: (outcome: Outcome) => void
  reject: (error: unknown) => void
  scope: Scope | undefined
}

/**
 * Makes the function that callers use. It resolves only after the commit that holds the item. A transaction
 * that fails as a whole is run again item by item, so one bad item harms nobody else. Throws overloaded.
 */
export function makeBatcher<Item, Outcome>(
  options: BatcherOptions<Item, Outcome>,
): (item: Item) => Promise<Outcome> {
  const { name, run, itemsMax = ITEMS_MAX, queueMax = QUEUE_MAX, lanes = 1 } = options
  const runFor = (callers: Caller<Item, Outcome>[]) =>
    inBatch(name, callers, () => run(callers.map((caller) => caller.item)))
  const waiting: Caller<Item, Outcome>[] = []
  let running = 0

  async function drain(): Promise<void> {
    running += 1
    while (waiting.length > 0) await settle(waiting.splice(0, itemsMax), runFor)
    running -= 1
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= queueMax) {
        reject(overloaded())
        return
      }
      waiting.push({ item, resolve, reject, scope: currentScope() })
      if (running < lanes) void drain()
    })
}

async function settle<Item, Outcome>(
  callers: Caller<Item, Outcome>[],
  runFor: (callers: Caller<Item, Outcome>[]) => Promise<Outcome[]>,
): Promise<void> {
  try {
    const outcomes = await runFor(callers)
    for (const [index, caller] of callers.entries()) caller.resolve(outcomes[index]!)
  } catch {
    // A connection lost at commit leaves the outcome unknown; running the item again finds out.
    for (const caller of callers) {
      try {
        const [outcome] = await runFor([caller])
        caller.resolve(outcome!)
      } catch (error) {
        caller.reject(error)
      }
    }
  }
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
