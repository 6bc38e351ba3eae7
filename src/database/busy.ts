/**
 * The room of busy items: those that need a row which another transaction keeps locked. They wait apart from the batches and
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
/** The shortest wait for a row, when many rows are waited for in turn. */
const TURN_MS = 20
/** How long batches skip locked rows after a wait that was too long. Then they would wait again, for PATIENCE_MS at most. */
const SKIPPING_MS = 1_000

/** The outcome of an item that needs a row which another transaction has locked. Nothing was done for it, and it runs again. */
export class Busy {
  /** Names the row, as the database function reads it. */
  readonly row: string
  constructor(row: string) {
    this.row = row
  }
}

/** Tells an act to skip locked rows. It waits only for the row `awaited`, before it locks any other. */
export type Skipping = { awaited: string | null }

type Waiting = { until?: number; tries?: number; reject: (error: unknown) => void }

type BusyRoom<C> = {
  /** Takes a caller whose item was busy. */
  enter(caller: C, row: string): void
  /** Takes callers whose statement waited too long, although it skips. Each then runs by itself. */
  setApart(callers: C[]): void
  /** Remembers that a statement has waited too long for a row. */
  noteLocked(): void
  /** Whether batches skip locked rows, because a statement waited too long a moment ago. */
  isSkipping(): boolean
  /** The callers in the room. */
  size(): number
}

/**
 * Makes the room of busy items. An item first joins some of the next batches, because most locks last for milliseconds. Then
 * it waits in line for its row: one statement for each row, so that a busy wallet still serves many items at once. Such a
 * statement holds no other lock while it waits. The lines take turns, because each statement needs a connection. The more
 * lines there are, the shorter is a turn, so rows that stay locked delay the others little. After HELD_MS an item is given up
 * as unavailable.
 */
export function makeBusyRoom<C extends Waiting>(batcher: {
  itemsMax: number
  submit: (caller: C) => void
  finish: (callers: C[], patience_ms: number, skipping: Skipping) => Promise<void>
  settleEach: (callers: C[]) => Promise<void>
}): BusyRoom<C> {
  /** By what they wait for: a row, or a symbol for a caller that waits for nothing known. */
  const lines = new Map<string | symbol, C[]>()
  /** What the statement under way waits for. */
  let waitedFor: string | symbol | undefined
  let inside = 0
  let skipsUntil = 0

  const noteLocked = (): void => {
    skipsUntil = performance.now() + SKIPPING_MS
  }

  function enter(caller: C, row: string): void {
    caller.until ??= performance.now() + HELD_MS
    caller.tries = (caller.tries ?? 0) + 1
    inside += 1
    const pause_ms = BUSY_PAUSES_MS[caller.tries - 1]
    const hasLine = lines.has(row) || waitedFor === row
    if (pause_ms === undefined || hasLine) standInLine(row, [caller])
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
    // After this turn of the event loop, when the other busy items of the same batch have joined.
    setImmediate(() => {
      if (waitedFor === undefined) void serve()
    })
  }

  /** Serves the lines one after another. */
  async function serve(): Promise<void> {
    for (;;) {
      waitedFor = lines.keys().next().value
      if (waitedFor === undefined) return
      const callers = lines.get(waitedFor)!
      lines.delete(waitedFor)
      const rest = callers.splice(batcher.itemsMax)
      if (rest.length > 0) lines.set(waitedFor, rest)
      await wait(waitedFor, callers)
    }
  }

  async function wait(row: string | symbol, callers: C[]): Promise<void> {
    const now = performance.now()
    const inTime = callers.filter(({ until }) => until! > now)
    inside -= callers.length
    for (const caller of callers) if (caller.until! <= now) caller.reject(unavailable())
    const patience_ms = Math.max(TURN_MS, Math.floor(PATIENCE_MS / (lines.size + 1)))
    try {
      await batcher.finish(inTime, patience_ms, { awaited: typeof row === 'string' ? row : null })
    } catch (error) {
      if (!isLockedOut(error)) return batcher.settleEach(inTime)
      noteLocked()
      inside += inTime.length
      setTimeout(() => standInLine(row, inTime), HELD_POLL_MS)
    }
  }

  return { enter, setApart, noteLocked, isSkipping: () => performance.now() < skipsUntil, size: () => inside }
}
