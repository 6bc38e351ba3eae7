/** Measures the database functions alone with pgbench, one act per transaction. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { RECIPIENTS_FROM } from './cases.ts'
import { makeOrders, type World } from './world.ts'

const CALLERS = 32
const TRANSACTIONS = 100

/** These statements use the default settings. */
const TRANSFER = `
  select (result).outcome from post_transfers(
    array[row(
      :app, gen_random_uuid()::text, 'txn_' || substr(md5(random()::text), 1, 24), :to,
      (select username from users where id = :to), 1 + :app % 100, now(), null
    )::asked_transfer],
    '{0.10,0.05,0.03,0.01,0.005}', '{1,1,1,1,1}', '{1000,5000,20000,50000,100000}', '{null,null,null,null,null}'
  );`
const PAYMENT = `
  select outcome from pay_orders(
    array[row(
      (select transaction_id from orders where id = (select nextval('bench_payments'))), :to,
      (select amount from orders where id = (select currval('bench_payments'))), now()
    )::asked_payment], 0.05
  );`

/** The transactions per second of each function. Undefined when pgbench is not installed. */
export async function runPgbench(world: World, url: string): Promise<Record<string, number> | undefined> {
  const { deps, shops, members } = world
  const count = CALLERS * TRANSACTIONS
  const before = await deps.db
    .selectFrom('orders')
    .select(({ fn }) => fn.max('id').as('id'))
    .executeTakeFirst()
  const first = (before?.id ?? 0n) + 1n
  await makeOrders(
    world,
    Array.from({ length: count }, (_, n) => shops[n % shops.length]!),
  )
  await sql`create sequence bench_payments start with ${sql.lit(Number(first))}`.execute(deps.db)
  const apps = shops.map(({ app_id }) => app_id)
  const payers = members.slice(RECIPIENTS_FROM).map(({ id }) => id)
  // The IDs have no gaps, so every number between the first and the last is one of them.
  const variables = `\\set app random(${apps[0]}, ${apps.at(-1)})\n\\set to random(${payers[0]}, ${payers.at(-1)})`
  const folder = await mkdtemp(join(tmpdir(), 'tessera-pgbench-'))
  try {
    const figures: Record<string, number> = {}
    for (const [name, statement] of Object.entries({ transfers: TRANSFER, payments: PAYMENT })) {
      const script = join(folder, `${name}.sql`)
      await writeFile(script, `${variables}\n${statement.replaceAll('\n', ' ').trim()}\n`)
      figures[name] = await run(script, url)
    }
    return figures
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function run(script: string, url: string): Promise<number> {
  const { hostname, port, username, password, pathname } = new URL(url)
  const env = { ...process.env, PGPASSWORD: password }
  const where = ['-h', hostname, '-p', port, '-U', username]
  const how = ['-n', '-f', script, '-c', String(CALLERS), '-j', '1', '-t', String(TRANSACTIONS)]
  const { stdout } = await promisify(execFile)('pgbench', [...where, ...how, pathname.slice(1)], { env })
  return Number(/tps = ([\d.]+)/.exec(stdout)![1])
}
