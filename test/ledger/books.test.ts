/**
 * The proof of the books checks every row, and names the rows that a person with database access has changed.
 * spec/points 1.3.
 */
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { Tx } from '../../src/database/connection.ts'
import { type Invariant, type Proof, type Proven, proveBooks, proveWithin } from '../../src/ledger/books.ts'
import { INVARIANTS } from '../../src/ledger/invariants.ts'
import { keepDueProof, keepProof } from '../../src/ledger/proofs.ts'
import { makeChargeMandate } from '../../src/payment/mandates/charge.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { makeCreateOrder } from '../../src/payment/orders/place.ts'
import { refundOrder, reverseTransfer } from '../../src/payment/orders/refunds.ts'
import { countSales } from '../../src/payment/orders/sales.ts'
import { countTakings } from '../../src/payment/orders/takings.ts'
import { makePostTransfer } from '../../src/payment/orders/transfers.ts'
import { runPayouts } from '../../src/payment/payouts/run.ts'
import { sealAll } from '../harness/books.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { anotherProcess, useTestApp } from '../harness/harness.ts'
import { buyAt, makeLink } from '../harness/links.ts'
import { chargeOf, giveRight, makeMandate, switchMandates } from '../harness/mandates.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { environmentOf, tesseraAt } from '../harness/operator.ts'
import { line, startPayout } from '../harness/payouts.ts'
import { makeTipper, setAge, switchTips, tip } from '../harness/tips.ts'

/** The transaction IDs of a paid order with a partial refund, a transfer, and a reversed transfer. */
/** The transaction ID of the second of two charges under a mandate. */

const test = await useTestApp()
const adminPerson = await makePerson(test, { username: 'admin', is_admin: true })
const admin = await adminPerson.signIn()
const alice = await makePerson(test, { points: 1_000n })
const merchant = await makeMerchant(test)
const by = { reason: 'test', actor_id: adminPerson.id, ip: '127.0.0.1' }
const { deps } = test
const [pay, transfer] = [makePayOrder(deps), makePostTransfer(deps)]
const sell = async (order_id: string, amount: bigint, payer_id: bigint) => {
  const { transaction_id } = await makeCreateOrder(deps)({
    app_id: merchant.id,
    order_id,
    description: 'Tea',
    amount,
  })
  expect(await pay({ transaction_id, payer_id, expected_amount: amount })).toBe('paid')
  return transaction_id
}
const send = async (order_id: string, amount: bigint) => {
  const recipient = { to_user_id: alice.id, to_username: alice.username }
  return (await transfer({ app_id: merchant.id, order_id, amount, ...recipient })).transaction_id
}
const paid = await sell('books-1', 500n, alice.id)
const own = await sell('books-2', 100n, merchant.owner.id)
await refundOrder(deps, { transaction_id: paid, amount: 99n, with_fee: true, key: 'k', ...by })
await refundOrder(deps, { transaction_id: own, amount: 100n, with_fee: true, key: 'k', ...by })
const transferred = await send('books-3', 50n)
const reversed = await send('books-4', 60n)
await reverseTransfer(deps, { transaction_id: reversed, with_fee: false, ...by })
await switchMandates(test)
await giveRight(test, merchant)
const mandate_id = await makeMandate(test, merchant, alice)
const charge = makeChargeMandate(deps)
await charge(chargeOf(merchant, mandate_id, 20n))
const charged = (await charge(chargeOf(merchant, mandate_id, 30n))).order.transaction_id
const link = await makeLink(test, merchant, { codes: ['b-1', 'b-2'], stock: 9 })
const sold = (await buyAt(deps, link, alice)).transaction_id
await switchTips(test)
await setAge(test, alice, 8 * 86_400_000)
const tipped = (await tip(deps, alice, await makeTipper(test, { points: 0n }))).transaction_id
await startPayout(deps, merchant, { reference: 'books', lines: [line('a', alice, 30n)] })
await runPayouts(deps)
const later = { ...deps, databaseTime: async () => new Date(test.clock.now().getTime() + 7_200_000) }
await countTakings(later)
await countSales(later)
await sealAll(deps)

const { en } = messages
const broken = (proof: Proof) => proof.invariants.filter((invariant) => invariant.broken > 0n)

class RolledBack extends Error {}

/** What a proof would have said when only the first journal was there, the grant. */
async function grantProven(): Promise<Proven> {
  const first = test.db.selectFrom('journal_seals').orderBy('journal_id').limit(1)
  const sealed = await first.select(['journal_id', 'hash']).executeTakeFirstOrThrow()
  const none = { wallets: 0n, fees: 0n, issued: 0n }
  return { sealed, sums: { held: { wallets: 1_000n, fees: 0n, issued: 1_000n }, play: none } }
}

/** The proof after these statements, with every trigger and foreign key off. The transaction is rolled back. */
const afterBending = (...statements: string[]) => afterBendingSince(undefined, ...statements)

async function afterBendingSince(proven: Proven | undefined, ...statements: string[]): Promise<Proof> {
  let proof: Proof | undefined
  const bending = test.db.transaction().execute(async (tx: Tx) => {
    await sql`set local session_replication_role = replica`.execute(tx)
    for (const statement of statements) await sql.raw(statement).execute(tx)
    proof = await proveWithin(tx, test.deps.secrets, undefined, proven)
    throw new RolledBack()
  })
  await expect(bending).rejects.toThrow(RolledBack)
  return proof!
}

const journalOf = (kind: string, reference: string) =>
  `(select id from journal where kind = '${kind}' and reference like '${reference}%')`
const orderOf = (transaction_id: string) =>
  `(select id from orders where transaction_id = '${transaction_id}')`
const wallet = (person: Person) =>
  `(select id from ledger_accounts where user_id = ${person.id} and book = 'live')`
const newJournal = (kind: string, reference: string) =>
  `insert into journal (book, kind, reference, reason, posted_at) values ('live', '${kind}', '${reference}', 'x', now())`

describe('the proof', () => {
  it('of sound books passes, and sees every kind of row', async () => {
    const proof = await proveBooks(test.db, test.deps.secrets)
    expect(broken(proof)).toEqual([])
    expect(proof.isSound).toBe(true)
    for (const { name, checked } of proof.invariants) expect([name, checked], name).not.toEqual([name, 0n])
    expect(proof.unsealed).toBe(0n)
    const { wallets, fees, issued } = proof.held
    expect(wallets + fees).toBe(issued)
    expect(issued).toBe(1_000n)
    expect(fees).toBeGreaterThan(0n)
  })

  it.each([
    ['journal', `insert into entries (journal_id, account_id, book, amount) values (999999, 1, 'live', 5)`],
    [
      'account',
      `insert into entries (journal_id, account_id, book, amount) select max(id), 999999, 'live', 5 from journal`,
    ],
  ])('names an entry without its %s', async (missing, statement) => {
    const proof = await afterBending(statement)
    const mixing = proof.invariants.find(({ name }) => name === 'no_journal_mixes_books')!
    expect(mixing.broken).toBe(1n)
    expect(mixing.rows[0]).toMatchObject({ entry_book: 'live', [`${missing}_book`]: null })
  })

  it('names the lines of two journals with one id', async () => {
    const proof = await afterBending(
      `insert into journal (id, book, kind, reference, reason, posted_at) overriding system value
         select id, 'test', kind, reference, reason, posted_at from journal where reference = '${paid}'`,
    )
    const mixing = proof.invariants.find(({ name }) => name === 'no_journal_mixes_books')!
    expect(mixing.rows[0]).toMatchObject({ entry_book: 'live', journal_book: 'test' })
  })

  /** A change that breaks each invariant, and the row that the proof must name. */
  const bends: Record<
    keyof typeof INVARIANTS,
    [statements: () => string[], row: () => Record<string, unknown>]
  > = {
    entries_sum_to_zero: [
      () => [`update entries set amount = amount + 7 where account_id = ${wallet(alice)}`],
      () => ({ book: 'live', total: expect.any(String) }),
    ],
    journals_sum_to_zero: [
      () => [
        `update entries set amount = amount - 7 where journal_id = ${journalOf('payment', paid)} and account_id = ${wallet(alice)}`,
      ],
      () => ({ reference: paid, total: '-7' }),
    ],
    balances_are_sums: [
      () => [`update ledger_accounts set balance = balance + 1 where id = ${wallet(alice)}`],
      () => ({ username: alice.username, balance: expect.any(String), entries: expect.any(String) }),
    ],
    none_below_zero: [
      () => [
        'alter table ledger_accounts drop constraint ledger_accounts_not_negative',
        `update ledger_accounts set balance = -5 where id = ${wallet(alice)}`,
      ],
      () => ({ username: alice.username, balance: '-5' }),
    ],
    no_journal_mixes_books: [
      () => [`update ledger_accounts set book = 'test' where id = ${wallet(alice)}`],
      () => ({ journal_book: 'live', account_book: 'test' }),
    ],
    paid_orders_have_journals: [
      () => [
        // The journal stays balanced, through a member who has no part in it.
        `insert into entries (journal_id, account_id, book, amount) select ${journalOf('payment', paid)}, id, 'live', v
           from ledger_accounts, (values (5), (-5)) as x(v) where kind = 'issuance' and book = 'live'`,
      ],
      () => ({ transaction_id: paid, amount: '500', payer_moved: '-500' }),
    ],
    payment_journals_have_orders: [
      () => [newJournal('payment', 'txn_nowhere')],
      () => ({ reference: 'txn_nowhere' }),
    ],
    orders_are_refunded_by_refunds: [
      () => [`update orders set refunded_amount = 100 where transaction_id = '${paid}'`],
      () => ({ transaction_id: paid, refunded_amount: '100', refunds: '99' }),
    ],
    refunds_have_journals: [
      () => [`update refunds set fee_part = fee_part + 1 where journal_id = ${journalOf('refund', paid)}`],
      () => ({ transaction_id: paid, amount: '99', payer_moved: '99' }),
    ],
    refund_journals_have_refunds: [() => [newJournal('refund', 'txn_x:k')], () => ({ reference: 'txn_x:k' })],
    transfers_have_journals: [
      () => [`update transfers set amount = 51 where transaction_id = '${transferred}'`],
      () => ({ transaction_id: transferred, amount: '51', recipient_moved: '50' }),
    ],
    transfer_journals_have_transfers: [
      () => [newJournal('transfer', 'txn_y')],
      () => ({ reference: 'txn_y' }),
    ],
    reversed_transfers_have_reversals: [
      () => [
        'alter table transfers drop constraint transfers_reversed',
        `update transfers set status = 'reversed' where transaction_id = '${transferred}'`,
      ],
      () => ({ transaction_id: transferred, status: 'reversed', journal: null }),
    ],
    reversal_journals_have_transfers: [
      () => [
        'alter table transfers drop constraint transfers_reversed',
        `update transfers set status = 'completed' where transaction_id = '${reversed}'`,
      ],
      () => ({ reference: reversed }),
    ],
    points_come_from_grants: [
      () => [`update journal set kind = 'transfer' where kind = 'grant'`],
      () => ({ kind: 'transfer', issued: '-1000' }),
    ],
    charges_are_within_mandates: [
      () => [`update orders set mandate_charge_max = 101 where transaction_id = '${charged}'`],
      () => ({ transaction_id: charged, mandate_charge_max: '101', asked_charge_max: '100' }),
    ],
    running_sums_are_sums: [
      () => [`update orders set mandate_spent = mandate_spent + 1 where transaction_id = '${charged}'`],
      () => ({ transaction_id: charged, mandate_spent: '51', charges: '50' }),
    ],
    charges_count_when_they_are_paid: [
      // The sums are right in both periods, and the cap is free again.
      () => [
        `update orders set mandate_period = '2026-02-01', mandate_spent = amount where transaction_id = '${charged}'`,
      ],
      () => ({ transaction_id: charged, starts_on: '2026-01-01', mandate_period: '2026-02-01' }),
    ],
    payments_without_actor_are_charges: [
      () => [
        `update orders set mandate_id = null, mandate_period = null, mandate_spent = null, mandate_charge_max = null,
           mandate_period_max = null where transaction_id = '${charged}'`,
      ],
      () => ({ transaction_id: charged, actor_id: null, mandate_id: null }),
    ],
    sales_are_of_links: [
      () => [`update link_orders set unit_amount = 11 where order_id = ${orderOf(sold)}`],
      () => ({ transaction_id: sold, amount: '10', unit_amount: '11' }),
    ],
    tips_pay_their_authors: [
      () => [`update tips set to_user_id = ${adminPerson.id} where order_id = ${orderOf(tipped)}`],
      () => ({ transaction_id: tipped, to_user_id: String(adminPerson.id) }),
    ],
    sold_units_are_sums: [
      () => [`update link_orders set sold_total = 5 where order_id = ${orderOf(sold)}`],
      () => ({ transaction_id: sold, sold_total: '5', total: '1' }),
    ],
    paid_lines_have_transfers: [
      () => ['alter table payout_lines disable trigger user', 'update payout_lines set amount = 31'],
      () => ({ reference: 'books', line_id: 'a', amount: '31', transfer_amount: '30' }),
    ],
    sales_have_their_delivery: [
      () => [`update link_codes set order_id = null, unit = null, taken_at = null`],
      () => ({ transaction_id: sold, units: '1', codes: '0' }),
    ],
    takings_are_sums: [
      () => ['update payment_app_takings set points = points + 1'],
      () => ({ payment_id: merchant.payment_id, points: '661', paid: '660' }),
    ],
    sales_are_sums: [
      () => [`update payment_app_sales set points = points + 1 where app_id = ${merchant.id}`],
      () => ({ payment_id: merchant.payment_id, description: null, points: '661', paid_points: '660' }),
    ],
  }

  it.each(Object.keys(INVARIANTS) as (keyof typeof INVARIANTS)[])(
    'names the rows that break %s',
    async (name) => {
      const [statements, row] = bends[name]
      const proof = await afterBending(...statements())
      expect(proof.isSound).toBe(false)
      const found = proof.invariants.find((invariant) => invariant.name === name)!
      expect(found.broken).toBeGreaterThanOrEqual(1n)
      expect(found.rows[0]).toMatchObject(row())
      expect(found.rows[0]).not.toHaveProperty('broken')
    },
  )

  it.each(
    // The only grant is proven.
    (Object.keys(INVARIANTS) as (keyof typeof INVARIANTS)[]).filter(
      (name) => name !== 'points_come_from_grants',
    ),
  )('of what is new names the rows that break %s', async (name) => {
    const [statements, row] = bends[name]
    const proof = await afterBendingSince(await grantProven(), ...statements())
    const found = proof.invariants.find((invariant) => invariant.name === name)!
    expect(found.broken).toBeGreaterThanOrEqual(1n)
    expect(found.rows[0]).toMatchObject(row())
  })

  it('of what is new leaves out the rest, and comes to the same sums', async () => {
    const proven = await grantProven()
    const [whole, rest] = [
      await proveBooks(test.db, test.deps.secrets),
      await proveBooks(test.db, test.deps.secrets, undefined, proven),
    ]
    expect(rest).toMatchObject({ isSound: true, since: proven.sealed.journal_id })
    expect([rest.held, rest.play, rest.sealed]).toEqual([whole.held, whole.play, whole.sealed])
    const counts = ({ invariants }: Proof, of: string) => invariants.find(({ name }) => name === of)!.checked
    for (const name of ['journals_sum_to_zero', 'seals_hold', 'seals_are_ours'])
      expect(counts(rest, name), name).toBe(counts(whole, name)! - 1n)
    const older = [`update journal set kind = 'transfer' where kind = 'grant'`]
    expect((await afterBendingSince(proven, ...older)).isSound).toBe(true)
    expect((await afterBending(...older)).isSound).toBe(false)
  })

  it.each([
    ['its last seal is gone', `delete from journal_seals where journal_id = (select min(id) from journal)`],
    [
      'its last seal is another',
      `update journal_seals set hash = sha256(hash) where journal_id = (select min(id) from journal)`,
    ],
  ])('of what is new fails when %s', async (_, statement) => {
    const proven = await grantProven()
    expect(broken(await afterBendingSince(proven, statement))).toMatchObject([
      { name: 'seals_hold', rows: [{ journal: String(proven.sealed.journal_id) }] },
    ])
  })

  it.each([
    [
      'sales_are_of_links',
      () => `update link_orders set for_user_id = ${adminPerson.id} where order_id = ${orderOf(sold)}`,
    ],
    ['sales_are_of_links', () => `delete from link_orders where order_id = ${orderOf(sold)}`],
    ['sales_are_of_links', () => `update orders set door = 'hmac' where transaction_id = '${sold}'`],
    [
      'sales_are_of_links',
      () => `update link_orders set sold_total = null, member_total = null, taken_total = null, sold_at = null, stock_max = null
        where order_id = ${orderOf(sold)}`,
    ],
    ['tips_pay_their_authors', () => `delete from tips where order_id = ${orderOf(tipped)}`],
    ['tips_pay_their_authors', () => `update payment_apps set is_tips = false`],
    [
      'sold_units_are_sums',
      () => `update link_orders set member_total = 0 where order_id = ${orderOf(sold)}`,
    ],
    ['sold_units_are_sums', () => `update link_orders set taken_total = 0 where order_id = ${orderOf(sold)}`],
    [
      'sales_have_their_delivery',
      () => `update link_codes set withdrawn_at = now() where order_id = ${orderOf(sold)}`,
    ],
    ['sales_have_their_delivery', () => `update links set delivery = 'none' where slug = '${link.slug}'`],
    [
      'sales_have_their_delivery',
      () => `update link_orders set delivery_id = 1 where order_id = ${orderOf(sold)}`,
    ],
    ['takings_are_sums', () => 'update payment_app_takings set payments = payments + 1'],
    ['takings_are_sums', () => 'update payment_app_takings set merchant_points = merchant_points - 1'],
    // A payment of a time that was counted before.
    [
      'takings_are_sums',
      () => `update orders set paid_at = paid_at + interval '1 hour' where transaction_id = '${sold}'`,
    ],
    ['sales_are_sums', () => 'update payment_app_sales set orders = orders + 1'],
    ['sales_are_sums', () => 'update payment_app_sales set refunds = refunds - 1 where refunds > 0'],
    ['sales_are_sums', () => 'update payment_app_sales set refunded = refunded - 1 where refunded > 0'],
    ['sales_are_sums', () => 'delete from payment_app_sales'],
    [
      'sales_are_sums',
      () => `insert into payment_app_sales select app_id, day - 1, 1, 0, 0, 0, 0, 0 from payment_app_sales`,
    ],
    ['sales_are_sums', () => 'update payment_app_product_sales set paid = paid + 1'],
    ['sales_are_sums', () => 'update payment_app_product_sales set merchant_points = merchant_points - 1'],
    ['sales_are_sums', () => 'update payment_app_product_sales set refunded = refunded + 1'],
    ['sales_are_sums', () => 'delete from payment_app_product_sales'],
    [
      'sales_are_sums',
      () => `update payment_app_products set description = 'Coffee' where description = 'Tea'`,
    ],
    ['sales_are_sums', () => `update orders set description = 'Coffee' where transaction_id = '${sold}'`],
    [
      'sales_are_sums',
      () => `update orders set created_at = created_at - interval '1 day' where transaction_id = '${sold}'`,
    ],
    ['sales_are_sums', () => `update refunds set amount = amount - 1`],
  ])('names a row with another fault of %s', async (name, statement) => {
    const proof = await afterBending(
      ...['link_orders_sums', 'link_orders_sold'].map(
        (check) => `alter table link_orders drop constraint ${check}`,
      ),
      'alter table link_codes drop constraint link_codes_unsold_withdrawn',
      statement(),
    )
    expect(broken(proof).map((found) => found.name)).toContain(name)
  })

  it('counts them all and shows twenty', async () => {
    const proof = await afterBending(
      `insert into journal (book, kind, reference, posted_at)
         select 'live', 'payment', 'txn_' || n, now() from generate_series(1, 30) as n`,
    )
    const [found] = broken(proof)
    expect(found).toMatchObject({ name: 'payment_journals_have_orders', broken: 30n })
    expect(found!.rows).toHaveLength(20)
  })

  it('names the first journal against its seal, although sums are right', async () => {
    const proof = await afterBending(
      `update entries set amount = amount * 2 where journal_id = (select min(id) from journal)`,
      `update ledger_accounts as a set balance = e.total
         from (select account_id, sum(amount) as total from entries group by 1) as e
         where e.account_id = a.id and a.kind <> 'fee'`,
    )
    const { rows } = await sql<{ id: bigint }>`select min(id) as id from journal`.execute(test.db)
    expect(broken(proof)).toEqual([
      {
        name: 'seals_hold',
        checked: expect.any(BigInt),
        broken: 1n,
        rows: [{ journal: String(rows[0]!.id), fault: 'edited' }],
      },
    ] satisfies Invariant[])
  })
})

describe('the page', () => {
  const PATH = '/admin/books'
  const prove = async () => admin.submit(await admin.get(PATH), PATH)

  it('says that nothing is proven, then the last result, in both languages', async () => {
    expect((await admin.get(PATH)).body).toContain(en.books.never)
    expect((await admin.get('/admin/overview')).body).toContain(en.dashboard.booksNever)
    expect(await prove()).toMatchObject({ status: 303, location: PATH })
    const page = await admin.get(PATH)
    expect(page.body).toContain(en.books.pass)
    expect(page.body).toMatch(new RegExp(en.books.sums('[\\d,]+', '[\\d,]+', '[\\d,]+')))
    expect(page.body.match(/class="badge good"/g)).toHaveLength(Object.keys(INVARIANTS).length + 4)
    // Rules that hold are folded.
    expect(page.body).toMatch(/<details class="panel">\s*<summary>/)
    expect(page.body).not.toContain('undefined')
    expect((await admin.get(PATH, { 'accept-language': 'zh-CN' })).body).toContain(
      messages['zh-CN'].books.pass,
    )
    expect((await admin.get('/admin/overview')).body).toContain(en.dashboard.booksSound)
    expect((await admin.get('/admin/books/fees')).body).toMatch(/<p class="amount">[\d,]+ <small>points/)
  })

  it('shows the rows that break an invariant', async () => {
    await sql`update ledger_accounts set balance = balance + 1 where user_id = ${alice.id}`.execute(test.db)
    await prove()
    const page = await admin.get(PATH)
    expect(page.body).toContain(en.books.fail)
    expect(page.body).toContain(`<td>${alice.username}</td>`)
    expect(page.body).toMatch(/<details class="panel" open>/)
    expect((await admin.get('/admin/overview')).body).toContain(en.dashboard.booksBroken)
    await sql`update ledger_accounts set balance = balance - 1 where user_id = ${alice.id}`.execute(test.db)
    await prove()
  })

  it('proves once for all who ask together, and keeps a hundred proofs', async () => {
    const count = async () => (await test.db.selectFrom('books_proofs').select('id').execute()).length
    const before = await count()
    const page = await admin.get(PATH)
    await Promise.all(Array.from({ length: 5 }, () => admin.submit(page, PATH)))
    expect(await count()).toBeLessThan(before + 5)
    await sql`insert into books_proofs (started_at, finished_at, is_sound, proof)
      select now(), now(), true, '{}' from generate_series(1, 120)`.execute(test.db)
    await admin.submit(page, PATH)
    expect(await count()).toBe(100)
  })

  it('is for administrators', async () => {
    const member = await alice.signIn()
    expect((await member.get(PATH)).status).toBe(403)
    const form = (await member.get('/account')).form('/sign-out')
    expect((await member.post(PATH, form)).status).toBe(403)
    expect((await admin.post(PATH, {})).status).toBe(403)
  })

  it('has a proof of every day, made by one process', async () => {
    const elsewhere = await anotherProcess(test)
    const proofs = await Promise.all([keepDueProof(test.deps), keepDueProof(elsewhere.deps)])
    expect(proofs.filter((proof) => proof !== undefined)).toHaveLength(1)
    expect(await keepDueProof(test.deps)).toBeUndefined()
    test.clock.advance(86_400_000)
    expect((await keepDueProof(elsewhere.deps))?.isSound).toBe(true)
    await elsewhere.close()
  })

  it('has one of everything a week, and after a fault', async () => {
    await test.db.deleteFrom('books_proofs').execute()
    await keepProof(test.deps)
    const scopes = []
    for (let day = 1; day <= 8; day += 1) {
      test.clock.advance(86_400_000)
      await sell(`day-${day}`, 1n, alice.id)
      await sealAll(deps)
      const { since, isSound } = (await keepDueProof(test.deps))!
      scopes.push(isSound && since !== null ? 'new' : 'everything')
    }
    expect(scopes).toEqual([...Array(6).fill('new'), 'everything', 'new'])
    const bend = (by: string) =>
      sql`update ledger_accounts set balance = balance + ${sql.raw(by)} where user_id = ${alice.id}`.execute(
        test.db,
      )
    await bend('1')
    await keepProof(test.deps)
    await bend('-1')
    test.clock.advance(86_400_000)
    expect(await keepDueProof(test.deps)).toMatchObject({ isSound: true, since: null })
    expect((await admin.get(PATH)).body).toContain(en.books.everything)
    test.clock.advance(86_400_000)
    const { since } = (await keepDueProof(test.deps))!
    expect((await admin.get(PATH)).body).toContain(en.books.sinceJournal(String(since)))
  })

  it('is made after a stop or a fault in the middle', async () => {
    test.clock.advance(86_400_000)
    expect(await keepDueProof(test.deps, () => true)).toBeUndefined()
    expect((await keepDueProof(test.deps))?.isSound).toBe(true)
    test.clock.advance(86_400_000)
    let count = 0
    const dies = () => {
      count += 1
      if (count > 3) throw new Error('the process is gone')
      return false
    }
    await expect(keepDueProof(test.deps, dies)).rejects.toThrow('the process is gone')
    expect(await keepDueProof(test.deps)).toBeUndefined()
    test.clock.advance(5 * 60_000)
    expect((await keepDueProof(test.deps))?.isSound).toBe(true)
  })

  it('over two connections sees one snapshot', async () => {
    let transactions = 0
    const begin = () => {
      const real = test.db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only')
      const execute = async (act: (tx: Tx) => Promise<unknown>) => {
        transactions += 1
        if (transactions === 2) await sell('meanwhile', 1n, alice.id)
        return real.execute(act)
      }
      return { setIsolationLevel: () => ({ setAccessMode: () => ({ execute }) }) }
    }
    const busy = new Proxy(test.db, {
      get(target, name) {
        if (name === 'transaction') return begin
        const value = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const alone = await proveBooks(test.db, test.deps.secrets)
    const { secrets } = test.deps
    expect(await proveBooks(busy, secrets, undefined, undefined, { isChainBeside: true })).toEqual(alone)
    expect((await proveBooks(test.db, secrets)).unsealed).toBe(1n)
    await sealAll(deps)
  })

  it('over two connections ends with the error of the chain, however early that comes', async () => {
    const stop = () => {
      throw new Error('stopped')
    }
    const options = { isChainBeside: true }
    await expect(proveBooks(test.db, test.deps.secrets, stop, undefined, options)).rejects.toThrow('stopped')
  })
})

describe('npm run books', () => {
  const verify = (words: string[] = [], environment: Record<string, string> = {}) =>
    tesseraAt({ ...environmentOf(test), ...environment }, 'books', 'verify', ...words)

  it('prints every invariant with its count, and where the chain ends', async () => {
    const { code, out } = await verify()
    expect(code).toBe(0)
    expect(out.match(/^ok {6}/gm)).toHaveLength(Object.keys(INVARIANTS).length + 2)
    const { reversed_transfers_have_reversals } = en.books.invariants
    expect(out).toContain(`\nok      ${reversed_transfers_have_reversals}: 3 checked, 0 broken\n`)
    expect(out).toMatch(/^Sealed up to \d+:[0-9a-f]{64}\nThe books pass\.$/m)
    const proof = JSON.parse((await verify(['--json'])).out)
    expect(proof).toMatchObject({ isSound: true, unsealed: 0, held: { issued: 1_000 } })
  })

  it('without APP_SECRET checks all but the seals’ maker, and says so', async () => {
    const DATA_DIR = join(tmpdir(), 'tessera-books-nowhere')
    const { code, out } = await verify([], { APP_SECRET: '', DATA_DIR })
    expect(code).toBe(0)
    expect(existsSync(DATA_DIR)).toBe(false)
    const { seals_are_ours } = en.books.invariants
    expect(out).toContain(`open    ${seals_are_ours}: not checked, because APP_SECRET is missing`)
    expect(out).toContain('The books pass.')
  })

  it('under another APP_SECRET does not pass, and says why', async () => {
    const { code, out } = await verify([], {
      APP_SECRET: 'another secret of the tests, which guards nothing',
    })
    expect(code).toBe(3)
    expect(out).toMatch(
      new RegExp(`BROKEN  ${en.books.invariants.seals_are_ours}: \\d+ checked, \\d+ broken`),
    )
    expect(out).toContain(en.books.faults.foreign)
    expect(out).toContain('The books do NOT pass.')
  })

  it('shows the rows that break an invariant, and fails', async () => {
    await sql`update ledger_accounts set balance = balance + 1 where user_id = ${alice.id}`.execute(test.db)
    const { code, out } = await verify()
    await sql`update ledger_accounts set balance = balance - 1 where user_id = ${alice.id}`.execute(test.db)
    expect(code).toBe(3)
    expect(out).toMatch(
      new RegExp(
        `^BROKEN  ${en.books.invariants.balances_are_sums}: .* 1 broken\n {10}account \\d+, book live.*${alice.username}`,
        'm',
      ),
    )
  })

  it('notices by an earlier seal that the service rewrote the chain', async () => {
    const seal = /Sealed up to (\S+)/.exec((await verify()).out)![1]!
    expect((await verify(['--sealed', seal])).code).toBe(0)
    expect(await verify(['--sealed', 'x'])).toMatchObject({ code: 2 })
    // A person with the database deletes the seals, edits, and lets the worker seal again.
    await sql`alter table journal_seals disable trigger user`.execute(test.db)
    await sql`alter table journal disable trigger user`.execute(test.db)
    await sql`update journal set reason = 'other' where reason = 'test'`.execute(test.db)
    await sql`delete from journal_seals`.execute(test.db)
    await sql`update journal_sealing set sealed_to = 0, seen_to = null, seen_before = null`.execute(test.db)
    await sealAll(test.deps)
    expect((await verify()).code).toBe(0)
    const later = await verify(['--sealed', seal])
    expect(later.code).toBe(3)
    expect(later.out).toMatch(/^BROKEN {2}The chain holds the seal given for journal \d+$/m)
  })
})
