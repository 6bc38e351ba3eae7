/** Judging requests in turn: each costs some tens of milliseconds of the process when nothing explains it. */
import { openTurns } from '../../platform/turns.ts'
import type { Request, Standing } from './request.ts'
import { judge, type Verdict } from './verdict.ts'

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
  const turns = openTurns()
  const remembered = new Map<string, ShortVerdict>()
  const remember = (name: string, { isRight, mistakes, notes }: Verdict): ShortVerdict => {
    const short = { isRight, mistakes, notes }
    if (remembered.size >= REMEMBERED_MAX) remembered.delete(remembered.keys().next().value!)
    remembered.set(name, short)
    return short
  }
  return {
    verdictOn: (user_id, request, standing) => turns.take(user_id, () => judge(request, standing)),
    async shortVerdictOn(user_id, name, request, standing) {
      const known = () => remembered.get(name)
      return known() ?? turns.take(user_id, () => known() ?? remember(name, judge(request, standing)))
    },
  }
}
