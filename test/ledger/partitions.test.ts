/**
 * The ledger by month: a live one is partitioned beside payments, goes on over the months' turn, and keeps every rule,
 * list and proof that it had; what is exported from it can be imported anywhere.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { exportAll, importAll, withArchive } from '../../src/database/archive.ts'
import { type Db, openDatabase } from '../../src/database/connection.ts'
import { proveBooks } from '../../src/ledger/books.ts'
import { movementsOf } from '../../src/ledger/journals.ts'
import { findPartitionFault, keepPartitions, partitionLedger } from '../../src/ledger/partitions.ts'
import { grantPoints } from '../../src/ledger/post.ts'
import { balanceOf, statementOf } from '../../src/ledger/wallet.ts'
import { refundOrder, reverseTransfer } from '../../src/payment/refunds.ts'
import { sealAll } from '../books.ts'
import { makePerson, type Person } from '../cast.ts'
import {
  anotherProcess,
  type Browser,
  createDatabase,
  START,
  startTestApp,
  type TestApp,
} from '../harness.ts'
import { type Merchant, makeMerchant } from '../merchant.ts'

const DAY_MS = 86_400_000
/** Tests begin on 1 January 2026. */
const FEBRUARY = 2_026_020_000_000_000n

let test: TestApp
let merchant: Merchant
let buyer: Person
let client: Browser
let friend: Person
let actor_id: bigint
let count = 0

beforeAll(async () => {
  test = await startTestApp()
  merchant = await makeMerchant(test)
  buyer = await makePerson(test, { points: 1_000_000n, username: 'buyer' })
  client = await buyer.signIn()
  friend = await makePerson(test)
  actor_id = (await makePerson(test, { username: 'admin', is_admin: true })).id
  await give('history', merchant.owner)
})
afterAll(async () => {
  await merchant.close()
  await test.close()
})

const give = (reference: string, { id: user_id }: Person) =>
  grantPoints(test.db, {
    user_id,
    amount: 10_000_000n,
    reference,
    reason: 'test',
    actor_id: null,
    now: test.clock.now(),
  })

async function pay(amount = '100'): Promise<string> {
  const { body } = await merchant.process({ amount, description: 'Tea', order_id: `order-${++count}` })
  const path = new URL(String(body.payment_url)).pathname
  expect((await client.submit(await client.get(path), path)).status).toBe(303)
  return String(body.transaction_id)
}

async function send(from = merchant, to = friend): Promise<string> {
  const { status, body } = await from.transfer({
    to_user_id: String(to.id),
    to_username: to.username,
    amount: '10',
    order_id: `transfer-${++count}`,
  })
  expect(status).toBe(200)
  return String(body.transaction_id)
}

const act = (transaction_id: string) => ({
  transaction_id,
  key: `key-${++count}`,
  with_fee: true,
  reason: 'test',
  actor_id,
  ip: null,
})
const refund = (transaction_id: string) => refundOrder(test.deps, { ...act(transaction_id), amount: 50n })

async function expectSealedBooks(): Promise<void> {
  await sealAll(test.deps)
  const { isSound, invariants, unsealed } = await proveBooks(test.db, test.deps.secrets)
  expect({ isSound, unsealed, broken: invariants.filter(({ broken }) => broken > 0n) }).toEqual({
    isSound: true,
    unsealed: 0n,
    broken: [],
  })
}

/** What members and administrators see of the past. */
async function looksOfThePast() {
  const people = [buyer, friend, merchant.owner]
  const { id } = await test.db
    .selectFrom('ledger_accounts')
    .where('user_id', '=', buyer.id)
    .select('id')
    .executeTakeFirstOrThrow()
  return {
    balances: await Promise.all(people.map((person) => balanceOf(test.db, person.id))),
    statements: await Promise.all(people.map((person) => statementOf(test.db, person.id))),
    search: await statementOf(test.db, buyer.id, { text: 'tea', kind: 'refund' }),
    movements: await movementsOf(test.db, id, undefined, 50),
  }
}

/** Columns, keys, indexes, references and triggers, by what they are and not by how they are called. */
async function rulesOf(table: string): Promise<string[]> {
  const { rows } = await sql<{ rule: string }>`
    select concat_ws(' ', attname, format_type(atttypid, atttypmod), attnotnull) as rule
    from pg_attribute where attrelid = ${table}::regclass and attnum > 0 and not attisdropped
    union all
    select pg_get_constraintdef(oid) from pg_constraint where conrelid = ${table}::regclass and contype <> 'n'
    union all
    select regexp_replace(pg_get_indexdef(indexrelid), '.* USING', '') || indisunique from pg_index
    where indrelid = ${table}::regclass
    union all
    select pg_get_triggerdef(oid, true) from pg_trigger where tgrelid = ${table}::regclass and not tgisinternal`.execute(
    test.db,
  )
  return rows.map(({ rule }) => rule.replace(/\b(journal|entries)_(first|\d{4}_\d\d)\b/g, '$1')).sort()
}

const journalOf = async (reference: string, kind: 'payment' | 'transfer' | 'refund' | 'reversal') =>
  (
    await sql<{ id: bigint; partition: string; entries: string[] }>`
      select id, tableoid::regclass::text as partition, (
        select array_agg(distinct tableoid::regclass::text) from entries where journal_id = j.id
      ) as entries
      from journal as j where kind = ${kind} and starts_with(reference, ${reference})`.execute(test.db)
  ).rows[0]!

/** Keeps everybody from the journal until it is released. */
async function holdJournal() {
  const transaction = await test.db.startTransaction().execute()
  await sql`lock table journal in access exclusive mode`.execute(transaction)
  return {
    release: () => transaction.rollback().execute(),
    /** Whether somebody has said that the partitions are theirs. */
    async isClaimed() {
      const { rows } = await sql`
        select from pg_locks join pg_database as d on d.oid = database
        where locktype = 'advisory' and granted and datname = current_database()`.execute(test.db)
      return rows.length > 0
    },
  }
}

describe('a ledger that is partitioned', () => {
  let [paidBefore, sentBefore] = ['', '']

  it('becomes so beside payments, none of which fails, and looks as before', async () => {
    paidBefore = await pay()
    sentBefore = await send()
    await refund(await pay())
    await sealAll(test.deps)
    const before = await looksOfThePast()
    const plain = { journal: await rulesOf('journal'), entries: await rulesOf('entries') }
    const [shop, someone] = [await makeMerchant(test), await makePerson(test)]
    await give('shop', shop.owner)

    let isOver = false
    const sending = async () => {
      do await send(shop, someone)
      while (!isOver)
    }
    const held = await holdJournal()
    const partitioning = partitionLedger(test.deps).finally(() => {
      isOver = true
    })
    // The first one has begun, and waits for the journal.
    await vi.waitUntil(held.isClaimed, { timeout: 20_000 })
    const second = await anotherProcess(test)
    await expect(partitionLedger(second.deps)).rejects.toMatchObject({ code: 'conflict' })
    await second.close()
    await held.release()
    const [{ isNew, partitions }] = await Promise.all([partitioning, sending()])
    await shop.close()
    expect({ isNew, partitions }).toEqual({
      isNew: true,
      partitions: ['journal_first', 'journal_2026_02', 'journal_2026_03', 'journal_2026_04'],
    })
    expect(await looksOfThePast()).toEqual(before)
    expect(await findPartitionFault(test.deps)).toBeUndefined()
    await expectSealedBooks()

    const leaving = expect.stringContaining('leave_references')
    for (const partition of ['first', '2026_03']) {
      expect(await rulesOf(`entries_${partition}`)).toEqual(plain.entries)
      const rules = await rulesOf(`journal_${partition}`)
      expect(rules).toContainEqual(leaving)
      expect(rules.filter((rule) => !leaving.asymmetricMatch(rule))).toEqual(plain.journal)
    }
  })

  it('goes on in the partition of a new month, with what was begun in the one before', async () => {
    test.clock.advance(31 * DAY_MS)
    client = await buyer.signIn()
    const late = await pay()
    const other = await anotherProcess(test)
    await Promise.all([keepPartitions(test.deps), keepPartitions(other.deps)])
    await keepPartitions(test.deps)
    await other.close()
    const [paid, sent] = [await pay(), await send()]
    await refund(paidBefore)
    await reverseTransfer(test.deps, act(sentBefore))

    const [first, february] = [
      { partition: 'journal_first', entries: ['entries_first'] },
      { partition: 'journal_2026_02', entries: ['entries_2026_02'] },
    ]
    expect(await journalOf(paidBefore, 'payment')).toMatchObject(first)
    expect(await journalOf(late, 'payment')).toMatchObject(first)
    expect(await journalOf(paid, 'payment')).toMatchObject({ ...february, id: FEBRUARY })
    expect(await journalOf(sent, 'transfer')).toMatchObject({ ...february, id: FEBRUARY + 1n })
    expect(await journalOf(paidBefore, 'refund')).toMatchObject(february)
    expect(await journalOf(sentBefore, 'reversal')).toMatchObject(february)

    const { rows } = await statementOf(test.db, buyer.id)
    expect(rows.map(({ kind, transaction_id }) => [kind, transaction_id]).slice(0, 3)).toEqual([
      ['refund', paidBefore],
      ['payment', paid],
      ['payment', late],
    ])
    expect(rows.map(({ id }) => id)).toEqual(rows.map(({ id }) => id).sort((a, b) => (a < b ? 1 : -1)))
    await expectSealedBooks()
  })

  it('refuses what it has refused, of the whole and of each partition', async () => {
    const again = 'book, kind, reference, reason, posted_at'
    const refused: [statement: string, reason: RegExp][] = [
      ...[
        'journal',
        'journal_first',
        'journal_2026_02',
        'entries',
        'entries_first',
        'entries_2026_02',
      ].flatMap((table): [string, RegExp][] => [
        [`update ${table} set book = book`, /append-only/],
        [`delete from ${table}`, /append-only/],
        [`truncate ${table} cascade`, /append-only/],
      ]),
      ['delete from journal_references', /append-only/],
      [`insert into journal (${again}) select ${again} from journal_first limit 1`, /journal_references_key/],
      [
        `insert into journal_2026_02 (id, ${again}) overriding system value
         select ${FEBRUARY} + 9999, ${again} from journal_first limit 1`,
        /journal_references_key/,
      ],
      [
        `insert into journal_2026_02 (id, ${again}) overriding system value select id, ${again} from journal_first limit 1`,
        /partition/,
      ],
      ...['entries', 'entries_2026_02'].map((table): [string, RegExp] => [
        `insert into ${table} (id, journal_id, account_id, book, amount) overriding system value
         select 0, journal_id, account_id, book, 1 from entries_2026_02 limit 1`,
        /sum to zero/,
      ]),
      [
        `insert into entries (journal_id, account_id, book, amount)
         select ${FEBRUARY} + 9999, id, 'live', amount from ledger_accounts, (values (1), (-1)) as v (amount)
         where kind = 'fee' and book = 'live'`,
        /entries_journal/,
      ],
      [
        `insert into entries (journal_id, account_id, book, amount)
         select ${FEBRUARY}, id, 'live', amount from ledger_accounts, (values (1), (-1)) as v (amount)
         where kind = 'fee' and book = 'test'`,
        /entries_account/,
      ],
      [
        `update orders set journal_id = ${FEBRUARY} + 9999
         where id = (select max(id) from orders where journal_id is not null)`,
        /"orders_journal"/,
      ],
    ]
    for (const [statement, reason] of refused)
      await expect(sql.raw(statement).execute(test.db), statement).rejects.toThrow(reason)
    await expectSealedBooks()
  })

  it('is exported and imported, from and to ledgers of either kind', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tessera-partitions-'))
    const path = join(folder, 'all.gz')
    const { tables } = await exportAll(
      test.deps.config.DATABASE_URL!,
      (pieces) => writeFile(path, pieces),
      () => {},
    )
    expect(tables.map(({ name }) => name).filter((name) => /journal|entries/.test(name))).toEqual([
      'journal',
      'entries',
      'journal_sealing',
      'journal_seals',
    ])
    const rowsOf = async (db: Db) =>
      (
        await sql<{ row: string }>`
          select row(j, e)::text as row from journal as j join entries as e on e.journal_id = j.id order by e.id`.execute(
          db,
        )
      ).rows
    for (const isPartitioned of [false, true]) {
      const fresh = await createDatabase()
      const db = openDatabase(fresh.url, { max: 4, onBroken: () => {} })
      const there = { ...test.deps, db }
      if (isPartitioned) {
        // As it is when the command was interrupted.
        await sql`create table journal_references (like journal)`.execute(db)
        expect(await findPartitionFault(there)).toContain('not ended')
        await sql`drop table journal_references`.execute(db)
        expect(await partitionLedger(there)).toMatchObject({ isNew: true })
      }
      await withArchive(path, (archive) =>
        importAll(fresh.url, archive, { onRows: () => {}, prove: async () => {} }),
      )
      expect(await rowsOf(db)).toEqual(await rowsOf(test.db))
      expect((await proveBooks(db, test.deps.secrets)).isSound).toBe(true)
      if (!isPartitioned) await partitionLedger(there)
      expect(await findPartitionFault(there)).toBeUndefined()
      const posting = { user_id: buyer.id, amount: 1n, reason: 'test', actor_id: null, now: START }
      expect(await grantPoints(db, { ...posting, reference: 'there' })).toBe(true)
      expect(await grantPoints(db, { ...posting, reference: 'there' })).toBe(false)
      expect((await proveBooks(db, test.deps.secrets)).isSound).toBe(true)
      await db.destroy()
      await fresh.drop()
    }
    await rm(folder, { recursive: true })
  })

  it('says what is amiss, and is mended by the next round of the worker', async () => {
    expect(await partitionLedger(test.deps)).toMatchObject({ isNew: false, locked_ms: 0 })
    test.clock.advance(28 * DAY_MS)
    expect(await findPartitionFault(test.deps)).toContain('a month that is over')
    await keepPartitions(test.deps)
    expect(await findPartitionFault(test.deps)).toBeUndefined()

    test.clock.advance(92 * DAY_MS)
    expect(await findPartitionFault(test.deps)).toContain('no partition for the next month')
    await keepPartitions(test.deps)
    expect(await findPartitionFault(test.deps)).toBeUndefined()
    client = await buyer.signIn()
    expect(await journalOf(await pay(), 'payment')).toMatchObject({ partition: 'journal_2026_06' })
    await expectSealedBooks()
  })
})
