/** The checker finds each untruth about links and payouts in a history made by hand, and none in a true one. */
import { describe, expect, it } from 'vitest'
import { type Books, checkBooks } from './books.ts'
import { check } from './checker.ts'
import type { Act, Facts, Kind, Outcome } from './history.ts'

const OPENING = new Map([
  ['alice', 1_000],
  ['bob', 1_000],
  ['owner', 1_000],
])

type Sketch = {
  kind: Kind
  subject: string
  from: number
  to?: number
  outcome?: Outcome
  asked?: Facts
  told?: Facts
}

const history = (sketches: Sketch[]): Act[] =>
  sketches.map(({ from, to = from + 1, outcome = 'done', asked = {}, told = {}, ...rest }, n) => ({
    ...{ id: n + 1, client: 'client', status: 200, process: 'process1' },
    ...{ ...rest, from, to, outcome, asked, told },
  }))
const rulesOf = (sketches: Sketch[]) => check(history(sketches), OPENING).map(({ rule }) => rule)

const link = { shop: 'links', link: 'mugs', sells: 'codes', limit: 2 }
const order = (from: number, transaction = 'txn_1'): Sketch => ({
  ...{ kind: 'order', subject: 'mugs/k', from, asked: link, told: { transaction } },
})
const pay = (from: number, subject = 'txn_1', rest: Partial<Sketch> & { facts?: Facts } = {}): Sketch => {
  const { facts = {}, ...over } = rest
  const asked = { ...link, units: 1, payer: 'alice', payee: 'owner', amount: 100, told: 0, ...facts }
  return { kind: 'pay', subject, from, asked, ...over }
}
const receipt = (from: number, delivered: string, subject = 'txn_1', facts: Facts = {}): Sketch => ({
  ...{ kind: 'receipt', subject, from, asked: { ...link, units: 1, ...facts }, told: { delivered } },
})
const team = (kind: 'pause' | 'resume', from: number): Sketch => ({
  kind,
  subject: 'mugs',
  from,
  asked: link,
})
const takeBack = (from: number, codes: string): Sketch => ({
  ...{ kind: 'take-back', subject: 'mugs', from, asked: link, told: { codes } },
})
const text = { facts: { sells: 'text', limit: 1 } }

describe('sales of links', () => {
  it('a whole life of a sale is true', () => {
    const life = [
      order(0),
      receipt(2, ''),
      pay(4, 'txn_1', { outcome: 'unknown' }),
      pay(6),
      receipt(8, 'a'),
      order(9),
    ]
    expect(rulesOf([...life, receipt(10, 'a'), takeBack(11, 'b'), pay(12)])).toEqual([])
  })

  it('a payment that was under way at a pause may be paid, and one after the wish to resume', () => {
    expect(rulesOf([pay(0, 'txn_1', { to: 9 }), team('pause', 2), team('resume', 12)])).toEqual([])
    expect(rulesOf([team('pause', 2), pay(5, 'txn_1', { to: 9 }), team('resume', 7)])).toEqual([])
    expect(
      rulesOf([pay(0, 'txn_1', { outcome: 'unknown' }), team('pause', 2), pay(5), team('resume', 9)]),
    ).toEqual([])
  })

  it.each([
    ['one key placed two orders', [order(0), order(2, 'txn_2')]],
    ['a paid sale has no delivery', [pay(0), receipt(2, '')]],
    ['a sale delivered another number', [pay(0), receipt(2, 'a b')]],
    ['an order delivered before anybody paid', [receipt(0, 'a'), pay(2)]],
    ['a receipt changed its delivery', [pay(0), receipt(2, 'a'), receipt(4, 'b')]],
    ['a code was sold twice', [pay(0), receipt(2, 'a'), pay(3, 'txn_2'), receipt(4, 'a', 'txn_2')]],
    ['a code was sold and taken back', [pay(0), receipt(2, 'a'), takeBack(4, 'b a')]],
    ['a code was sold and taken back', [takeBack(0, 'a'), pay(2), receipt(4, 'a')]],
    ['a code was sold and taken back', [takeBack(0, 'a'), takeBack(2, 'a')]],
    ['a link sold more than its stock', [pay(0, 'txn_1', text), pay(2, 'txn_2', text)]],
    ['a paused link sold', [team('pause', 0), pay(2), team('resume', 5)]],
    ['a paused link sold', [team('pause', 0), pay(2)]],
  ] as [string, Sketch[]][])('%s', (rule, sketches) => {
    expect(rulesOf(sketches)).toEqual([rule])
  })
})

const payout = (from: number, told: Facts): Sketch => ({
  ...{
    kind: 'payout',
    subject: 'links/p',
    from,
    told: { paid: 0, cancelled: 0, refused: 0, paid_total: 0, ...told },
  },
})
const line = (from: number, outcome: Outcome, told: Facts = {}): Sketch => ({
  ...{ kind: 'line', subject: 'links/payout:p:l0', from, outcome, told },
  asked: { shop: 'links', payout: 'links/p', sender: 'owner', recipient: 'bob', amount: 50 },
})
const paidLine = (from: number, transaction = 'txn_t') => line(from, 'done', { status: 'paid', transaction })
const balance = (subject: string, from: number, points: number): Sketch => ({
  ...{ kind: 'balance', subject, from, told: { points } },
})

describe('payouts', () => {
  it('a whole life of a payout is true', () => {
    const life = [
      line(0, 'unknown'),
      payout(0, { status: 'waiting' }),
      payout(2, { status: 'finished', paid: 1 }),
    ]
    expect(rulesOf([...life, paidLine(3), balance('bob', 5, 1_050), balance('owner', 5, 948)])).toEqual([])
  })

  it.each([
    [
      'a payout that had ended changed its status',
      [payout(0, { status: 'finished' }), payout(0, { status: 'cancelled' })],
    ],
    [
      'a payout that had ended changed its paid_total',
      [payout(0, { status: 'finished' }), payout(0, { status: 'finished', paid_total: 9 })],
    ],
    [
      'a payout lost paid lines',
      [payout(0, { status: 'running', paid: 2 }), payout(2, { status: 'running', paid: 1 })],
    ],
    [
      'a payout went on after its end',
      [payout(0, { status: 'cancelled' }), payout(2, { status: 'running' })],
    ],
    [
      'a payout has other sums than its lines',
      [line(0, 'unknown'), payout(0, { status: 'finished' }), paidLine(3)],
    ],
    ['a line changed its transaction', [line(0, 'unknown'), paidLine(3), paidLine(5, 'txn_u')]],
    [
      'a line changed its status',
      [line(0, 'unknown'), paidLine(3), line(5, 'refused', { status: 'cancelled' })],
    ],
    [
      'no acts explain a balance',
      [line(0, 'unknown'), line(3, 'refused', { status: 'refused' }), balance('bob', 5, 1_050)],
    ],
  ] as [string, Sketch[]][])('%s', (rule, sketches) => {
    expect(rulesOf(sketches)).toEqual([rule])
  })

  const booksOf = (over: Partial<Books>): Books => ({
    ...{ orders: [], transfers: [], payouts: [], balances: new Map(OPENING), broken: [], ...over },
  })
  const sent = { key: 'links/payout:p:l0', transaction: 'txn_t', amount: 50, recipient: 'bob' }
  const moved = new Map([...OPENING, ['bob', 1_050], ['owner', 948]] as [string, number][])
  const stored = { key: 'links/p', status: 'finished', paid: 1 }
  const acts = [line(0, 'unknown'), payout(1, { status: 'finished', paid: 1 }), paidLine(3)]

  it('agree with the books', () => {
    const books = booksOf({ transfers: [sent], payouts: [stored], balances: moved })
    expect(checkBooks(history(acts), books, OPENING)).toEqual([])
  })

  it.each([
    ['an acknowledged payout is lost', booksOf({ transfers: [sent], balances: moved })],
    ['a payout stands twice', booksOf({ transfers: [sent], payouts: [stored, stored], balances: moved })],
    ['an acknowledged transfer is lost', booksOf({ payouts: [stored] })],
  ])('%s', (rule, books) => {
    expect(checkBooks(history(acts), books, OPENING).map((finding) => finding.rule)).toEqual([rule])
  })

  it('a line that was refused is paid', () => {
    const told = [line(0, 'unknown'), line(3, 'refused', { status: 'cancelled' })]
    const books = booksOf({ transfers: [sent], balances: moved })
    expect(checkBooks(history(told), books, OPENING).map(({ rule }) => rule)).toEqual([
      'a line that was refused is paid',
    ])
  })
})
