/** A recorded history: what each client asked, when, what it was told, and when. */

/**
 * - place: a shop places an order. Subject: the shop and its order_id.
 * - pay: a member pays. Subject of this and the next three: the transaction.
 * - look: a shop reads an order. notice: a notification or an event arrives at a shop.
 * - refund: an administrator refunds the whole order.
 * - transfer: a shop sends points. Subject: the shop and its order_id.
 * - balance: a member reads a balance. Subject: the member.
 * - exchange, refresh: an application exchanges a code, or a refresh token. Subject: the code, the refresh token.
 * - use: an application uses an access token. Subject: the access token.
 * - revoke: an application revokes. Subject: an access token alone, or the family of a code with all of its tokens.
 * - visit, sign-out: a member uses or ends a session. Subject: the session.
 * - order: a member orders at a link. Subject: the link and the key of the form.
 * - receipt: the buyer reads what a sale has delivered. Subject: the transaction.
 * - pause, resume, codes, take-back: a team's acts on a link. Subject: the link.
 * - payout: a program creates, reads, cancels or resumes a payout. Subject: the shop and the reference.
 * - line: what came of a line of a payout, from its creation to the answer that told. Unknown: it may be paid. Subject: the shop and
 *   the order_id of its transfer.
 */
export type Kind =
  | 'place'
  | 'pay'
  | 'look'
  | 'notice'
  | 'refund'
  | 'transfer'
  | 'balance'
  | 'exchange'
  | 'refresh'
  | 'use'
  | 'revoke'
  | 'visit'
  | 'sign-out'
  | 'order'
  | 'receipt'
  | 'pause'
  | 'resume'
  | 'codes'
  | 'take-back'
  | 'payout'
  | 'line'

/** done: acknowledged. refused: the answer says that nothing happened. unknown: an error of the server, or no answer. */
export type Outcome = 'done' | 'refused' | 'unknown'

export type Facts = Record<string, string | number>

/** One request and its answer. Times are milliseconds since the run began, of one clock that never goes back. */
export type Act = {
  id: number
  client: string
  kind: Kind
  subject: string
  from: number
  to: number
  outcome: Outcome
  /** The HTTP status, 0 without an answer. */
  status: number
  /** The process that the front proxy had asked; empty when that is unknown. */
  process: string
  asked: Facts
  told: Facts
}

/** The words for states of orders on all wires, in the order in which an order takes them. */
const RANKS: Record<string, number> = { pending: 0, completed: 1, refunded: 2 }
export const STATES = ['unpaid', 'paid', 'refunded'] as const

/** The place of a state in the order of states. Undefined for a word that no act of the run leads to. */
export function rankOf(status: string | number | undefined): number | undefined {
  return RANKS[String(status)]
}

/** What the payee gives up of a payment at the default rate of 0.05, rounded down. */
export function paymentFee(amount: number): number {
  return Math.floor((amount * 5) / 100)
}

/** What the sender of a transfer pays on top at the default rate of trust level 2, rounded up. */
export function transferFee(amount: number): number {
  return Math.ceil((amount * 3) / 100)
}

/** Acts grouped by a key; those without one are left out. */
export function grouped(acts: Iterable<Act>, keyOf: (act: Act) => string | undefined): Map<string, Act[]> {
  const groups = new Map<string, Act[]>()
  for (const act of acts) {
    const key = keyOf(act)
    if (key === undefined) continue
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [act])
    else group.push(act)
  }
  return groups
}

/** One line about an act, for people. */
export function lineOf({
  client,
  kind,
  subject,
  from,
  to,
  outcome,
  status,
  process,
  asked,
  told,
}: Act): string {
  const facts = (each: Facts) =>
    Object.entries(each)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ')
  const time = (ms: number) => `${(ms / 1000).toFixed(3)}`
  const where = process === '' ? '' : ` at ${process}`
  return `${time(from)}–${time(to)} s ${client}${where}: ${kind} ${subject} [${facts(asked)}] → ${outcome} ${status} [${facts(told)}]`
}
