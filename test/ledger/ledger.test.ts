/** The statements that the database itself refuses, from any caller. spec/points 1.1 and 1.2. */
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { grantPoints } from '../../src/ledger/points.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { untilBlocked } from '../harness/blocked.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { givePoints, makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { lockRows } from '../harness/rows.ts'

const test = await useTestApp()
await makePerson(test, { points: 100n })
afterAll(async () => {
  await expectSoundBooks(test.db)
})

const run = (statement: string) => sql.raw(statement).execute(test.db)
const journals = async () =>
  (await sql<{ n: bigint }>`select count(*) as n from journal`.execute(test.db)).rows[0]!.n

describe('the database refuses', () => {
  it.each([
    ['to change a journal', 'update journal set reason = null', /append-only/],
    ['to delete a journal', 'delete from journal', /append-only/],
    ['to change an entry', 'update entries set amount = amount + 1', /append-only/],
    ['to delete an entry', 'delete from entries where false', /append-only/],
    ['to truncate the ledger', 'truncate entries', /append-only/],
    ['to change the audit log', 'delete from audit_log', /append-only/],
    [
      'entries that do not sum to zero',
      `insert into entries (journal_id, account_id, book, amount) select max(j.id), a.id, 'live', 5 from journal j, ledger_accounts a where a.kind = 'wallet' group by a.id limit 1`,
      /sum to zero/,
    ],
    [
      'an entry of nothing',
      `insert into entries (journal_id, account_id, book, amount) select max(j.id), min(a.id), 'live', 0 from journal j, ledger_accounts a where a.book = 'live'`,
      /entries_amount_moves/,
    ],
    [
      'an entry in another book than its account',
      `insert into entries (journal_id, account_id, book, amount) select max(j.id), a.id, 'test', v from journal j, ledger_accounts a, (values (5), (-5)) as x(v) where a.kind = 'wallet' group by a.id, v limit 2`,
      /journal and an account/,
    ],
    [
      'an entry of no journal',
      `insert into entries (journal_id, account_id, book, amount) select max(j.id) + 1, a.id, 'live', v from journal j, ledger_accounts a, (values (5), (-5)) as x(v) where a.kind = 'wallet' group by a.id, v limit 2`,
      /journal and an account/,
    ],
    [
      'an entry of no account',
      `insert into entries (journal_id, account_id, book, amount) select max(j.id), max(a.id) + 1, 'live', v from journal j, ledger_accounts a, (values (5), (-5)) as x(v) group by v`,
      /journal and an account/,
    ],
    ['to change the book of an account', `update ledger_accounts set book = 'test'`, /never change/],
    ['to change the id of an account', 'update ledger_accounts set id = default', /never change/],
    [
      'to delete an account of the platform',
      `delete from ledger_accounts where kind = 'fee'`,
      /never deleted/,
    ],
    ['to truncate the accounts', 'truncate ledger_accounts', /never deleted/],
    [
      'a wallet below zero',
      `select post_journals('adjustment', 'x', array_agg(row('live', 'theft', null, now(), wallet.id, issuance.id, null, 101, 0)::posting)) from ledger_accounts as wallet, ledger_accounts as issuance where wallet.book = 'live' and wallet.kind = 'wallet' and issuance.book = 'live' and issuance.kind = 'issuance'`,
      /ledger_accounts_not_negative/,
    ],
    [
      'a second journal of the same reference',
      `insert into journal (book, kind, reference, reason, posted_at) select book, kind, reference, reason, posted_at from journal limit 1`,
      /journal_reference_key/,
    ],
    [
      'an adjustment without a reason',
      `select post_journals('adjustment', null, array[row('live', 'x', null, now(), null, null, null, 0, 0)::posting])`,
      /journal_reason/,
    ],
    [
      'a second wallet of a member',
      `insert into ledger_accounts (book, kind, user_id, balance) select book, kind, user_id, 0 from ledger_accounts where kind = 'wallet'`,
      /wallet_key/,
    ],
    [
      'a second fee account',
      `insert into ledger_accounts (book, kind) values ('live', 'fee')`,
      /platform_key/,
    ],
    [
      'a balance beyond 2^53',
      `update ledger_accounts set balance = 9007199254740992 where kind = 'wallet'`,
      /balance_bound/,
    ],
  ])('%s', async (_name, statement, message) => {
    const before = await journals()
    await expect(run(statement)).rejects.toThrow(message)
    expect(await journals()).toBe(before)
  })
})

describe('an order in the database', () => {
  const insert = (columns: string, values: string) =>
    run(
      `insert into orders (app_id, door, order_id, transaction_id, description, amount, expires_at${columns}) select id, 'hmac', 'o', 'txn_000000000000000000000000', 'x', 100, now()${values} from payment_apps`,
    )

  beforeAll(async () => {
    const { id } = await makePerson(test)
    await run(
      `insert into payment_apps (payment_id, applicant_id, name, callback_url) values ('pay_00000000000000000000', ${id}, 'x', 'https://x.example')`,
    )
  })

  it.each([
    ['paid without its facts', ', status', ", 'paid'", /orders_paid_facts/],
    ['unpaid with a payer', ', payer_id', ', 1', /orders_paid_facts/],
    [
      'split wrongly',
      ', status, payer_id, payee_id, fee, merchant_points, paid_at, journal_id',
      ", 'paid', 1, 1, 6, 95, now(), 1",
      /orders_fee_split/,
    ],
    ['of the HMAC door with money', ', money', ", '1.00'", /orders_gateway_facts/],
    ['with an unknown status', ', status', ", 'lost'", /orders_status/],
  ])('cannot be %s', async (_name, columns, values, message) => {
    await expect(insert(columns, values)).rejects.toThrow(message)
  })

  it('of the gateway cannot have other text than money', async () => {
    const ordered = (money: string) =>
      run(
        `insert into orders (app_id, door, order_id, transaction_id, description, amount, expires_at, protocol, pid_sent, trade_no, rate, notify_url, money) select id, 'gateway', 'o', 'txn_000000000000000000000000', 'x', 100, now(), 'v1', '1', '1', 100, 'https://x.example', '${money}' from payment_apps`,
      )
    for (const money of ['', '.', '0.00', '-1', '1e3', ' 1', '１', '123456789', `1.${'1'.repeat(21)}`]) {
      await expect(ordered(money), money).rejects.toThrow(/orders_money_shape/)
    }
  })

  it('cannot cost nothing, nor more than 2^53 − 1', async () => {
    for (const amount of ['0', '-1', '9007199254740992']) {
      await expect(
        run(
          `insert into orders (app_id, door, order_id, transaction_id, description, amount, expires_at) select id, 'hmac', 'o', 'txn_000000000000000000000000', 'x', ${amount}, now() from payment_apps`,
        ),
      ).rejects.toThrow(/orders_amount_range/)
    }
  })
})

describe('a grant', () => {
  it('of one name happens once, also when given twenty times at once', async () => {
    const alice = await makePerson(test)
    const grant = {
      user_id: alice.id,
      amount: 70n,
      reference: 'once',
      reason: 'prize',
      actor_id: null,
      now: test.clock.now(),
    }
    const done = await Promise.all(Array.from({ length: 20 }, () => grantPoints(test.db, grant)))
    expect(done.filter(Boolean)).toHaveLength(1)
    expect(await balanceOf(test.db, alice.id)).toBe(70n)
  })
})

it('wallets are locked by id, so acts that want two of them never wait for each other', async () => {
  const [first, second] = [await makePerson(test, { points: 1n }), await makePerson(test, { points: 1n })]
  // Postgres now stores the first wallet's row behind the second, and reads the rows as they are stored.
  await givePoints(test, first, 1n)
  const lock = () =>
    test.db.transaction().execute(async (other) => {
      for (const scan of ['indexscan', 'bitmapscan'])
        await sql`set local ${sql.raw(`enable_${scan}`)} = off`.execute(other)
      const members = sql`array[${second.id}, ${first.id}]::bigint[]`
      await sql`select from lock_wallets(${members}, '{live, live}')`.execute(other)
    })
  const held = await test.db.transaction().execute(async (tx) => {
    await lockRows(tx, 'ledger_accounts', { user_id: first.id })
    const locked = lock()
    await untilBlocked(tx)
    await sql`select from ledger_accounts where user_id = ${second.id} for update nowait`.execute(tx)
    return { locked }
  })
  await held.locked
})
