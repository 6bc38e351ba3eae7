/**
 * Natural batching, the group commit of payments: while one statement runs, new callers wait together, and the next
 * statement takes them all. Before each statement, the batch gathers the callers that the event loop has at hand. There is
 * no timer, so a lone caller waits for one turn of the event loop.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { AT_ONCE_LIMIT } from '../platform/environment.ts'
import { overloaded } from '../platform/errors.ts'
import { currentScope, inBatch, type Scope } from '../platform/tracing.ts'
import { Busy, makeBusyRoom, PATIENCE_MS, type Skipping } from './busy.ts'
import { isLockedOut } from './connection.ts'
import { makeHeldRoom } from './held.ts'

const ITEMS_MAX = 64
/** Turns of the event loop that a batch gathers for, so a steady stream of callers cannot hold it back. */
const TURNS_MAX = 8
/**
 * A process admits AT_ONCE_LIMIT requests at most, so this queue fills only with callers that have disconnected. Their
 * items are still done.
 */
const QUEUE_MAX = AT_ONCE_LIMIT

/** How long a batch waits for locks that no frozen process holds, because running statements end by themselves. */
const BUSY_PATIENCE_MS = 2_500

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
  run: (items: Item[], patience_ms: number, skipping?: Skipping) => Promise<(Outcome | Busy)[]>
  /** Whether a run can skip locked rows, and then answers Busy for the items that need them. */
  canSkip?: boolean
  /** Tells which items need a row that a frozen process has locked. For runs that cannot skip. */
  findHeld?: (items: Item[]) => Promise<boolean[]>
}

type Caller<Item, Outcome> = {
  item: Item
  resolve: (outcome: Outcome) => void
  reject: (error: unknown) => void
  scope: Scope | undefined
  /** When the wait for locked rows ends, in ms of `performance.now()`. */
  until?: number
  /** How often the item was busy. */
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
  const held = makeHeldRoom<Caller<Item, Outcome>>({
    findHeld: (callers) => options.findHeld?.(itemsOf(callers)),
    submit,
  })
  const busy = makeBusyRoom<Caller<Item, Outcome>>({ itemsMax, submit, finish, settleEach })
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

  const settle = canSkip ? settleOrSkip : settleOrHold

  /**
   * Waits for locks as long as another process's batch may hold them, so that processes which want one wallet take turns.
   * After that, and for a moment longer, batches skip what is locked.
   */
  async function settleOrSkip(callers: Caller<Item, Outcome>[]): Promise<void> {
    if (!busy.isSkipping())
      try {
        return await finish(callers, PATIENCE_MS)
      } catch (error) {
        if (!isLockedOut(error)) return settleEach(callers)
        busy.noteLocked()
      }
    try {
      await finish(callers, PATIENCE_MS, { awaited: null })
    } catch (error) {
      if (isLockedOut(error)) busy.setApart(callers)
      else await settleEach(callers)
    }
  }

  async function settleOrHold(callers: Caller<Item, Outcome>[]): Promise<void> {
    // While some items are held, new ones may be too. They are set apart first, so they do not delay the batch.
    const free = held.size() === 0 ? callers : await held.setApart(callers)
    try {
      await finish(free, PATIENCE_MS)
    } catch (error) {
      if (isLockedOut(error)) await settleLockedOut(free)
      else await settleEach(free)
    }
  }

  /** Waits for busy rows once for the whole batch. Waiting item by item would take longer and serve fewer. */
  async function settleLockedOut(callers: Caller<Item, Outcome>[]): Promise<void> {
    const free = await held.setApart(callers)
    try {
      await finish(free, BUSY_PATIENCE_MS)
    } catch (error) {
      if (isLockedOut(error)) for (const caller of free) caller.reject(error)
      else await settleEach(free)
    }
  }

  /** Runs each item again. After a connection lost at commit, this also finds out the outcome. */
  async function settleEach(callers: Caller<Item, Outcome>[]): Promise<void> {
    const skipping = canSkip ? { awaited: null } : undefined
    for (const caller of callers)
      await finish([caller], PATIENCE_MS, skipping).catch((error) =>
        canSkip && isLockedOut(error) ? busy.setApart([caller]) : caller.reject(error),
      )
  }

  async function finish(
    callers: Caller<Item, Outcome>[],
    patience_ms: number,
    skipping?: Skipping,
  ): Promise<void> {
    if (callers.length === 0) return
    const outcomes = await inBatch(options.name, callers, () => run(itemsOf(callers), patience_ms, skipping))
    for (const [index, caller] of callers.entries()) {
      const outcome = outcomes[index]!
      if (outcome instanceof Busy) busy.enter(caller, outcome.row)
      else caller.resolve(outcome)
    }
  }

  function submit(caller: Caller<Item, Outcome>): void {
    waiting.push(caller)
    if (running < lanes) void drain()
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length + held.size() + busy.size() >= queueMax) reject(overloaded())
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
