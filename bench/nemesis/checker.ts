/**
 * Proves from recorded histories alone that every answer was true and stayed true. Pure. Each finding carries the
 * shortest history that shows it.
 */
import { type Act, grouped, paymentFee, rankOf, STATES, transferFee } from './history.ts'
import { payouts } from './payouts-checker.ts'
import { sales } from './sales-checker.ts'

export type Finding = { rule: string; subject: string; acts: Act[] }

/** The points of each member before the first act. */
export type Opening = ReadonlyMap<string, number>

/** Sums of unanswered acts that are tried one by one. With more, a balance is checked against their bounds. */
const SUMS_MAX = 4_096
/** Tokens live an hour, and a clock is off by ten minutes at most. */
const TOKEN_LIFE_MS = 45 * 60_000

/** Everything in these histories that cannot be true. Holds for any beginning of a run too. */
export function check(acts: readonly Act[], opening: Opening): Finding[] {
  return [
    ...[...grouped(acts, keyOfOrder)].flatMap(([key, its]) => placed(key, its)),
    ...[...grouped(acts, transactionOf)].flatMap(([transaction, its]) => order(transaction, its)),
    ...[...grouped(acts, (act) => (act.kind === 'transfer' ? act.subject : undefined))].flatMap(
      ([key, its]) => transferred(key, its),
    ),
    ...sales(acts),
    ...payouts(acts),
    ...balances(acts, opening),
    ...[...grouped(acts, ({ asked }) => asked.family as string | undefined)].flatMap(([family, its]) =>
      tokens(family, its),
    ),
    ...[...grouped(acts, sessionOf)].flatMap(([session, its]) => sessions(session, its)),
  ]
}

/** What must have arrived once a run is over and every notification had its time. */
export function checkNotices(acts: readonly Act[]): Finding[] {
  const findings: Finding[] = []
  for (const [transaction, its] of grouped(acts, transactionOf)) {
    const paid = its.find(
      ({ kind, outcome, asked }) => kind === 'pay' && outcome === 'done' && asked.told === 1,
    )
    const hasNotice = its.some(
      ({ kind, told }) => kind === 'notice' && told.status === 'completed' && told.taken === 1,
    )
    if (paid !== undefined && !hasNotice)
      findings.push({ rule: 'a payment was never notified', subject: transaction, acts: [paid] })
  }
  return findings
}

const keyOfOrder = ({ kind, subject }: Act) => (kind === 'place' || kind === 'order' ? subject : undefined)
const sessionOf = ({ kind, subject }: Act) => (kind === 'visit' || kind === 'sign-out' ? subject : undefined)

function transactionOf({ kind, subject, told }: Act): string | undefined {
  if (kind === 'place') return told.transaction as string | undefined
  return ['pay', 'look', 'refund', 'notice'].includes(kind) ? subject : undefined
}

/** One key places one order. */
function placed(key: string, acts: Act[]): Finding[] {
  return differing('one key placed two orders', key, done(acts), 'transaction')
}

/** One key sends points once, and every answer is the first one. */
function transferred(key: string, acts: Act[]): Finding[] {
  return ['transaction', 'paid_at', 'amount', 'fee'].flatMap((fact) =>
    differing(`a transfer was answered with another ${fact}`, key, done(acts), fact),
  )
}

export const done = (acts: Act[]) => acts.filter(({ outcome }) => outcome === 'done')

/** The first two acts that were told different values of a fact. */
export function differing(rule: string, subject: string, acts: Act[], fact: string): Finding[] {
  const telling = acts.filter(({ told }) => told[fact] !== undefined)
  const other = telling.find(({ told }) => told[fact] !== telling[0]!.told[fact])
  return other === undefined ? [] : [{ rule, subject, acts: [telling[0]!, other] }]
}

type Seen = { act: Act; rank: number }

function order(transaction: string, acts: Act[]): Finding[] {
  const pays = acts.filter(({ kind }) => kind === 'pay')
  const refunds = acts.filter(({ kind }) => kind === 'refund')
  const seen = acts.flatMap((act): Seen[] => {
    const rank = rankSeen(act)
    return rank === undefined ? [] : [{ act, rank }]
  })
  return [
    ...movedBack(transaction, seen),
    ...unasked(transaction, seen, pays, 1),
    ...unasked(transaction, seen, refunds, 2),
    ...paidTwice(transaction, done(pays)),
    ...['amount', 'paid_at', 'fee', 'buyer'].flatMap((fact) =>
      differing(`an order changed its ${fact}`, transaction, tellingPaid(acts), fact),
    ),
    ...untimely(transaction, acts),
    ...acts
      .filter(({ kind, told }) => kind === 'notice' && told.genuine === 0)
      .map((act) => ({
        rule: 'a notification was not signed by the service',
        subject: transaction,
        acts: [act],
      })),
  ]
}

/** The state that an answer proves. */
function rankSeen({ kind, outcome, told }: Act): number | undefined {
  if (kind === 'look' || kind === 'notice') return outcome === 'done' ? rankOf(told.status) : undefined
  // A repeat of a paid order is refused with the state of the order.
  if (kind === 'place') return outcome === 'unknown' ? undefined : rankOf(told.status)
  if (outcome !== 'done') return undefined
  return kind === 'pay' ? 1 : 2
}

const tellingPaid = (acts: Act[]) =>
  acts.filter(({ kind, outcome, told }) => kind === 'look' && outcome === 'done' && rankOf(told.status) !== 0)

/**
 * A request after an answer must not see an earlier state than the answer told. A notification tells of its moment, and
 * may arrive long after it, so it only proves that the state was reached.
 */
function movedBack(subject: string, seen: Seen[]): Finding[] {
  const byEnd = seen.toSorted((a, b) => a.act.to - b.act.to)
  const byStart = seen.toSorted((a, b) => a.act.from - b.act.from)
  let next = 0
  let furthest: Seen | undefined
  for (const later of byStart) {
    while (next < byEnd.length && byEnd[next]!.act.to < later.act.from) {
      const earlier = byEnd[next]!
      next += 1
      if (furthest === undefined || earlier.rank >= furthest.rank) furthest = earlier
    }
    if (later.act.kind !== 'notice' && furthest !== undefined && later.rank < furthest.rank) {
      const rule = `a ${STATES[furthest.rank]} order was ${STATES[later.rank]} again`
      return [{ rule, subject, acts: [furthest.act, later.act] }]
    }
  }
  return []
}

/** A state needs an act that leads there and that was not refused. */
function unasked(subject: string, seen: Seen[], acts: Act[], rank: number): Finding[] {
  const could = acts.filter(({ outcome }) => outcome !== 'refused').map(({ from }) => from)
  const first = Math.min(...could)
  const early = seen.find((each) => each.rank >= rank && each.act.to < first)
  if (early === undefined) return []
  return [{ rule: `an order was ${STATES[rank]} before anybody asked`, subject, acts: [early.act] }]
}

function paidTwice(subject: string, pays: Act[]): Finding[] {
  const other = pays.find(({ asked }) => asked.payer !== pays[0]!.asked.payer)
  return other === undefined ? [] : [{ rule: 'two members paid one order', subject, acts: [pays[0]!, other] }]
}

/** By the times that they carry, events come in the order of the states. */
function untimely(subject: string, acts: Act[]): Finding[] {
  const events = acts.filter(({ kind, told }) => kind === 'notice' && told.at !== undefined)
  for (const earlier of events)
    for (const later of events)
      if (rankOf(earlier.told.status)! < rankOf(later.told.status)! && earlier.told.at! > later.told.at!)
        return [
          {
            rule: 'an event carries a time before that of the state before',
            subject,
            acts: [earlier, later],
          },
        ]
  return []
}

/** An act's effect on one wallet: it may have happened after `earliest`, and has happened at `certain`. */
type Effect = { points: number; earliest: number; certain: number; acts: Act[] }

/** A read balance is the opening, all acts acknowledged before, and some of those that were under way or unanswered. */
function balances(acts: readonly Act[], opening: Opening): Finding[] {
  const effects = effectsByMember(acts)
  return [...grouped(acts, ({ kind, subject }) => (kind === 'balance' ? subject : undefined))].flatMap(
    ([member, reads]) =>
      readBalances(member, opening.get(member) ?? 0, done(reads), effects.get(member) ?? []),
  )
}

function readBalances(member: string, opening: number, reads: Act[], effects: Effect[]): Finding[] {
  const coming = effects.toSorted((a, b) => a.earliest - b.earliest)
  let sum = opening
  let open: Effect[] = []
  let next = 0
  let explained: Act | undefined
  for (const read of reads.toSorted((a, b) => a.from - b.from)) {
    while (next < coming.length && coming[next]!.earliest < read.to) open.push(coming[next++]!)
    for (const { points, certain } of open) if (certain <= read.from) sum += points
    open = open.filter(({ certain }) => certain > read.from)
    const maybe = open.filter(({ earliest }) => earliest < read.to)
    if (isSumOf(Number(read.told.points) - sum, maybe)) explained = read
    else {
      const since = effects.filter(
        ({ earliest, certain }) => earliest < read.to && certain > (explained?.from ?? 0),
      )
      const shown = [...(explained ? [explained] : []), ...since.flatMap(({ acts }) => acts), read]
      return [{ rule: 'no acts explain a balance', subject: member, acts: shown }]
    }
  }
  return []
}

function isSumOf(rest: number, maybe: Effect[]): boolean {
  let sums = new Set([0])
  for (const { points } of maybe) {
    sums = new Set([...sums, ...[...sums].map((sum) => sum + points)])
    if (sums.size > SUMS_MAX) {
      const gains = maybe.map(({ points }) => points)
      const low = gains.filter((gain) => gain < 0).reduce((sum, gain) => sum + gain, 0)
      const high = gains.filter((gain) => gain > 0).reduce((sum, gain) => sum + gain, 0)
      return low <= rest && rest <= high
    }
  }
  return sums.has(rest)
}

function effectsByMember(acts: readonly Act[]): Map<string, Effect[]> {
  const byMember = new Map<string, Effect[]>()
  for (const attempts of grouped(acts, effectOf).values()) {
    const could = attempts.filter(({ outcome }) => outcome !== 'refused')
    // A line that was refused or cancelled is never paid.
    if (could.length === 0 || (could[0]!.kind === 'line' && could.length < attempts.length)) continue
    const earliest = Math.min(...could.map(({ from }) => from))
    const certain = Math.min(Infinity, ...done(could).map(({ to }) => to))
    for (const [member, points] of movesOf(could[0]!)) {
      const effect = { points, earliest, certain, acts: could }
      const effects = byMember.get(member)
      if (effects === undefined) byMember.set(member, [effect])
      else effects.push(effect)
    }
  }
  return byMember
}

/** Attempts with one key move points once. */
function effectOf({ kind, subject, asked }: Act): string | undefined {
  if (kind === 'pay') return `pay ${subject} ${asked.payer}`
  return ['refund', 'transfer', 'line'].includes(kind) ? `${kind} ${subject}` : undefined
}

/** The points that an act moves, by member. */
export function movesOf({ kind, asked }: Act): [member: string, points: number][] {
  const amount = Number(asked.amount)
  if (kind === 'transfer' || kind === 'line')
    return [
      [String(asked.sender), -amount - transferFee(amount)],
      [String(asked.recipient), amount],
    ]
  const sign = kind === 'pay' ? 1 : -1
  return [
    [String(asked.payer), -sign * amount],
    [String(asked.payee), sign * (amount - paymentFee(amount))],
  ]
}

/** The tokens of one code. */
function tokens(family: string, acts: Act[]): Finding[] {
  const revoked = acts.filter(({ kind }) => kind === 'revoke')
  const issuing = acts.filter(({ kind }) => kind === 'exchange' || kind === 'refresh')
  const codes = done(acts.filter(({ kind }) => kind === 'exchange'))
  // A second use of a code or a refresh token, which a lost answer causes too, may end the family.
  const isRepeated = [...grouped(issuing, ({ subject }) => subject).values()].some(
    (tries) => tries.length > 1,
  )
  const findings: Finding[] = []
  if (codes.length > 1)
    findings.push({ rule: 'a code was exchanged twice', subject: family, acts: codes.slice(0, 2) })
  const reaches = (revoke: Act, subject: string) => revoke.subject === family || revoke.subject === subject
  for (const act of acts) {
    if (act.kind !== 'use' && act.kind !== 'refresh') continue
    const before = revoked.find(
      (each) => each.outcome === 'done' && reaches(each, act.subject) && each.to < act.from,
    )
    if (act.outcome === 'done' && before !== undefined)
      findings.push({ rule: 'a revoked token was accepted', subject: family, acts: [before, act] })
    const issued = done(issuing).find(({ told }) => told.access === act.subject)
    const mayHaveEnded = revoked.some((each) => reaches(each, act.subject) && each.from < act.to)
    if (
      act.kind === 'use' &&
      act.outcome === 'refused' &&
      issued !== undefined &&
      act.to - issued.from < TOKEN_LIFE_MS &&
      !isRepeated &&
      !mayHaveEnded
    )
      findings.push({ rule: 'a live token was refused', subject: family, acts: [issued, act] })
  }
  return findings.slice(0, 1)
}

function sessions(session: string, acts: Act[]): Finding[] {
  const ends = acts.filter(({ kind }) => kind === 'sign-out')
  for (const visit of acts) {
    if (visit.kind !== 'visit') continue
    const ended = ends.find(({ outcome, to }) => outcome === 'done' && to < visit.from)
    if (visit.outcome === 'done' && ended !== undefined)
      return [{ rule: 'an ended session was accepted', subject: session, acts: [ended, visit] }]
    if (visit.outcome === 'refused' && !ends.some(({ from }) => from < visit.to))
      return [{ rule: 'a live session was refused', subject: session, acts: [visit] }]
  }
  return []
}
