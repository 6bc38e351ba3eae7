/**
 * Work that costs much, done in turn: one at a time in a process, and for as long afterwards the process, or the database,
 * does what else there is to do. Nobody's crowd of it keeps others waiting for what costs little.
 */
import { setTimeout } from 'node:timers/promises'
import { overloaded } from './errors.ts'

const WAITING_MAX = 20
/** Of one member, so that nobody's crowd keeps others waiting for long. */
const WAITING_OF_MEMBER_MAX = 4

export type Turns = {
  /** Does the work when its turn has come. Throws overloaded when too many wait, of this member or of all. */
  take<Result>(user_id: bigint, work: () => Result | Promise<Result>): Promise<Result>
  /** The same for what has begun already and goes on piece by piece: each piece has a turn, and none is refused. */
  goOn<Piece>(pieces: AsyncGenerator<Piece>): AsyncGenerator<Piece>
}

/** One for each kind of work in a process. */
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
