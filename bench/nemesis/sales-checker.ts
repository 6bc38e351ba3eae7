/** Proves from histories that sales of links delivered what they had, once each, and within what their teams allowed. Pure. */
import { differing, done, type Finding } from './checker.ts'
import { type Act, grouped } from './history.ts'

/** Everything about links that cannot be true. */
export function sales(acts: readonly Act[]): Finding[] {
  const ofSales = acts.filter(
    ({ kind, asked }) => kind === 'receipt' || (kind === 'pay' && asked.link !== undefined),
  )
  const byTransaction = grouped(ofSales, ({ subject }) => subject)
  return [
    ...[...byTransaction].flatMap(([transaction, its]) => delivered(transaction, its)),
    ...soldTwice(acts),
    ...[...grouped(ofSales, ({ asked }) => String(asked.link))].flatMap(([link, its]) => [
      ...beyondStock(link, its),
      ...whilePaused(
        link,
        its,
        acts.filter(({ kind, subject }) => subject === link && kind !== 'receipt'),
      ),
    ]),
  ]
}

const codesOf = ({ told }: Act) =>
  String(told.delivered ?? '')
    .split(' ')
    .filter(Boolean)

/** A paid sale has its delivery, which stays the same. An order that nobody paid has none. */
function delivered(transaction: string, acts: Act[]): Finding[] {
  const receipts = done(acts.filter(({ kind }) => kind === 'receipt'))
  const pays = acts.filter(({ kind, outcome }) => kind === 'pay' && outcome !== 'refused')
  const paid = done(pays)
  const found = (rule: string, ...its: Act[]): Finding[] => [{ rule, subject: transaction, acts: its }]
  for (const receipt of receipts) {
    const codes = codesOf(receipt)
    const before = paid.find(({ to }) => to < receipt.from)
    const wanted = receipt.asked.sells === 'codes' ? Number(receipt.asked.units) : 1
    if (before !== undefined && codes.length === 0)
      return found('a paid sale has no delivery', before, receipt)
    if (codes.length > 0 && codes.length !== wanted) return found('a sale delivered another number', receipt)
    if (codes.length > 0 && !pays.some(({ from }) => from < receipt.to))
      return found('an order delivered before anybody paid', receipt)
  }
  const showing = receipts.filter((receipt) => codesOf(receipt).length > 0)
  return differing('a receipt changed its delivery', transaction, showing, 'delivered')
}

/** No code is of two sales, or of a sale and of a list that was taken back. */
function soldTwice(acts: readonly Act[]): Finding[] {
  const owners = new Map<string, Act>()
  const findings: Finding[] = []
  for (const act of acts) {
    if (act.outcome !== 'done') continue
    const isBack = act.kind === 'take-back'
    if (!isBack && !(act.kind === 'receipt' && act.asked.sells === 'codes')) continue
    for (const code of isBack ? String(act.told.codes).split(' ') : codesOf(act)) {
      const other = owners.get(code) ?? act
      owners.set(code, other)
      if (other === act || (other.subject === act.subject && other.kind === act.kind && !isBack)) continue
      const rule =
        isBack || other.kind === 'take-back' ? 'a code was sold and taken back' : 'a code was sold twice'
      findings.push({ rule, subject: code, acts: [other, act] })
    }
  }
  return findings
}

/** The units of acknowledged sales stay within the stock. Codes that were added later count for their link. */
function beyondStock(link: string, acts: Act[]): Finding[] {
  const paid = [
    ...grouped(done(acts), ({ kind, subject }) => (kind === 'pay' ? subject : undefined)).values(),
  ]
  const first = paid[0]?.[0]
  if (first === undefined || first.asked.sells === 'codes') return []
  const units = paid.reduce((sum, [act]) => sum + Number(act!.asked.units), 0)
  if (units <= Number(first.asked.limit)) return []
  return [{ rule: 'a link sold more than its stock', subject: link, acts: paid.map(([act]) => act!) }]
}

/** No sale begins and ends between the answer to a pause and the next wish to resume. */
function whilePaused(link: string, acts: Act[], ofTeam: Act[]): Finding[] {
  const resumes = ofTeam.filter(({ kind }) => kind === 'resume')
  const pauses = done(ofTeam.filter(({ kind }) => kind === 'pause'))
  const pays = acts.filter(({ kind, outcome }) => kind === 'pay' && outcome !== 'refused')
  for (const attempts of grouped(pays, ({ subject }) => subject).values()) {
    const from = Math.min(...attempts.map((act) => act.from))
    const paid = done(attempts)[0]
    if (paid === undefined) continue
    const pause = pauses.find(({ to }) => {
      const resumed = Math.min(...resumes.filter((each) => each.to > to).map((each) => each.from))
      return from > to && paid.to < resumed
    })
    if (pause !== undefined)
      return [{ rule: 'a paused link sold', subject: link, acts: [pause, ...attempts] }]
  }
  return []
}
