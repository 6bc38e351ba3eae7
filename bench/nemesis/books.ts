/** Proves that the database has what the histories acknowledge, and nothing that nobody asked for. Pure. */
import { type Finding, movesOf, type Opening } from './checker.ts'
import { type Act, grouped, rankOf } from './history.ts'

/** What the database has once all is over. */
export type Books = {
  orders: {
    key: string
    transaction: string
    status: string
    amount: number
    payer: string | null
    /** An order of a link, whose key its buyer does not know. */
    isOfLink?: boolean
  }[]
  transfers: { key: string; transaction: string; amount: number; recipient: string }[]
  /** By shop and reference. */
  payouts?: { key: string; status: string; paid: number }[]
  balances: ReadonlyMap<string, number>
  /** The names of the invariants of the ledger that are broken. */
  broken: string[]
}

const BOOKS_WORDS: Record<string, string> = { unpaid: 'pending', paid: 'completed', refunded: 'refunded' }

export function checkBooks(acts: readonly Act[], books: Books, opening: Opening): Finding[] {
  return [
    ...books.broken.map((name) => ({ rule: `the books break ${name}`, subject: name, acts: [] })),
    ...doubled('an order', books.orders),
    ...doubled('a transfer', books.transfers),
    ...doubled('a payout', books.payouts ?? []),
    ...missing(acts, books),
    ...unasked(acts, books),
    ...unequal(acts, books, opening),
  ]
}

function doubled(what: string, rows: { key: string }[]): Finding[] {
  const keys = new Set<string>()
  return rows.flatMap(({ key }) => {
    if (!keys.has(key)) {
      keys.add(key)
      return []
    }
    return [{ rule: `${what} stands twice`, subject: key, acts: [] }]
  })
}

/** Acknowledged acts that do not stand. */
function missing(acts: readonly Act[], { orders, transfers, payouts = [] }: Books): Finding[] {
  const byTransaction = new Map(orders.map((row) => [row.transaction, row]))
  const sent = new Map(transfers.map((row) => [row.key, row]))
  const paidOut = new Map(payouts.map((row) => [row.key, row]))
  const findings: Finding[] = []
  for (const act of acts) {
    if (act.kind === 'line' && act.outcome === 'refused' && sent.has(act.subject))
      findings.push({ rule: 'a line that was refused is paid', subject: act.subject, acts: [act] })
    if (act.outcome !== 'done') continue
    const { kind, subject, asked, told } = act
    const lost = (rule: string) => findings.push({ rule, subject, acts: [act] })
    if (kind === 'place' && byTransaction.get(String(told.transaction))?.key !== subject)
      lost('an acknowledged order is lost')
    if (kind === 'order' && !byTransaction.has(String(told.transaction)))
      lost('an acknowledged order is lost')
    if (
      kind === 'payout' &&
      told.status !== undefined &&
      !(Number(paidOut.get(subject)?.paid) >= Number(told.paid))
    )
      lost('an acknowledged payout is lost')
    if ((kind === 'transfer' || kind === 'line') && sent.get(subject)?.transaction !== told.transaction)
      lost('an acknowledged transfer is lost')
    const order = byTransaction.get(subject)
    const rank = rankOf(BOOKS_WORDS[order?.status ?? ''])
    if (kind === 'pay' && (!(rank! >= 1) || order!.payer !== asked.payer))
      lost('an acknowledged payment is lost')
    if (kind === 'refund' && rank !== 2) lost('an acknowledged refund is lost')
  }
  return findings
}

/** Rows that no act leads to. */
function unasked(acts: readonly Act[], { orders, transfers }: Books): Finding[] {
  const could = acts.filter(({ outcome }) => outcome !== 'refused')
  const asked = new Set(could.map(({ kind, subject, asked }) => `${kind} ${subject} ${asked.payer ?? ''}`))
  const findings: Finding[] = []
  const need = (act: string, rule: string, subject: string) => {
    if (!asked.has(act)) findings.push({ rule, subject, acts: [] })
  }
  for (const { key, transaction, status, payer, isOfLink } of orders) {
    if (isOfLink !== true) need(`place ${key} `, 'an order stands that nobody placed', key)
    if (payer !== null) need(`pay ${transaction} ${payer}`, 'a payment stands that nobody made', transaction)
    if (status === 'refunded')
      need(`refund ${transaction} ${payer}`, 'a refund stands that nobody made', transaction)
  }
  for (const { key } of transfers)
    if (!asked.has(`line ${key} `)) need(`transfer ${key} `, 'a transfer stands that nobody made', key)
  return findings
}

/** Balances other than the opening and what the acts in force moved. */
function unequal(acts: readonly Act[], books: Books, opening: Opening): Finding[] {
  const expected = new Map(opening)
  const move = (act: Act) => {
    for (const [member, points] of movesOf(act)) expected.set(member, (expected.get(member) ?? 0) + points)
  }
  const tries = grouped(acts, ({ kind, subject, asked }) => `${kind} ${subject} ${asked.payer ?? ''}`)
  for (const { transaction, status, payer } of books.orders) {
    if (payer === null) continue
    const pay = tries.get(`pay ${transaction} ${payer}`)?.[0]
    const refund = tries.get(`refund ${transaction} ${payer}`)?.[0]
    if (pay !== undefined) move(pay)
    if (status === 'refunded' && refund !== undefined) move(refund)
  }
  for (const { key } of books.transfers) {
    const transfer = (tries.get(`transfer ${key} `) ?? tries.get(`line ${key} `))?.[0]
    if (transfer !== undefined) move(transfer)
  }
  return [...expected].flatMap(([member, points]) => {
    const has = books.balances.get(member)
    if (has === points) return []
    return [{ rule: `a wallet has ${has} points, and its acts make ${points}`, subject: member, acts: [] }]
  })
}
