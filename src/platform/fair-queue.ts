/**
 * Runs expensive work one piece at a time in a process. After each piece it pauses for as long as the piece took, so the
 * process and the database serve cheap requests in between.
 */
import { setTimeout } from 'node:timers/promises'
import { overloaded } from './errors.ts'

const WAITING_MAX = 20
/** For one member, so that the requests of one member cannot delay others for long. */
const WAITING_OF_MEMBER_MAX = 4

export type FairQueue = {
  /** Does the work when the work before it has ended. Throws overloaded when too many wait, of this member or of all. */
  run<Result>(user_id: bigint, work: () => Result | Promise<Result>): Promise<Result>
  /** Queues each piece of work that has already begun, and refuses none. */
  runPieces<Piece>(pieces: AsyncGenerator<Piece>): AsyncGenerator<Piece>
}

/** Opens the queue of one kind of work. A process opens one for each kind. */
export function openFairQueue(): FairQueue {
  const waiting = new Map<bigint, number>()
  let waitingInAll = 0
  let last: Promise<unknown> = Promise.resolve()
  const count = (user_id: bigint, change: 1 | -1) => {
    const ofMember = (waiting.get(user_id) ?? 0) + change
    waitingInAll += change
    if (ofMember === 0) waiting.delete(user_id)
    else waiting.set(user_id, ofMember)
  }
  const queued = <Result>(work: () => Result | Promise<Result>): Promise<Result> => {
    let took_ms = 0
    const done = last.then(async () => {
      const began = performance.now()
      try {
        return await work()
      } finally {
        took_ms = performance.now() - began
      }
    })
    const rest = () => setTimeout(took_ms)
    last = done.then(rest, rest)
    return done
  }
  return {
    async run(user_id, work) {
      if (waitingInAll >= WAITING_MAX || (waiting.get(user_id) ?? 0) >= WAITING_OF_MEMBER_MAX)
        throw overloaded()
      count(user_id, 1)
      return queued(work).finally(() => count(user_id, -1))
    },
    async *runPieces(pieces) {
      try {
        for (;;) {
          const { done, value } = await queued(() => pieces.next())
          if (done) return
          yield value
        }
      } finally {
        await pieces.return(undefined)
      }
    },
  }
}
