// This room: the signature debugger, which finds the mistake of a pasted or refused request.
// Verbs: readPasted, explain, judge.
/** Judges one request at a time, because an unexplained one occupies the process for some tens of milliseconds. */
import { openFairQueue } from '../../platform/fair-queue.ts'
import type { Receiver, Request } from './request.ts'
import { judge, type Verdict } from './verdict.ts'

/** The bound of remembered short verdicts, a few hundred KB together. */
const REMEMBERED_MAX = 500

/** A verdict without the judged strings. */
export type ShortVerdict = Pick<Verdict, 'isRight' | 'mistakes' | 'notes'>

export type Judging = {
  /** Judges a request. Throws overloaded while too many judgements of this member or of all members wait. */
  verdictOn(user_id: bigint, request: Request, receiver: Receiver): Promise<Verdict>
  /** Judges a request once and remembers the verdict by `name`, which must identify the request and its keys. */
  shortVerdictOn(user_id: bigint, name: string, request: Request, receiver: Receiver): Promise<ShortVerdict>
}

/** Opens the judging of this process. */
export function openJudging(): Judging {
  const queue = openFairQueue()
  const remembered = new Map<string, ShortVerdict>()
  const remember = (name: string, { isRight, mistakes, notes }: Verdict): ShortVerdict => {
    const short = { isRight, mistakes, notes }
    if (remembered.size >= REMEMBERED_MAX) remembered.delete(remembered.keys().next().value!)
    remembered.set(name, short)
    return short
  }
  return {
    verdictOn: (user_id, request, receiver) => queue.run(user_id, () => judge(request, receiver)),
    async shortVerdictOn(user_id, name, request, receiver) {
      const known = () => remembered.get(name)
      return known() ?? queue.run(user_id, () => known() ?? remember(name, judge(request, receiver)))
    },
  }
}
