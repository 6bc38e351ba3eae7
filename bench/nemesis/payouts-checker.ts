/** Proves from histories that payouts ended once, and that their lines are what their sums say. Pure. */
import { differing, done, type Finding } from './checker.ts'
import { type Act, grouped } from './history.ts'

const ENDS = ['finished', 'refused', 'cancelled']

/** Everything about payouts that cannot be true. */
export function payouts(acts: readonly Act[]): Finding[] {
  const lines = acts.filter(({ kind, outcome }) => kind === 'line' && outcome !== 'unknown')
  const byPayout = grouped(lines, ({ asked }) => String(asked.payout))
  return [
    ...[...grouped(acts, ({ kind, subject }) => (kind === 'payout' ? subject : undefined))].flatMap(
      ([payout, its]) => ended(payout, done(its), byPayout.get(payout) ?? []),
    ),
    ...[...grouped(lines, ({ subject }) => subject)].flatMap(([line, its]) =>
      ['status', 'transaction'].flatMap((fact) => differing(`a line changed its ${fact}`, line, its, fact)),
    ),
  ]
}

function ended(payout: string, acts: Act[], lines: Act[]): Finding[] {
  const ends = acts.filter(({ told }) => ENDS.includes(String(told.status)))
  const findings = ['status', 'paid', 'paid_total', 'cancelled'].flatMap((fact) =>
    differing(`a payout that had ended changed its ${fact}`, payout, ends, fact),
  )
  return [
    ...findings,
    ...wentBack(payout, acts),
    ...(ends[0] === undefined ? [] : unlikeLines(ends[0], lines)),
  ]
}

/** A request after an answer sees no fewer paid lines than the answer told, and no payout that has ended goes on. */
function wentBack(payout: string, acts: Act[]): Finding[] {
  for (const earlier of acts)
    for (const later of acts) {
      if (earlier.to >= later.from || later.told.paid === undefined) continue
      if (Number(later.told.paid) < Number(earlier.told.paid))
        return [{ rule: 'a payout lost paid lines', subject: payout, acts: [earlier, later] }]
      const hasEnded = (act: Act) => ENDS.includes(String(act.told.status))
      if (hasEnded(earlier) && !hasEnded(later))
        return [{ rule: 'a payout went on after its end', subject: payout, acts: [earlier, later] }]
    }
  return []
}

/** The sums of a payout that has ended are those of its lines, which were read later. */
function unlikeLines(end: Act, lines: Act[]): Finding[] {
  if (lines.length === 0) return []
  const count = (status: string) =>
    new Set(lines.filter(({ told }) => told.status === status).map(({ subject }) => subject)).size
  const isUnlike = ['paid', 'refused', 'cancelled'].some(
    (status) => Number(end.told[status]) !== count(status),
  )
  return isUnlike
    ? [{ rule: 'a payout has other sums than its lines', subject: end.subject, acts: [end, ...lines] }]
    : []
}
