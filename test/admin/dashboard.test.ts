/**
 * /admin: the figures of the day, what waits, health and first steps, by a bounded number of statements and rows.
 * spec/points 3.4.
 */
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { readWaiting } from '../../src/admin/dashboard/dashboard.page.ts'
import { MEMBERS_COUNTED_MAX, NEWEST_MAX, readMembers, readToday } from '../../src/admin/dashboard/figures.ts'
import { readFirstSteps } from '../../src/admin/dashboard/first-steps.ts'
import { BACKLOG_MAX, readHealth } from '../../src/admin/dashboard/health.ts'
import { readQueues } from '../../src/admin/navigation/queues.ts'
import type { Db } from '../../src/database/connection.ts'
import { closeDueDays, keepProof, lastDays, lastProof } from '../../src/ledger/proofs.ts'
import { makeSealer } from '../../src/ledger/seal.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { askRefund } from '../../src/payment/orders/refund-requests.ts'
import { refundOrder } from '../../src/payment/orders/refunds.ts'
import { makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { makeGatewayOrders } from '../harness/notify-receiver.ts'
import { setRows } from '../harness/rows.ts'
import { rowsOfTables } from '../harness/rows-read.ts'
import { itCounts, statementsOf } from '../harness/statements.ts'

const DAY_MS = 86_400_000
const t = messages.en.dashboard

const test = await useTestApp()
const merchant = await makeMerchant(test)
const buyer = await makePerson(test, { username: 'buyer', points: 10_000n })
const root = await makePerson(test, { username: 'root', is_admin: true })
const admin = await root.signIn()

let count = 0
async function paidOrder(amount: bigint) {
  count += 1
  const { body } = await merchant.process({
    ...{ amount: String(amount), description: 'Tea', order_id: `dashboard-${count}` },
  })
  const transaction_id = String(body.transaction_id)
  await makePayOrder(test.deps)({ transaction_id, payer_id: buyer.id, expected_amount: amount })
  return transaction_id
}
const page = async () => textOf((await admin.get('/admin/overview')).body)

describe('the figures', () => {
  it('are those of the day in the site’s time zone, and of the last check', async () => {
    const transaction_id = await paidOrder(1_000n)
    await paidOrder(200n)
    await refundOrder(test.deps, {
      ...{ transaction_id, amount: 500n, with_fee: true, key: 'k', reason: 'x' },
      ...{ actor_id: root.id, ip: '203.0.113.7' },
    })
    const now = test.clock.now()
    expect(await readToday(test.db, { now, zone: 'Asia/Shanghai' })).toMatchObject({
      ...{ payments: 2, paid: 1_200n, given_back: 500n, fees: 35n, is_partial: false, paid_before: 0n },
    })
    expect(await page()).toContain(`${t.paid} · ${t.payments('2', 2)} 1,200 points`)
    // Before the first check, the figure is unknown.
    expect(await page()).not.toContain(t.circulating)
    await keepProof(test.deps)
    const { rows } = await sql<{ held: bigint }>`
      select sum(balance)::bigint as held from ledger_accounts where kind = 'wallet' and book = 'live'`.execute(
      test.db,
    )
    expect(await page()).toContain(`${t.circulating} ${rows[0]!.held.toLocaleString('en')} ${t.asOf}`)
  })

  it('chart the closed days, with a table of the same figures', async () => {
    const now = new Date(test.clock.now().getTime() + 2 * DAY_MS)
    await closeDueDays({ db: test.db, databaseTime: async () => now })
    const { body } = await admin.get('/admin/overview')
    expect(body).toContain(`aria-label="${t.chart('30')}"`)
    expect(textOf(body)).toContain(t.table)
    expect(body).toContain('1,200')
  })

  it('are compared with yesterday until this time of the day', async () => {
    const dayAfter = (ms: number) => new Date(test.clock.now().getTime() + DAY_MS + ms)
    const at = (now: Date) => readToday(test.db, { now, zone: 'Asia/Shanghai' })
    const none = { payments: 0, paid: 0n, fees: 0n }
    expect(await at(dayAfter(1_000))).toMatchObject({ ...none, paid_before: 1_200n, fees_before: 35n })
    expect(await at(dayAfter(-60_000))).toMatchObject({ ...none, paid_before: 0n, fees_before: 0n })
    test.clock.advance(DAY_MS + 1_000)
    await paidOrder(1_500n)
    expect(await page()).toContain(t.onYesterday('+25'))
  })
})

describe('what waits', () => {
  it('is nothing while all checks are good and no queue has an entry', async () => {
    const others = { finished_at: test.clock.now(), bytes: 1n }
    await test.db.insertInto('last_backup').values(others).execute()
    await makeSealer(test.deps)()
    await keepProof(test.deps)
    const text = await page()
    expect(text).toContain(`${t.allWell} ${t.nothing}`)
    await test.db.deleteFrom('last_backup').execute()
    const warned = await page()
    expect(warned).toContain(`${t.warnings(1)} ${t.waiting} ${t.backup} ${t.backupNone}`)
    // The list of health has all others.
    expect(warned.split(t.backupNone)).toHaveLength(2)
    expect(warned.slice(warned.indexOf(t.health))).toContain(`${t.books} ${t.booksSound}`)
  })

  it('is counted on the page and in the navigation, and leads to its queue', async () => {
    const pending = await makeMerchant(test, { approved: false })
    const transaction_id = await paidOrder(100n)
    const asking = { transaction_id, amount: 70n, reason: 'Torn' }
    const owner = { user_id: merchant.owner.id, ip: '203.0.113.7' }
    await askRefund(test.deps, merchant.payment_id, asking, owner)
    const [notified] = await makeGatewayOrders(test, merchant, { notify_url: 'https://shop.example.org/n' })
    await makePayOrder(test.deps)({
      ...{ transaction_id: notified!, payer_id: buyer.id, expected_amount: 100n },
    })
    test.clock.advance(16 * 60_000)
    const { body } = await admin.get('/admin/overview')
    expect(textOf(body)).toContain(`${t.reviews} Shop of ${pending.owner.username} · ${t.since}`)
    expect(textOf(body)).toContain(`${t.refundRequests} ${t.inAll('70')}`)
    expect(body.indexOf('href="/admin/reviews"><span')).toBeLessThan(body.indexOf('class="tiles'))
    // Faults come before requests, and warnings after them. Without a backup and a check of the books there is always a warning.
    const places = [t.backlog('1', '0'), 'href="/admin/reviews"><span', t.backupNone, 'class="tiles']
    const found = places.map((text) => body.indexOf(text))
    expect(found).toEqual(found.toSorted((one, other) => one - other))
    expect(found[0]).toBeGreaterThan(0)
    expect(textOf(body)).toContain(`${t.faults(1)} ${t.waiting}`)
    const other = (await admin.get('/admin/books')).body
    for (const [href, label] of [
      ['/admin/reviews', messages.en.console.navigation.reviews],
      ['/admin/refund-requests', t.refundRequests],
    ])
      expect(textOf(new RegExp(`<a href="${href}"[^]*?</a>`).exec(other)![0])).toBe(`${label} 1`)
  })
})

itCounts('takes as many statements on a big site as on a small one', async () => {
  const [, statements] = await statementsOf(() => admin.get('/admin/overview'))
  expect(statements.length).toBeLessThanOrEqual(13)
})

describe('on a big site', () => {
  const DECIDED = 5_000
  /** So many rows beyond a bound would be noticed. */
  const MORE = 1_000
  beforeAll(async () => {
    const now = test.clock.now()
    await test.db.transaction().execute(async (tx) => {
      const fill = (statement: ReturnType<typeof sql>) => statement.execute(tx)
      // Triggers and foreign keys would take most of the time. Only that of notifications writes what is read here.
      await fill(sql`set local session_replication_role = replica`)
      // The index of the member search takes half of the rest.
      await fill(sql`drop index users_by_part`)
      await fill(sql`
      insert into sessions (token_hash, sid, user_id, auth_time, amr, ip, agent, expires_at)
      select decode(md5(n::text), 'hex'), left(md5(n::text), 22), ${buyer.id}, ${now}, '{pwd}', '', '', ${now}
      from generate_series(1, ${NEWEST_MAX + MORE}) as n`)
      await fill(sql`
      insert into users (username, password_hash, created_at)
      select 'bulk' || n, 'x', ${now} from generate_series(1, ${NEWEST_MAX + MORE}) as n`)
      await fill(sql`
      with made as (
        insert into journal (book, kind, reference, reason, posted_at)
        select 'live', 'grant', 'bulk:' || n, 'bulk', ${now}
        from generate_series(1, ${NEWEST_MAX + MORE}) as n order by n returning id
      )
      insert into entries (journal_id, book, account_id, amount)
      select made.id, 'live', account.id, case account.kind when 'wallet' then 1 else -1 end
      from made cross join ledger_accounts as account
      where account.book = 'live' and (account.kind = 'issuance' or account.user_id = ${buyer.id}) order by made.id`)
      await fill(sql`
      insert into ledger_accounts (book, kind, user_id, balance)
      select 'live', 'wallet', id, 0 from users where username like 'bulk%' order by id`)
      await fill(sql`
      insert into payment_apps (payment_id, applicant_id, name, callback_url, status, reviewed_by, reviewed_at)
      select 'pay_bulk' || lpad(n::text, 16, '0'), ${buyer.id}, 'Bulk', 'https://shop.example/paid', 'approved', ${root.id}, ${now}
      from generate_series(1, ${DECIDED}) as n`)
      await fill(sql`
      insert into orders (app_id, door, order_id, transaction_id, description, amount, expires_at, created_at)
      select ${merchant.id}, 'hmac', 'bulk-' || n, 'txn_' || lpad(n::text, 24, 'b'), 'Straw', 5, ${now}, ${now}
      from generate_series(1, ${2 * DECIDED}) as n`)
      await fill(sql`set local session_replication_role = origin`)
      await fill(sql`
      insert into notifications (order_id, status, next_attempt_at)
      select id, case when id % 2 = 0 then 'due' else 'delivered' end, case when id % 2 = 0 then ${now}::timestamptz end
      from orders where order_id like 'bulk-%' order by id`)
      await fill(sql`
      insert into outgoing_mails (recipient, kind, subject, sent_at)
      select 'a@b.example', 'bulk', 'Bulk', ${now}::timestamptz from generate_series(1, ${DECIDED}) as n`)
      await fill(sql`
      insert into proposals (kind, act, reason, key, proposed_by, proposed_at, expires_at)
      select 'setting', '{"setting": "site_name_en", "value": "x"}', 'bulk', 'bulk ' || n, ${buyer.id},
        ${now}::timestamptz - interval '2 days', ${now}::timestamptz - interval '1 day'
      from generate_series(1, ${DECIDED}) as n`)
      await fill(sql`
      insert into forum_events (event_id, event, received_at)
      select 'bulk-' || n, 'user_updated', ${now} from generate_series(1, ${DECIDED}) as n`)
    })
    await sql`analyze`.execute(test.db)
  })

  /** The most rows of each table that a reader may read. A table that is not named here has a few rows on any site. */
  const MOST: Record<string, number> = {
    journal: NEWEST_MAX,
    entries: 2 * NEWEST_MAX,
    ledger_accounts: 2 * NEWEST_MAX,
    sessions: NEWEST_MAX,
    users: NEWEST_MAX + MEMBERS_COUNTED_MAX,
    notifications: BACKLOG_MAX,
    outgoing_mails: BACKLOG_MAX,
    proposals: 1_000,
  }
  const FEW = 150
  const zone = 'Asia/Shanghai'
  const now = () => test.clock.now()
  const since = () => new Date(now().getTime() - 1_000)
  const depsWith = (db: Db) => ({ ...test.deps, db })

  it.each<[string, (db: Db) => Promise<unknown>]>([
    ['the day', (db) => readToday(db, { now: now(), zone })],
    ['members', (db) => readMembers(db, { since: since(), zone, days: 30 })],
    ['closed days', (db) => lastDays(db, 30)],
    ['the last proof', (db) => lastProof({ db })],
    ['the heads of queues', (db) => readWaiting(db, { admin_id: root.id, now: now() })],
    ['the queues', (db) => readQueues(db, { admin_id: root.id, now: now() })],
    ['health', (db) => readHealth(depsWith(db))],
    ['the first steps', (db) => readFirstSteps(depsWith(db), root.id)],
  ])('reads bounded rows for %s', async (_name, read) => {
    await test.db.transaction().execute(async (tx) => {
      const before = await rowsOfTables(tx)
      await read(tx)
      const after = await rowsOfTables(tx)
      const tooMany = [...after]
        .map(([table, rows]) => [table, rows - (before.get(table) ?? 0)] as const)
        .filter(([table, rows]) => rows > (MOST[table] ?? 0) + FEW)
      expect(tooMany).toEqual([])
    })
  })

  it('says that members of a forum without an API key are updated only at sign-in', async () => {
    const forum = { ...test.deps.config, DISCOURSE_URL: 'https://forum.example.org' }
    const healthOf = (config: typeof forum) => readHealth({ ...test.deps, config })
    const withoutKey = { tone: 'warn', hasApi: false }
    expect((await healthOf({ ...forum, DISCOURSE_API_KEY: undefined })).forum).toMatchObject(withoutKey)
    expect((await healthOf({ ...forum, DISCOURSE_API_KEY: 'key' })).forum).toMatchObject({ hasApi: true })
  })

  it('warns of a late backup, and with a bucket of a late copy or proof', async () => {
    const backup = async () => (await readHealth(test.deps)).backup
    const toneWith = async (values: Parameters<typeof setRows<'last_backup'>>[3]) => {
      await setRows(test, 'last_backup', {}, values)
      return (await backup()).tone
    }
    expect(await backup()).toMatchObject({ tone: 'warn', last: undefined })
    const hours = (n: number) => new Date(now().getTime() - n * 3_600_000)
    const row = { finished_at: hours(26), bytes: 14_000_000n }
    await test.db.insertInto('last_backup').values(row).execute()
    expect(await backup()).toMatchObject({ tone: 'good', last: row })
    expect(await toneWith({ finished_at: hours(27) })).toBe('warn')
    expect(await toneWith({ finished_at: hours(1), has_bucket: true })).toBe('warn')
    expect(await toneWith({ sent_at: hours(26), proven_at: hours(9 * 24) })).toBe('good')
    expect(await toneWith({ sent_at: hours(27) })).toBe('warn')
    expect(await toneWith({ sent_at: hours(1), proven_at: hours(9 * 24 + 1) })).toBe('warn')
    await expect(test.db.insertInto('last_backup').values(row).execute()).rejects.toThrow('last_backup_pkey')
    await test.db.deleteFrom('last_backup').execute()
  })

  it('counts what it read', async () => {
    const members = await readMembers(test.db, { since: since(), zone, days: 30 })
    expect(members).toMatchObject({ is_estimate: true, joined: expect.any(Number) })
    expect(members.total).toBeGreaterThan(MEMBERS_COUNTED_MAX)
    expect(members.joined_by_day).toHaveLength(30)
    expect(members.joined_by_day.at(-1)).toBe(members.joined)
    expect(await readToday(test.db, { now: now(), zone })).toMatchObject({
      is_partial: true,
      paid_before: null,
    })
    expect((await readQueues(test.db, { admin_id: root.id, now: now() })).proposals).toBe(0)
  })
})
