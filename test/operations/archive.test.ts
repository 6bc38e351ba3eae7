/**
 * An archive of a database with rows of every kind. After the import every table has the same rows, every sequence
 * continues, and the service works. The same holds for archives of earlier versions.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { banMember, suspendMember } from '../../src/accounts/members.ts'
import { freezeOrder, freezeWallet } from '../../src/admin/points/freezes.ts'
import { approveProposal } from '../../src/admin/proposals/proposals.ts'
import { type Db, openDatabase } from '../../src/database/connection.ts'
import { isMigrated, lockMigrations, migrateWithin, migrationNames } from '../../src/database/migrate.ts'
import { exportAll, importAll, withArchive } from '../../src/operations/archive.ts'
import { acceptOffer, offerApplication } from '../../src/payment/apps/handover.ts'
import { setEventsUrl } from '../../src/payment/events/events.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { askRefund } from '../../src/payment/orders/refund-requests.ts'
import { refundOrder, reverseTransfer } from '../../src/payment/orders/refunds.ts'
import { openPlayWallet, refillPlayPoints } from '../../src/payment/orders/test-mode.ts'
import { runPayouts } from '../../src/payment/payouts/run.ts'
import { anonymise } from '../../src/privacy/anonymise.ts'
import { openApplication } from '../harness/application.ts'
import { expectSoundBooks, sealAll } from '../harness/books.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { createDatabase, setSetting, type TestApp, useTestApp } from '../harness/harness.ts'
import { buyAt, makeLink } from '../harness/links.ts'
import { type Merchant, makeMerchant, merchantSign, post } from '../harness/merchant.ts'
import { makeGatewayOrders } from '../harness/notify-receiver.ts'
import { line as payoutLine, startPayout } from '../harness/payouts.ts'
import { propose } from '../harness/proposals.ts'
import { setRows } from '../harness/rows.ts'

const EVENTS_URL = 'http://127.0.0.1:9/events'
const NOTIFY_URL = 'http://127.0.0.1:9/notify'
const IP = '203.0.113.7'

let leaver: Person
let count = 0

const test = await useTestApp()
const folder = await mkdtemp(join(tmpdir(), 'tessera-archive-'))
const shop = await makeMerchant(test)
const testing = await makeMerchant(test, { twinOf: shop })
const sold = await makeMerchant(test)
const buyer = await makePerson(test, { points: 100_000n, username: 'buyer', groups: ['crew'] })
// A group of the forum that got the name later, and is not imported.
await test.db.insertInto('forum_groups').values({ id: 41n, name: 'Crew' }).execute()
const newOwner = await makePerson(test, { username: 'heir' })
await live()
afterAll(async () => {
  await rm(folder, { recursive: true })
})

async function order(at: Merchant, on: Pick<TestApp, 'app'> = test): Promise<string> {
  const fields = { amount: '100', description: 'Tea', order_id: `order-${++count}` }
  const signature = merchantSign(at.token, fields)
  const path = `/payment/pay/${at.payment_id}/process`
  const { status, body } = await post(on as TestApp, path, { ...fields, signature })
  expect(status).toBe(200)
  return String(body.transaction_id)
}

async function pay(transaction_id: string, payer = buyer, deps = test.deps): Promise<string> {
  const payment = { transaction_id, payer_id: payer.id, expected_amount: 100n }
  expect(await makePayOrder(deps)(payment)).toBe('paid')
  return transaction_id
}

async function send(from: Merchant, on: Pick<TestApp, 'app'> = test): Promise<string> {
  const fields = {
    to_user_id: String(newOwner.id),
    to_username: newOwner.username,
    amount: '10',
    order_id: `transfer-${++count}`,
  }
  const signature = merchantSign(from.token, fields)
  const path = `/payment/transfer/${from.payment_id}`
  const { status, body } = await post(on as TestApp, path, { ...fields, signature })
  expect({ status, body }).toMatchObject({ status: 200 })
  return String(body.transaction_id)
}

/** Performs every act whose rows triggers write, complete or guard. */
async function live(): Promise<void> {
  const { deps } = test
  const [one, two] = [await makePerson(test, { is_admin: true }), await makePerson(test, { is_admin: true })]
  const act = { reason: 'test', actor_id: one.id, ip: IP }
  const owner = { user_id: shop.owner.id, ip: IP }
  await setEventsUrl(deps, shop.payment_id, EVENTS_URL, owner)
  await setEventsUrl(deps, testing.payment_id, EVENTS_URL, owner)

  const paid = await pay(await order(shop))
  await refundOrder(deps, { ...act, transaction_id: paid, amount: 30n, key: 'refund', with_fee: true })
  const asked = await pay(await order(shop))
  await askRefund(deps, shop.payment_id, { transaction_id: asked, amount: 5n, reason: 'cold' }, owner)
  await reverseTransfer(deps, { ...act, transaction_id: await send(shop), with_fee: true })
  await send(shop)
  await freezeOrder(deps, await order(shop), act)

  await openPlayWallet(test.db, buyer.id)
  await pay(await order(testing))
  await refillPlayPoints(deps, buyer.id)
  const [told, slow] = await makeGatewayOrders(test, shop, { count: 2, notify_url: NOTIFY_URL })
  await setRows(
    test,
    'orders',
    { transaction_id: slow! },
    { app_id: testing.id, book: 'test', forced: 'notify_slow' },
  )
  await pay(told!)
  await pay(slow!)

  await buyAt(deps, await makeLink(test, shop, { codes: ['one', 'two'] }), buyer)
  await buyAt(deps, await makeLink(test, shop, { delivery: 'text', delivered: 'A text' }), buyer)
  await startPayout(deps, shop, { reference: 'archived', lines: [payoutLine('a', buyer)] })
  await runPayouts(deps)

  await setEventsUrl(deps, sold.payment_id, EVENTS_URL, { user_id: sold.owner.id, ip: IP })
  await pay(await order(sold))
  await offerApplication(deps, sold.payment_id, newOwner.username, { user_id: sold.owner.id, ip: IP })
  await acceptOffer(deps, sold.payment_id, { user_id: newOwner.id, ip: IP })
  await offerApplication(deps, shop.payment_id, newOwner.username, owner)

  const line = {
    line: 1,
    text: '',
    user_id: buyer.id,
    username: buyer.username,
    amount: 5n,
    fault: undefined,
  }
  const points = { kind: 'points' as const, lines: [line], reason: 'spring' }
  for (const key of ['points-1', 'points-2'])
    await propose(deps, { ...points, key }, { actor_id: one.id, ip: IP })
  await approveProposal(deps, 1n, { actor_id: two.id, ip: IP })
  await setSetting(test, 'second_approver', 'on')

  leaver = await makePerson(test, { username: 'leaver', points: 100n })
  await openPlayWallet(test.db, leaver.id)
  const session = await leaver.signIn()
  expect((await session.get('/account')).status).toBe(200)
  await anonymise(deps, { user_id: leaver.id, actor_id: leaver.id, reason: 'test', ip: IP, give_up: 100n })
  await banMember(deps, { ...act, user_id: (await makePerson(test)).id })
  await suspendMember(deps, { ...act, user_id: (await makePerson(test)).id, days: 3 })
  const frozen = await makePerson(test, { points: 7n })
  await freezeWallet(deps, frozen.id, act)

  // The newest row of a table is deleted. Its number must not be given again.
  await test.db.deleteFrom('sessions').execute()
  await sealAll(deps)
  // The process writes its counts a second later. Nothing counts after this.
  await deps.limits.share()
}

async function namesIn(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r'`.execute(db)
  return rows.map(({ name }) => name).filter((name) => !name.startsWith('schema_'))
}

async function rowsOf(db: Db, table: string): Promise<string[]> {
  const { rows } = await sql<{ row: string }>`
    select to_jsonb(each)::text as row from ${sql.table(table)} as each order by 1`.execute(db)
  return rows.map(({ row }) => row)
}

async function sequencesOf(db: Db) {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relkind = 'S' order by 1`.execute(db)
  const found: [string, bigint][] = []
  for (const { name } of rows) {
    const { rows: next } = await sql<{ next: bigint }>`
      select last_value + is_called::int as next from ${sql.table(name)}`.execute(db)
    found.push([name, next[0]!.next])
  }
  return Object.fromEntries(found)
}

async function exportFrom(url: string): Promise<string> {
  const path = join(folder, `${++count}.gz`)
  await exportAll(
    url,
    (pieces) => writeFile(path, pieces),
    () => {},
  )
  return path
}

const importInto = (url: string, path: string) =>
  withArchive(path, (archive) => importAll(url, archive, { onRows: () => {}, prove: async () => {} }))

describe('an archive', () => {
  it('fills every table with the same rows, and the service continues', async () => {
    const path = await exportFrom(test.deps.config.DATABASE_URL!)
    const fresh = await createDatabase()
    await importInto(fresh.url, path)
    const there = await openApplication(fresh.url, { env: {}, clock: test.clock.now })
    const { db } = there.deps
    try {
      const filled: string[] = []
      for (const name of await namesIn(test.db)) {
        const rows = await rowsOf(test.db, name)
        if (rows.length > 0) filled.push(name)
        // Transaction IDs belong to the other database.
        if (name !== 'journal_sealing') expect(await rowsOf(db, name), name).toEqual(rows)
      }
      expect(filled).toEqual(
        expect.arrayContaining([
          ...['ledger_accounts', 'orders', 'transfers', 'refunds', 'refund_requests', 'notifications'],
          ...['payment_app_offers', 'proposals', 'former_usernames', 'site_settings_history'],
          ...['journal', 'entries', 'journal_seals', 'payment_app_keys', 'alerts', 'audit_log'],
        ]),
      )
      expect(await sequencesOf(db)).toEqual(await sequencesOf(test.db))
      await expectSoundBooks(db)

      const told = async () =>
        (await sql<{ count: bigint }>`select count(*) from notifications`.execute(db)).rows[0]!.count
      const before = await told()
      await pay(await order(shop, there), buyer, there.deps)
      await send(shop, there)
      expect(await told()).toBe(before + 2n)
      const newcomer = await makePerson({ ...test, ...there, db })
      await openPlayWallet(db, newcomer.id)
      await pay(await order(testing, there), newcomer, there.deps)
      await expectSoundBooks(db)
      await sealAll(there.deps)
      await expect(sql`delete from entries`.execute(db)).rejects.toThrow(/append-only/)
    } finally {
      await there.close()
      await fresh.drop()
    }
  })

  it('meets every trigger that refuses a new row, and none that writes', async () => {
    const { rows } = await sql<{ name: string }>`
      select distinct proname as name from pg_trigger join pg_proc on pg_proc.oid = tgfoid
      where not tgisinternal and tgtype & 4 > 0 order by 1`.execute(test.db)
    expect(rows.map(({ name }) => name)).toEqual([
      // This trigger is disabled during the import.
      'keep_second_approver',
      'keep_transfer_bounds',
      // It fills in columns of a new row, and keeps those of an archive.
      'notification_route',
      'number_transaction',
      // It fills in the book of a new key, which is the book of the archive.
      'payment_app_key_book',
      'refund_book',
      'refuse_anonymised',
      'refuse_eleventh_passkey',
      'refuse_former_username',
      'refuse_link_of_two_owners',
      'refuse_local_group',
      'refuse_local_name',
      // Disabled during the import, too.
      'refuse_other_order_of_tip',
      'refuse_owner_as_member',
      'refuse_two_faces',
      'refuse_unbalanced',
      // Disabled during the import, too.
      'refuse_undelivered',
    ])
    const fresh = await createDatabase()
    const path = await exportFrom(test.deps.config.DATABASE_URL!)
    const text = gunzipSync(await readFile(path)).toString()
    const named = (name: string) => `"username": "${name}"`
    const changed = text.replace(named(newOwner.username), named(leaver.username))
    const forged = join(folder, 'forged.gz')
    await writeFile(forged, gzipSync(changed))
    await expect(importInto(fresh.url, forged)).rejects.toThrow(`the name ${leaver.username} was somebody`)

    await importInto(fresh.url, path)
    const db = openDatabase(fresh.url, { max: 1, onBroken: () => {} })
    const disabled = await sql`select from pg_trigger where tgenabled <> 'O'`.execute(db)
    expect(disabled.rows).toEqual([])
    await db.destroy()
    await fresh.drop()
  })

  it('of an earlier version is imported as it was, and then upgraded', async () => {
    const names = await migrationNames()
    const older = names.filter((name) => name < '080')
    const old = await createDatabase('template1')
    const client = new pg.Client({ connectionString: old.url })
    await client.connect()
    await client.query('begin')
    await lockMigrations(client)
    await migrateWithin(client, older)
    await client.query('commit')
    await client.query(`
      insert into users (username, password_hash) values ('anna', 'x'), ('ben', 'x');
      insert into ledger_accounts (book, kind, user_id, balance) values ('live', 'wallet', 1, 0)`)
    await client.end()
    const path = await exportFrom(old.url)

    const there = await createDatabase('template1')
    await importInto(there.url, path)
    const db = openDatabase(there.url, { max: 1, onBroken: () => {} })
    expect(await isMigrated(db)).toBe(true)
    const users = await db.selectFrom('users').orderBy('id').select('username').execute()
    expect(users.map(({ username }) => username)).toEqual(['anna', 'ben'])
    expect(await db.selectFrom('notifications').select('id').execute()).toEqual([])
    const wallets = await db
      .selectFrom('ledger_accounts')
      .where('kind', '=', 'wallet')
      .select(['user_id', 'balance'])
      .orderBy('user_id')
      .execute()
    expect(wallets).toEqual([{ user_id: 1n, balance: 0n }])
    await expectSoundBooks(db)
    await db.destroy()

    // An upgraded database has other tables than the archive.
    const migrated = await createDatabase()
    await expect(importInto(migrated.url, path)).rejects.toThrow(/of an older version: it lacks 080-/)
    await Promise.all([old.drop(), there.drop(), migrated.drop()])
  })

  it('of an earlier version whose entry names no account is refused', async () => {
    // Without one migration, neither the triggers of functions/ nor the foreign keys of earlier versions check the rows.
    const older = (await migrationNames()).filter((name) => !name.startsWith('410-'))
    const old = await createDatabase('template1')
    const client = new pg.Client({ connectionString: old.url })
    await client.connect()
    await client.query('begin')
    await lockMigrations(client)
    await migrateWithin(client, older)
    await client.query('commit')
    await client.query(`
      insert into journal (book, kind, reference, reason, posted_at) values ('live', 'grant', 'g', 'x', now());
      insert into entries (journal_id, account_id, book, amount) values (1, 99, 'live', 5)`)
    await client.end()
    const path = await exportFrom(old.url)
    const there = await createDatabase('template1')
    await expect(importInto(there.url, path)).rejects.toThrow('The archive is not whole: entry 1')
    await Promise.all([old.drop(), there.drop()])
  })
})
