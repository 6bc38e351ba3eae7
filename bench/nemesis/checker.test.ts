/** The checker finds each untruth in a history made by hand, and none in a history without one. */
import { describe, expect, it } from 'vitest'
import { type Books, checkBooks } from './books.ts'
import { check, checkNotices } from './checker.ts'
import { type Act, type Facts, type Kind, type Outcome, paymentFee } from './history.ts'

const OPENING = new Map([
  ['alice', 1_000],
  ['bob', 1_000],
  ['owner', 1_000],
])
const TXN = 'txn_1'

type Sketch = {
  kind: Kind
  subject?: string
  /** From and to, in ms. */
  at: readonly [number, number]
  outcome?: Outcome
  asked?: Facts
  told?: Facts
}

function history(sketches: Sketch[]): Act[] {
  return sketches.map(
    ({ kind, subject = TXN, at: [from, to], outcome = 'done', asked = {}, told = {} }, n) => ({
      id: n + 1,
      client: 'client',
      kind,
      subject,
      from,
      to,
      outcome,
      status: outcome === 'unknown' ? 0 : 200,
      process: 'process1',
      asked,
      told,
    }),
  )
}

const rulesOf = (sketches: Sketch[]) => check(history(sketches), OPENING).map(({ rule }) => rule)

const parties = { payer: 'alice', payee: 'owner', amount: 100, shop: 'tea' }
const place = (from: number, told: Facts = { transaction: TXN }): Sketch => ({
  kind: 'place',
  subject: 'tea/1',
  at: [from, from + 1],
  told,
})
const pay = (from: number, rest: Partial<Sketch> = {}): Sketch => ({
  kind: 'pay',
  at: [from, from + 1],
  asked: { ...parties, told: 1 },
  ...rest,
})
const look = (from: number, status: string, told: Facts = {}): Sketch => ({
  kind: 'look',
  at: [from, from + 1],
  told: { status, ...told },
})
const refund = (from: number, rest: Partial<Sketch> = {}): Sketch => ({
  kind: 'refund',
  at: [from, from + 1],
  asked: parties,
  ...rest,
})
const transfer = (from: number, rest: Partial<Sketch> = {}): Sketch => ({
  kind: 'transfer',
  subject: 'tea/t1',
  at: [from, from + 1],
  asked: { sender: 'owner', recipient: 'bob', amount: 50 },
  told: { transaction: 'txn_t', amount: 50, fee: 2, paid_at: 'noon' },
  ...rest,
})
const balance = (member: string, from: number, points: number): Sketch => ({
  kind: 'balance',
  subject: member,
  at: [from, from + 1],
  told: { points },
})
const notice = (at: number, told: Facts): Sketch => ({
  kind: 'notice',
  at: [at, at],
  told: { genuine: 1, taken: 1, ...told },
})

describe('orders', () => {
  it('a whole life of an order is true', () => {
    const life = [
      place(0),
      look(2, 'pending'),
      pay(4, { outcome: 'unknown' }),
      pay(6),
      look(8, 'completed', { paid_at: 'noon', fee: 5 }),
      place(10, { transaction: TXN, status: 'completed' }),
      refund(12),
      look(14, 'refunded', { paid_at: 'noon', fee: 5 }),
      notice(5, { status: 'completed', at: 5 }),
      notice(13, { status: 'refunded', at: 13 }),
    ]
    expect(rulesOf(life)).toEqual([])
    expect(checkNotices(history(life))).toEqual([])
  })

  it.each([
    ['one key placed two orders', [place(0), place(2, { transaction: 'txn_2' })]],
    ['a paid order was unpaid again', [place(0), pay(2), look(4, 'pending')]],
    ['a refunded order was paid again', [pay(0), refund(2), look(4, 'completed')]],
    ['a paid order was unpaid again', [pay(0), notice(2, { status: 'completed' }), look(3, 'pending')]],
    ['an order was paid before anybody asked', [place(0), look(2, 'completed'), pay(5)]],
    ['an order was paid before anybody asked', [pay(0, { outcome: 'refused' }), look(2, 'completed')]],
    ['an order was refunded before anybody asked', [pay(0), look(2, 'refunded')]],
    ['two members paid one order', [pay(0), pay(2, { asked: { ...parties, payer: 'bob' } })]],
    [
      'an order changed its paid_at',
      [pay(0), look(2, 'completed', { paid_at: 'noon' }), look(4, 'completed', { paid_at: 'later' })],
    ],
    [
      'a notification was not signed by the service',
      [pay(0), notice(1, { status: 'completed', genuine: 0 })],
    ],
    [
      'an event carries a time before that of the state before',
      [
        pay(0),
        refund(2),
        notice(3, { status: 'completed', at: 9 }),
        notice(4, { status: 'refunded', at: 8 }),
      ],
    ],
  ] as [string, Sketch[]][])('%s', (rule, sketches) => {
    expect(rulesOf(sketches)).toEqual([rule])
  })

  it('an answer that overlaps a payment may show either state', () => {
    expect(rulesOf([place(0), pay(2, { at: [2, 10] }), look(4, 'completed'), look(6, 'completed')])).toEqual(
      [],
    )
    expect(rulesOf([place(0), pay(2, { at: [2, 10] }), look(4, 'pending')])).toEqual([])
    expect(rulesOf([place(0), pay(2, { at: [2, 10] }), look(4, 'completed'), look(6, 'pending')])).toEqual([
      'a paid order was unpaid again',
    ])
  })

  it('an event of a state may arrive after the next state', () => {
    const late = notice(6, { status: 'completed', at: 1 })
    expect(rulesOf([pay(0), refund(2), look(4, 'refunded'), late])).toEqual([])
  })

  it('a finding shows only the two acts that contradict each other', () => {
    const acts = history([
      place(0),
      look(1, 'pending'),
      pay(2),
      look(4, 'completed'),
      look(6, 'pending'),
      look(8, 'completed'),
    ])
    const [finding] = check(acts, OPENING)
    expect(finding!.acts.map(({ id }) => id)).toEqual([4, 5])
  })

  it('a paid order without an acknowledged notification is found at the end', () => {
    const acts = history([pay(0), notice(1, { status: 'completed', taken: 0 })])
    expect(checkNotices(acts).map(({ rule }) => rule)).toEqual(['a payment was never notified'])
  })
})

describe('points', () => {
  it('balances follow from the acknowledged acts', () => {
    expect(
      rulesOf([
        balance('alice', 0, 1_000),
        pay(2),
        balance('alice', 4, 900),
        balance('owner', 4, 1_095),
        transfer(6),
        transfer(8),
        balance('owner', 10, 1_043),
        balance('bob', 10, 1_050),
        refund(12),
        balance('alice', 14, 1_000),
        balance('owner', 14, 948),
      ]),
    ).toEqual([])
  })

  it.each([
    [900, []],
    [1_000, []],
    [950, ['no acts explain a balance']],
  ])('an unanswered payment may or may not have happened: %d', (points, rules) => {
    expect(rulesOf([pay(2, { outcome: 'unknown' }), balance('alice', 4, points)])).toEqual(rules)
  })

  it.each([
    ['is lost', [pay(0), balance('alice', 2, 1_000)]],
    ['happens twice', [pay(0), balance('alice', 2, 800)]],
    ['comes from nowhere', [pay(0, { outcome: 'refused' }), balance('alice', 2, 900)]],
    ['is lost again after it was seen', [pay(0, { outcome: 'unknown' }), pay(4), balance('alice', 6, 1_000)]],
  ] as [string, Sketch[]][])('a payment that %s is found', (_, sketches) => {
    expect(rulesOf(sketches)).toEqual(['no acts explain a balance'])
  })

  it('a transfer is answered as it was the first time', () => {
    const other = transfer(2, { told: { transaction: 'txn_x', amount: 50, fee: 2, paid_at: 'noon' } })
    expect(rulesOf([transfer(0), other])).toEqual(['a transfer was answered with another transaction'])
  })
})

describe('tokens and sessions', () => {
  const family = 'code'
  const asked = { family }
  const exchange = (from: number): Sketch => ({
    kind: 'exchange',
    subject: family,
    at: [from, from + 1],
    asked,
    told: { access: 'a1', refresh: 'r1' },
  })
  const use = (from: number, outcome: Outcome, subject = 'a1'): Sketch => ({
    kind: 'use',
    subject,
    at: [from, from + 1],
    asked,
    outcome,
  })
  const revoke = (from: number, subject: string, outcome: Outcome = 'done'): Sketch => ({
    kind: 'revoke',
    subject,
    at: [from, from + 1],
    asked,
    outcome,
  })
  const visit = (from: number, outcome: Outcome): Sketch => ({
    kind: 'visit',
    subject: 's',
    at: [from, from + 1],
    outcome,
  })
  const signOut = (from: number, outcome: Outcome): Sketch => ({
    kind: 'sign-out',
    subject: 's',
    at: [from, from + 1],
    outcome,
  })

  it.each([
    [
      'a token is refused after its revocation',
      [exchange(0), use(2, 'done'), revoke(4, 'a1'), use(6, 'refused')],
    ],
    [
      'an unanswered revocation may not have happened',
      [exchange(0), revoke(4, family, 'unknown'), use(6, 'done')],
    ],
    ['another token may go on', [exchange(0), revoke(4, 'another'), use(6, 'done')]],
    ['a session is refused after its end', [visit(0, 'done'), signOut(2, 'done'), visit(4, 'refused')]],
    ['an unanswered sign-out may come later', [signOut(2, 'unknown'), visit(4, 'done'), visit(6, 'refused')]],
  ] as [string, Sketch[]][])('%s', (_, sketches) => {
    expect(rulesOf(sketches)).toEqual([])
  })

  it.each([
    ['a revoked token was accepted', [exchange(0), revoke(4, 'a1'), use(6, 'done')]],
    ['a revoked token was accepted', [exchange(0), revoke(4, family), use(6, 'done')]],
    ['a live token was refused', [exchange(0), use(2, 'refused')]],
    ['a code was exchanged twice', [exchange(0), exchange(2)]],
    ['an ended session was accepted', [signOut(2, 'done'), visit(4, 'done')]],
    ['a live session was refused', [visit(0, 'refused'), signOut(2, 'done')]],
  ] as [string, Sketch[]][])('%s', (rule, sketches) => {
    expect(rulesOf(sketches)).toEqual([rule])
  })
})

describe('the books', () => {
  const acts = history([place(0), pay(2), transfer(4)])
  const order = { key: 'tea/1', transaction: TXN, status: 'paid', amount: 100, payer: 'alice' }
  const sent = { key: 'tea/t1', transaction: 'txn_t', amount: 50, recipient: 'bob' }
  const sound: Books = {
    orders: [order],
    transfers: [sent],
    balances: new Map([
      ['alice', 900],
      ['bob', 1_050],
      ['owner', 1_000 + 100 - paymentFee(100) - 52],
    ]),
    broken: [],
  }
  const rules = (books: Partial<Books>) =>
    checkBooks(acts, { ...sound, ...books }, OPENING).map(({ rule }) => rule)

  it('with every act once are sound', () => {
    expect(rules({})).toEqual([])
  })

  it.each([
    ['an acknowledged payment is lost', { orders: [{ ...order, status: 'unpaid', payer: null }] }],
    ['an acknowledged payment is lost', { orders: [{ ...order, payer: 'bob' }] }],
    ['an acknowledged order is lost', { orders: [{ ...order, transaction: 'txn_2' }] }],
    ['an acknowledged transfer is lost', { transfers: [] }],
    ['a transfer stands twice', { transfers: [sent, { ...sent, transaction: 'txn_u' }] }],
    ['a transfer stands that nobody made', { transfers: [sent, { ...sent, key: 'tea/t2' }] }],
    ['the books break none_below_zero', { broken: ['none_below_zero'] }],
    [
      'a wallet has 899 points, and its acts make 900',
      { balances: new Map([...sound.balances, ['alice', 899]]) },
    ],
  ] as [string, Partial<Books>][])('%s', (rule, books) => {
    expect(rules(books)).toContain(rule)
  })
})
