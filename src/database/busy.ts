/**
 * The room of busy items: those that need a row which another transaction has locked. They wait apart from the batches and
 * delay no other item.
 */
import { unavailable } from '../platform/errors.ts'
import { isLockedOut } from './connection.ts'

/** How long a batch waits for a lock. On an idle machine other processes' batches hold locks for less time. */
export const PATIENCE_MS = 250
/** How long an item waits for locked rows. Postgres ends a frozen transaction earlier: see TIMEOUTS. */
export const HELD_MS = 5_000
/** The pause before locked rows are asked for again. */
export const HELD_POLL_MS = 100
/** How long a busy item pauses before each of its next batches. Other batches hold locks for a few milliseconds. */
const BUSY_PAUSES_MS = [1, 2, 4, 8]
/** The statements of a batcher that may wait for locked rows at once. Each takes a connection. */
const LINES_MAX = 3

/** The outcome of an item that needs a row which another transaction has locked. Nothing was done for it, and it runs again. */
export class Busy {
  /** Names the row, as the database function reads it. */
  readonly row: string
  constructor(row: string) {
    this.row = row
  }
}

type Waiting = { until?: number; tries?: number; reject: (error: unknown) => void }

type BusyRoom<C> = {
  /** Takes a caller whose item was busy. */
  enter(caller: C, row: string): void
  /** Takes callers whose statement waited too long for a lock that it did not expect. Each then runs by itself. */
  setApart(callers: C[]): void
  /** The callers in the room. */
  size(): number
}

/**
 * Makes the room of busy items. An item first joins some of the next batches, because most locks last for milliseconds. Then
 * it waits in line for its row: one statement for each row, so that a busy wallet still serves many items at once. Such a
 * statement holds no other lock while it waits. After HELD_MS the item is given up as unavailable.
 */
export function makeBusyRoom<C extends Waiting>(batcher: {
  itemsMax: number
  submit: (caller: C) => void
  finish: (callers: C[], patience_ms: number, awaited: string | null) => Promise<void>
  settleEach: (callers: C[]) => Promise<void>
}): BusyRoom<C> {
  /** By what they wait for: a row, or a symbol for a caller that waits for nothing known. */
  const lines = new Map<string | symbol, C[]>()
  /** What the statements under way wait for. */
  const waitedFor = new Set<string | symbol>()
  let inside = 0

  function enter(caller: C, row: string): void {
    caller.until ??= performance.now() + HELD_MS
    caller.tries = (caller.tries ?? 0) + 1
    inside += 1
    const pause_ms = BUSY_PAUSES_MS[caller.tries - 1]
    if (pause_ms === undefined) standInLine(row, [caller])
    else
      setTimeout(() => {
        inside -= 1
        batcher.submit(caller)
      }, pause_ms)
  }

  function setApart(callers: C[]): void {
    const until = performance.now() + HELD_MS
    inside += callers.length
    for (const caller of callers) {
      caller.until ??= until
      standInLine(Symbol('caller'), [caller])
    }
  }

  function standInLine(row: string | symbol, callers: C[]): void {
    lines.set(row, [...(lines.get(row) ?? []), ...callers])
    // The callers that were busy with this one stand in line first.
    setImmediate(() => {
      if (waitedFor.size < LINES_MAX) void serve()
    })
  }

  /** Serves the lines one after another. Each row has one statement that waits for it. */
  async function serve(): Promise<void> {
    const row = lines.keys().find((each) => !waitedFor.has(each))
    if (row === undefined) return
    const callers = lines.get(row)!
    lines.delete(row)
    const rest = callers.splice(batcher.itemsMax)
    if (rest.length > 0) lines.set(row, rest)
    waitedFor.add(row)
    await wait(row, callers)
    waitedFor.delete(row)
    return serve()
  }

  async function wait(row: string | symbol, callers: C[]): Promise<void> {
    const now = performance.now()
    const inTime = callers.filter(({ until }) => until! > now)
    inside -= callers.length
    for (const caller of callers) if (!inTime.includes(caller)) caller.reject(unavailable())
    try {
      await batcher.finish(inTime, PATIENCE_MS, typeof row === 'string' ? row : null)
    } catch (error) {
      if (!isLockedOut(error)) return batcher.settleEach(inTime)
      inside += inTime.length
      setTimeout(() => standInLine(row, inTime), HELD_POLL_MS)
    }
  }

  return { enter, setApart, size: () => inside }
}
