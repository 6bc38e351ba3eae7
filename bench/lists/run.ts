/**
 * `npm run bench:lists` measures the pages of every list for a member, shop or site with 100 000 rows: the first page,
 * one from the middle, and a search without a result. `--explain` prints the plans. It fails above the target.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Kysely, PostgresDialect, type RawBuilder, sql } from 'kysely'
import pg from 'pg'
import { countMembers } from '../../src/accounts/members.ts'
import { createUser } from '../../src/accounts/people/users.ts'
import { findOrders, findTransfers } from '../../src/admin/find/transactions.ts'
import { clustersByRecipient, moversOf, ringsOf } from '../../src/admin/points/abuse.page.ts'
import { readProposals } from '../../src/admin/proposals/proposals.ts'
import { readAudit } from '../../src/core/audit.ts'
import { connectionSettings, type Db } from '../../src/database/connection.ts'
import { startEmbedded } from '../../src/database/embedded/embedded.ts'
import { migrate } from '../../src/database/migrate.ts'
import type { Tables } from '../../src/database/tables.ts'
import { movementsOf } from '../../src/ledger/journals.ts'
import { countKinds, statementOf } from '../../src/ledger/wallet.ts'
import { ordersOfPayer } from '../../src/payment/buyer/payments.page.ts'
import { latencyOf, newestOf } from '../../src/payment/merchant/newest.ts'
import { countFates, type OrderFilter, ordersOfApp } from '../../src/payment/merchant/orders.ts'
import { lastDays, periodsOf, topProducts } from '../../src/payment/merchant/statistics.ts'
import { countTakings, takingsBetween } from '../../src/payment/merchant/takings.ts'
import { transfersOfApp } from '../../src/payment/merchant/transfers.ts'
import { countNotifications, readNotifications } from '../../src/payment/notifications/redelivery.ts'

const ROWS = 100_000
const TARGET_MS = 50
const RUNS = 5
const ZONE = 'Asia/Shanghai'
/** The payer's wallet. It is the first account after the four of the platform. */
const WALLET = 5n
const NOTHING = 'nothing has this text'

const { values: flags } = parseArgs({ options: { explain: { type: 'boolean', default: false } } })

type Member = { id: bigint }
/** A list and one page of it. `middle` is the ID in the middle of its rows. */
type List = { name: string; page(db: Db, member: Member, middle: bigint): Promise<unknown> }

/** The only shop. */
const APP = 1n
const PAYMENT_ID = 'pay_00000000000000000000'
const now = new Date()
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000)
const sold = (filter: OrderFilter) => (db: Db) => ordersOfApp(db, APP, filter, now)

const LISTS: List[] = [
  { name: 'statement', page: (db, { id }) => statementOf(db, id) },
  { name: 'statement, middle', page: (db, { id }, middle) => statementOf(db, id, { before: middle }) },
  { name: 'statement, search', page: (db, { id }) => statementOf(db, id, { text: NOTHING }) },
  { name: 'statement, kind', page: (db, { id }) => statementOf(db, id, { kind: 'refund' }) },
  {
    name: 'statement, counts',
    page: (db, { id }) => countKinds(db, { user_id: id, book: 'live' }, {}, ['payment', 'grant']),
  },
  { name: 'my payments', page: (db, { id }) => ordersOfPayer(db, id) },
  { name: 'my payments, middle', page: (db, { id }, middle) => ordersOfPayer(db, id, { before: middle }) },
  { name: 'my payments, search', page: (db, { id }) => ordersOfPayer(db, id, { text: NOTHING }) },
  { name: 'orders of a shop', page: sold({}) },
  { name: 'orders, middle', page: (db, _, before) => ordersOfApp(db, APP, { before }, now) },
  { name: 'orders, number', page: sold({ text: 'order-77777' }) },
  { name: 'orders, search', page: sold({ text: NOTHING }) },
  { name: 'orders, search by payer', page: sold({ text: NOTHING, payer: 'payer' }) },
  { name: 'orders, amount', page: sold({ min: 101n, max: 200n }) },
  { name: 'orders, status', page: sold({ fate: 'closed' }) },
  { name: 'orders, days', page: sold({ from: daysAgo(200), until: daysAgo(190) }) },
  { name: 'orders, days, search', page: sold({ from: daysAgo(360), until: daysAgo(90), text: NOTHING }) },
  { name: 'orders, counts', page: (db) => countFates(db, APP, {}, now) },
  { name: 'orders, counts of days', page: (db) => countFates(db, APP, { from: daysAgo(200) }, now) },
  {
    name: 'notifications',
    page: (db) => readNotifications(db, { role: 'administrator' }, { payment_id: PAYMENT_ID }, 26),
  },
  { name: 'notifications, counts', page: (db) => countNotifications(db, PAYMENT_ID) },
  { name: 'notifications, all', page: (db) => countNotifications(db, undefined) },
  { name: 'members, counts', page: (db) => countMembers(db, now) },
  {
    name: 'overview, takings',
    page: (db) =>
      takingsBetween(
        db,
        APP,
        Array.from({ length: 31 }, (_, i) => daysAgo(30 - i)),
      ),
  },
  {
    name: 'overview, newest',
    page: (db) => newestOf(db, APP, { since: daysAgo(30), now, products: 3 }),
  },
  { name: 'overview, latency', page: (db) => latencyOf(db, APP) },
  {
    name: 'statistics, days',
    page: (db) => periodsOf(db, APP, lastDays(ZONE, now, 30), now),
  },
  {
    name: 'statistics, weeks',
    page: (db) => periodsOf(db, APP, lastDays(ZONE, now, 366), now),
  },
  { name: 'top products', page: (db) => topProducts(db, APP, lastDays(ZONE, now, 90), 10) },
  { name: 'transfers of a shop', page: (db) => transfersOfApp(db, APP, {}) },
  { name: 'transfers, search', page: (db) => transfersOfApp(db, APP, { text: NOTHING }) },
  { name: 'transfers, number', page: (db) => transfersOfApp(db, APP, { text: 'transfer-77777' }) },
  { name: 'audit log', page: (db) => readAudit(db, {}, 51) },
  { name: 'audit log, who', page: (db) => readAudit(db, { actor: 'merchant' }, 51) },
  { name: 'audit log, nobody', page: (db) => readAudit(db, { actor: 'payer' }, 51) },
  { name: 'audit log, act', page: (db) => readAudit(db, { action: 'payment_app' }, 51) },
  { name: 'audit log, no such act', page: (db) => readAudit(db, { action: 'setting.change' }, 51) },
  {
    name: 'audit log, days',
    page: (db) => readAudit(db, { from: new Date('2020-01-01'), until: new Date('2020-01-02') }, 51),
  },
  { name: 'wallet', page: (db) => movementsOf(db, WALLET, {}, 26) },
  { name: 'wallet, middle', page: (db, _member, middle) => movementsOf(db, WALLET, { before: middle }, 26) },
  {
    name: 'wallet, days',
    page: (db) => movementsOf(db, WALLET, { from: daysAgo(200), until: daysAgo(190) }, 26),
  },
  { name: 'find an order', page: (db) => findOrders(db, `order-${ROWS / 2}`) },
  { name: 'find nothing', page: (db) => findOrders(db, NOTHING) },
  { name: 'find a transfer', page: (db) => findTransfers(db, NOTHING) },
  { name: 'proposals', page: (db) => readProposals(db, { isOpen: true, before: undefined }, 26) },
  { name: 'rings', page: (db) => ringsOf(db, new Date()) },
  { name: 'movers', page: (db) => moversOf(db, new Date()) },
  { name: 'new accounts', page: (db) => clustersByRecipient(db, new Date()) },
  { name: 'audit log, subject', page: (db) => readAudit(db, { subject: 'user:7' }, 51) },
]

/** Creates one payer with all paid orders of one shop, and as many entries in the audit log. Returns the payer. */
async function fill(db: Db): Promise<Member> {
  const make = (username: string) => createUser(db, { username, password_hash: 'none' })
  const [payer, merchant] = [await make('payer'), await make('merchant')]
  const run = (statement: RawBuilder<unknown>) => statement.execute(db)
  await run(sql`
    insert into ledger_accounts (book, kind, user_id, balance)
    values ('live', 'wallet', ${payer}, 0), ('live', 'wallet', ${merchant}, 0)`)
  await run(sql`
    insert into payment_apps (payment_id, applicant_id, name, callback_url)
    values (${PAYMENT_ID}, ${merchant}, 'Shop', 'https://shop.example/paid')`)
  await run(sql`
    insert into journal (book, kind, reference, posted_at)
    select 'live', 'payment', 'txn_' || lpad(i::text, 24, '0'), now() - interval '1 year' + i * interval '5 minutes'
    from generate_series(1, ${ROWS}::int) as i`)
  await run(sql`
    insert into entries (journal_id, book, account_id, amount)
    select j.id, 'live', a.id, case a.user_id when ${payer} then -100 else 100 end
    from journal as j cross join ledger_accounts as a where a.kind = 'wallet' order by j.id`)
  await run(sql`
    insert into orders (app_id, door, order_id, transaction_id, description, amount, status, expires_at, payer_id, payee_id, fee,
      merchant_points, paid_at, journal_id, created_at)
    select (select id from payment_apps), 'hmac', 'order-' || j.id, j.reference, 'Sticker pack, series ' || j.id, 100,
      'paid', j.posted_at, ${payer}, ${merchant}, 5, 95, j.posted_at, j.id, j.posted_at
    from journal as j order by j.id`)
  await run(sql`
    insert into notifications (order_id, status, next_attempt_at) select id, 'delivered', null from orders order by id`)
  await run(sql`
    insert into users (username, password_hash) select 'member' || i, 'x' from generate_series(1, ${ROWS}::int) as i`)
  // The lists show each transfer as a movement of its own, although it shares the journal of a payment.
  await run(sql`
    insert into transfers (app_id, order_id, transaction_id, amount, fee, from_user_id, from_username, to_user_id,
      to_username, paid_at, day, day_points, journal_id)
    select (select id from payment_apps), 'transfer-' || j.id, 'txn_t' || right(j.reference, 23), 100, 3, ${merchant},
      'merchant', ${payer}, 'payer', j.posted_at, (j.posted_at at time zone 'Asia/Shanghai')::date, 100, j.id
    from journal as j order by j.id`)
  await run(sql`
    insert into audit_log (actor_id, action, subject)
    select ${merchant}, 'payment_app.edit', 'user:' || i % 100 from generate_series(1, ${ROWS}::int) as i`)
  await countTakings({ db, databaseTime: async () => now })
  await run(sql`analyze`)
  return { id: payer }
}

type Statement = { sql: string; parameters: readonly unknown[] }

async function explain(db: Db, { sql: text, parameters }: Statement): Promise<{ ms: number; plan: string }> {
  const parts = text.split(/\$\d+/)
  const order = [...text.matchAll(/\$(\d+)/g)].map(([, n]) => parameters[Number(n) - 1])
  const statement = sql.join(
    parts.flatMap((part, i) => (i < order.length ? [sql.raw(part), sql`${order[i]}`] : [sql.raw(part)])),
    sql``,
  )
  const { rows } = await sql<{ 'QUERY PLAN': string }>`explain (analyze, buffers) ${statement}`.execute(db)
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  const times = [...plan.matchAll(/^(?:Planning|Execution) Time: ([\d.]+) ms/gm)].map(([, ms]) => Number(ms))
  return { ms: times.reduce((sum, ms) => sum + ms, 0), plan }
}

async function measure(db: Db, statements: Statement[], member: Member): Promise<boolean> {
  const middle = BigInt(ROWS)
  let isFast = true
  for (const { name, page } of LISTS) {
    const costs: number[] = []
    for (let run = 0; run < RUNS; run += 1) {
      statements.length = 0
      await page(db, member, name.startsWith('statement') ? middle : middle / 2n)
      const asked = [...statements]
      const found = []
      for (const statement of asked) found.push(await explain(db, statement))
      costs.push(found.reduce((sum, { ms }) => sum + ms, 0))
      if (flags.explain && run === 0) console.log(`\n-- ${name}\n${found.map(({ plan }) => plan).join('\n')}`)
    }
    const median = costs.sort((a, b) => a - b)[Math.floor(RUNS / 2)]!
    isFast &&= median <= TARGET_MS
    console.log(
      `${name.padEnd(24)} ${median.toFixed(1).padStart(7)} ms [${costs[0]!.toFixed(1)}–${costs.at(-1)!.toFixed(1)}]`,
    )
  }
  return isFast
}

const dataDir = await mkdtemp(join(tmpdir(), 'tessera-bench-'))
await chmod(dataDir, 0o755)
const server = await startEmbedded({ dataDir, settings: { fsync: 'off' } })
try {
  await migrate(server.url)
  const statements: Statement[] = []
  const pool = new pg.Pool({ ...connectionSettings(server.url), max: 1 })
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => {
      statements.push({ sql: query.sql, parameters: query.parameters })
    },
  })
  const isFast = await measure(db, statements, await fill(db))
  await db.destroy()
  console.log(isFast ? `Each within ${TARGET_MS} ms of database time.` : `Not each within ${TARGET_MS} ms.`)
  process.exitCode = isFast ? 0 : 1
} finally {
  await server.stop()
  await rm(dataDir, { recursive: true, force: true })
}
