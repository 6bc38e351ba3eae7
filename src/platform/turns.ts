/**
 * Runs expensive work one piece at a time in a process. After each piece it pauses for as long as the piece took, so the
 * process and the database serve cheap requests in between.
 */
import { setTimeout } from 'node:timers/promises'
import { overloaded } from './errors.ts'

const WAITING_MAX = 20
/** For one member, so that the requests of one member cannot delay others for long. */
const WAITING_OF_MEMBER_MAX = 4

export type Turns = {
  /** Does the work when its turn comes. Throws overloaded when too many wait, of this member or of all. */
  take<Result>(user_id: bigint, work: () => Result | Promise<Result>): Promise<Result>
  /** Gives each piece of work that has already begun a turn, and refuses none. */
  goOn<Piece>(pieces: AsyncGenerator<Piece>): AsyncGenerator<Piece>
}

/** Opens the queue of one kind of work. A process opens one for each kind. */
export function openTurns(): Turns {
  const waiting = new Map<bigint, number>()
  let waitingInAll = 0
  let last: Promise<unknown> = Promise.resolve()
  const count = (user_id: bigint, change: 1 | -1) => {
    const ofMember = (waiting.get(user_id) ?? 0) + change
    waitingInAll += change
    if (ofMember === 0) waiting.delete(user_id)
    else waiting.set(user_id, ofMember)
  }
  const inTurn = <Result>(work: () => Result | Promise<Result>): Promise<Result> => {
    let took_ms = 0
    const turn = last.then(async () => {
      const began = performance.now()
      try {
        return await work()
      } finally {
        took_ms = performance.now() - began
      }
    })
    const rest = () => setTimeout(took_ms)
    last = turn.then(rest, rest)
    return turn
  }
  return {
    async take(user_id, work) {
      if (waitingInAll >= WAITING_MAX || (waiting.get(user_id) ?? 0) >= WAITING_OF_MEMBER_MAX)
        throw overloaded()
      count(user_id, 1)
      return inTurn(work).finally(() => count(user_id, -1))
    },
    async *goOn(pieces) {
      try {
        for (;;) {
          const { done, value } = await inTurn(() => pieces.next())
          if (done) return
          yield value
        }
      } finally {
        await pieces.return(undefined)
      }
    },
  }
}
