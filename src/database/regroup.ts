/**
 * Lets the callers of a slow commit meet again in the next one. Callers that are answered together ask again together, some
 * milliseconds later. Meanwhile the callers that already wait would begin the next commit alone. From then on two groups would wait
 * for each other's flush of the disk: two flushes for each caller instead of one.
 */

/** How long a batch waits for them, as a share of the commit before. A group left behind waits for a whole commit more. */
const SHARE = 0.5
/** A shorter wait is not worth its timer, because the disk is fast. */
const WAIT_MIN_MS = 1
/** The callers of a full batch need less. A longer commit has waited for a locked row. */
const WAIT_MAX_MS = 30
/** The share of them that must come. Of callers that only happen to ask in that time there are fewer. */
const WORTHWHILE = 0.75
/** The most batches that do not wait after a wait in vain. */
const SKIPPED_MAX = 63

/** A monotonic clock, and a timer that calls `act` unless the returned function is called before. */
export type Timing = { now(): number; after(ms: number, act: () => void): () => void }

/** The clock of this process, which no change of the time of day moves. */
const MONOTONIC: Timing = {
  now: () => performance.now(),
  after(ms, act) {
    const timer = setTimeout(act, ms)
    return () => clearTimeout(timer)
  },
}

export type Regroup = {
  /** Notes that a caller asks. */
  noteCaller(): void
  /** Notes that a commit begins. Returns the function to call when it has ended, with how many callers it answers. */
  begin(): (callers: number) => void
  /**
   * Waits until as many callers have asked as the last commit answered, or `room` callers, for a part of its time at most. Returns
   * undefined if there is nothing to wait for.
   */
  wait(room: number): Promise<void> | undefined
}

/**
 * Makes the regrouping of a batcher. When the callers of a commit stay away, as members do who pay once, the next batches skip the
 * wait: one, then three, up to SKIPPED_MAX.
 */
export function makeRegroup({ now, after }: Timing = MONOTONIC): Regroup {
  let answered = 0
  /** How many of them have not asked again. */
  let missing = 0
  let waitUntil = 0
  let skips = 0
  let skipsLeft = 0
  let onCaller = () => {}

  /** Waits until `rest` of the callers are missing. */
  async function waitFor(rest: number, ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = after(ms, resolve)
      onCaller = () => {
        if (missing > rest) return
        cancel()
        resolve()
      }
    })
    onCaller = () => {}
    const isInVain = missing > rest && missing > answered * (1 - WORTHWHILE)
    skips = isInVain ? Math.min(SKIPPED_MAX, skips * 2 + 1) : 0
    skipsLeft = skips
  }

  return {
    noteCaller() {
      missing -= 1
      onCaller()
    },
    begin() {
      const began = now()
      return (callers) => {
        const ended = now()
        const wait_ms = Math.min(WAIT_MAX_MS, (ended - began) * SHARE)
        answered = callers
        missing = wait_ms < WAIT_MIN_MS ? 0 : callers
        waitUntil = ended + wait_ms
      }
    },
    wait(room) {
      const rest_ms = waitUntil - now()
      if (missing <= 0 || room <= 0 || rest_ms <= 0) return undefined
      if (skipsLeft === 0) return waitFor(Math.max(0, missing - room), rest_ms)
      skipsLeft -= 1
      return undefined
    },
  }
}
