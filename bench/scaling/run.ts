/**
 * `npm run bench:scaling` measures the disk space, WAL and processor time of a payment (placed, paid, sealed) and of a
 * transfer. 32 callers call the functions of the money path without HTTP, `--count` times for each act.
 */
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import type { Core } from '../../src/core/core.ts'
import { openSettings } from '../../src/core/settings.ts'
import { type Db, openDatabase } from '../../src/database/connection.ts'
import { migrate } from '../../src/database/migrate.ts'
import { proveBooks } from '../../src/ledger/books.ts'
import { makeSealer } from '../../src/ledger/seal.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { makePlaceOrder } from '../../src/payment/orders/place.ts'
import { makePostTransfer } from '../../src/payment/orders/transfers.ts'
import { makeSecrets } from '../../src/platform/secrets.ts'
import { postmasterOf, startPostgres } from '../database.ts'
import { cpuSeconds, measureCalls, treeSeconds } from '../driver.ts'

const { values: flags } = parseArgs({
  options: {
    count: { type: 'string', default: '5000' },
  },
})
const COUNT = Number(flags.count)
const CALLERS = 32
const MEMBERS = 200
/** The first members own an application each, and the others pay. */
const OWNERS = 40

const PEOPLE = [
  `insert into users (username, password_hash, trust_level)
   select 'member' || n, 'none', 2 from generate_series(1, ${MEMBERS}) as n`,
  `insert into payment_apps (payment_id, applicant_id, name, description, callback_url, status, reviewed_by, reviewed_at)
   select 'pay_' || lpad(id::text, 20, '0'), id, 'Shop of ' || username, '', 'https://shop.example/paid', 'approved', id, now()
   from users where id <= ${OWNERS}`,
  `select post_points(array_agg(id), array_agg(1000000000::bigint), array_agg(username), 'bench', null, now()) from users`,
]

/** A request as an application's server sends it. */
const RECEIVED = {
  method: 'POST',
  path: '/payment/pay/pay_00000000000000000001/process',
  ip: '203.0.113.7',
  parameters: [
    ['amount', '57'],
    ['description', 'Something of the shop'],
    ['order_id', 'order-12345'],
    ['signature', null],
  ] as [string, string | null][],
  left_out: 0,
}

let serial = 0
const from = (first: number, last: number) => first + Math.floor(Math.random() * (last - first + 1))
const anyApp = () => BigInt(from(1, OWNERS))
const anyPayer = () => BigInt(from(OWNERS + 1, MEMBERS))
const drive = (call: (n: number) => Promise<unknown>) =>
  measureCalls({ callers: CALLERS, count: COUNT, pids: [], call: (_, n) => call(n) })

async function payments(deps: Core): Promise<void> {
  const [place, pay] = [makePlaceOrder(deps), makePayOrder(deps)]
  const orders: Awaited<ReturnType<typeof place>>[] = []
  await drive(async () => {
    serial += 1
    const order = { order_id: `order-${serial}`, description: 'Something of the shop', received: RECEIVED }
    orders.push(await place({ ...order, app_id: anyApp(), amount: BigInt(from(1, 100)) }))
  })
  await drive(async (n) => {
    const { transaction_id, amount } = orders[n]!
    const outcome = await pay({ transaction_id, payer_id: anyPayer(), expected_amount: BigInt(amount) })
    if (outcome !== 'paid') throw new Error(`A payment ended as ${outcome}`)
  })
  await sealAll(deps)
}

async function transfers(deps: Core): Promise<void> {
  const send = makePostTransfer(deps)
  await drive(() => {
    serial += 1
    const to_user_id = anyPayer()
    const to = { to_user_id, to_username: `member${to_user_id}` }
    return send({ ...to, app_id: anyApp(), order_id: `transfer-${serial}`, amount: 5n })
  })
  await sealAll(deps)
}

async function sealAll(deps: Core): Promise<void> {
  const seal = makeSealer(deps)
  for (;;) {
    await seal()
    const { rows } = await sql`
      select from journal_sealing where sealed_to >= (select max(id) from journal)`.execute(deps.db)
    if (rows.length > 0) return
  }
}

/** The total size of each table and the size of its indexes, in bytes. */
async function sizesOf(db: Db): Promise<Map<string, { bytes: number; indexes: number }>> {
  await sql.raw('vacuum').execute(db)
  const { rows } = await sql<{ name: string; bytes: bigint; indexes: bigint }>`
    select relname as name, pg_total_relation_size(oid) as bytes, pg_indexes_size(oid) as indexes
    from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`.execute(db)
  return new Map(
    rows.map(({ name, bytes, indexes }) => [name, { bytes: Number(bytes), indexes: Number(indexes) }]),
  )
}

async function walOf(db: Db): Promise<number> {
  const { rows } = await sql<{ at: bigint }>`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint as at`.execute(db)
  return Number(rows[0]!.at)
}

/** Runs the act twice and prints the second run, in which pages are split and rows are freed. */
async function printCost(
  name: string,
  deps: Core,
  postmaster: number,
  act: (deps: Core) => Promise<void>,
): Promise<void> {
  const usage = async () =>
    [
      await walOf(deps.db),
      (await cpuSeconds([process.pid])) * 1e6,
      (await treeSeconds(postmaster)) * 1e6,
    ] as const
  await act(deps)
  const [sizes, used] = [await sizesOf(deps.db), await usage()]
  await act(deps)
  const figures = (await usage()).map((after, n) => Math.round((after - used[n]!) / COUNT))
  const grown = [...(await sizesOf(deps.db))]
    .map(([table, after]) => {
      const before = sizes.get(table)
      const bytes = (after.bytes - (before?.bytes ?? 0)) / COUNT
      return { table, bytes, indexes: (after.indexes - (before?.indexes ?? 0)) / COUNT }
    })
    .filter(({ bytes }) => bytes >= 1)
    .sort((a, b) => b.bytes - a.bytes)
  const total = Math.round(grown.reduce((sum, { bytes }) => sum + bytes, 0))
  const parts = grown.map(
    ({ table, bytes, indexes }) => `${table} ${Math.round(bytes)} (${Math.round(indexes)})`,
  )
  console.log(`| ${name} | ${[total, ...figures].join(' | ')} | ${parts.join(', ')} |`)
}

const postgres = await startPostgres()
try {
  await migrate(postgres.url)
  const db = openDatabase(postgres.url, { max: 10, onBroken: () => {} })
  for (const statement of PEOPLE) await sql.raw(statement).execute(db)
  const postmaster = await postmasterOf(db)
  const secrets = makeSecrets('scaling-bench-'.repeat(4))
  const deps = { db, secrets, clock: () => new Date(), settings: openSettings(db) } as Core
  console.log('| | bytes | WAL | CPU µs: process | Postgres | bytes by table (of them indexes) |')
  console.log('|---|---|---|---|---|---|')
  await printCost('payment', deps, postmaster, payments)
  await printCost('transfer', deps, postmaster, transfers)
  const { isSound } = await proveBooks(db, secrets)
  if (!isSound) throw new Error('The books do not pass')
  await db.destroy()
} finally {
  await postgres.stop()
}
process.exit()
