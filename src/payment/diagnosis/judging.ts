/**
 * Judging requests in turn: each costs some tens of milliseconds of the process when nothing explains it, so one is judged
 * at a time, and for as long afterwards the process does what else there is to do.
 */
import { setTimeout } from 'node:timers/promises'
import { overloaded } from '../../errors.ts'
import { judge, type Request, type Standing, type Verdict } from './verdict.ts'

const WAITING_MAX = 20
/** Of one member, so that nobody's crowd keeps others waiting for long. */
const WAITING_OF_MEMBER_MAX = 4
/** Verdicts on requests that were kept, which do not change; small ones, so that these are a few hundred KB. */
const REMEMBERED_MAX = 500

/** A verdict without the strings that it is about. */
export type ShortVerdict = Pick<Verdict, 'isRight' | 'mistakes' | 'notes'>

export type Judging = {
  /** Throws overloaded when too many wait, of this member or of all. */
  verdictOn(user_id: bigint, request: Request, standing: Standing): Promise<Verdict>
  /** The same of a request that stays what it is under this name, which is judged once however often it is looked at. */
  shortVerdictOn(user_id: bigint, name: string, request: Request, standing: Standing): Promise<ShortVerdict>
}

/** One for the process. */
export function openJudging(): Judging {
  const inTurn = openTurns()
  const remembered = new Map<string, ShortVerdict>()
  const remember = (name: string, { isRight, mistakes, notes }: Verdict): ShortVerdict => {
    const short = { isRight, mistakes, notes }
    if (remembered.size >= REMEMBERED_MAX) remembered.delete(remembered.keys().next().value!)
    remembered.set(name, short)
    return short
  }
  return {
    verdictOn: (user_id, request, standing) => inTurn(user_id, () => judge(request, standing)),
    async shortVerdictOn(user_id, name, request, standing) {
      const known = () => remembered.get(name)
      return known() ?? inTurn(user_id, () => known() ?? remember(name, judge(request, standing)))
    },
  }
}

function openTurns(): <Result>(user_id: bigint, work: () => Result) => Promise<Result> {
  const waiting = new Map<bigint, number>()
  let waitingInAll = 0
  let last: Promise<unknown> = Promise.resolve()
  const count = (user_id: bigint, change: 1 | -1) => {
    const ofMember = (waiting.get(user_id) ?? 0) + change
    waitingInAll += change
    if (ofMember === 0) waiting.delete(user_id)
    else waiting.set(user_id, ofMember)
  }
  return async (user_id, work) => {
    if (waitingInAll >= WAITING_MAX || (waiting.get(user_id) ?? 0) >= WAITING_OF_MEMBER_MAX)
      throw overloaded()
    count(user_id, 1)
    let took_ms = 0
    const turn = last.then(() => {
      const began = performance.now()
      try {
        return work()
      } finally {
        took_ms = performance.now() - began
        count(user_id, -1)
      }
    })
    const rest = () => setTimeout(took_ms)
    last = turn.then(rest, rest)
    return turn
  }
}
