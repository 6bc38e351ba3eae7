/**
 * `npm run bench:processes` compares several processes of the service over one Postgres with one process.
 * See README.md.
 */
import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import type { Core } from '../../src/core/core.ts'
import { openSettings } from '../../src/core/settings.ts'
import { openDatabase } from '../../src/database/connection.ts'
import { migrate } from '../../src/database/migrate.ts'
import { makeSecrets } from '../../src/platform/secrets.ts'
import { postmasterOf, startPostgres } from '../database.ts'
import type { Measured } from '../driver.ts'
import { initiations, payments, queries, transfers, type Work } from '../payment/acts.ts'
import { over } from '../payment/rounds.ts'
import { makeWorld, type World } from '../payment/world.ts'
import { type ServerProcess, startServer, stopServers } from '../processes.ts'
import { spread } from '../statistics.ts'

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    processes: { type: 'string', default: '1,2,3' },
    callers: { type: 'string', default: '64' },
    count: { type: 'string', default: '3000' },
    only: { type: 'string', default: 'payments,transfers,initiations,queries' },
    /** Gives the processes core 0 alone, and Postgres and the driver core 1. Otherwise all share all cores. */
    apart: { type: 'boolean', default: false },
  },
})
const [ROUNDS, CALLERS, COUNT] = [flags.rounds, flags.callers, flags.count].map(Number) as [
  number,
  number,
  number,
]
const NUMBERS = flags.processes.split(',').map(Number)
const SHOPS = 50
const SECRET = 'processes-bench-'.repeat(4)
/** `taskset` names them. */
const ALL_CORES = `0-${availableParallelism() - 1}`
const SERVER = resolve(import.meta.dirname, '../our-server.ts')

const ACTS: Record<string, (world: World) => Work | Promise<Work>> = {
  payments: (world) => payments(world, COUNT, buyersOf(world)),
  transfers: (world) => transfers(COUNT, buyersOf(world)),
  initiations: (world) => initiations(COUNT, world),
  queries: (world) => queries(world, COUNT, world),
}
const buyersOf = ({ shops, members }: World) => ({ shops, members: members.slice(SHOPS) })

/** The number of multixacts that Postgres has ever made: rows locked by several transactions at once. */
async function multixactsOf({ deps: { db } }: World): Promise<number> {
  const { rows } = await sql<{ made: number }>`select mxid_age('1'::xid) as made`.execute(db)
  return rows[0]!.made
}

type Result = Measured & { multixacts: number }

async function run(act: string, world: World, postmaster: number, servers: ServerProcess[]): Promise<Result> {
  const work = await ACTS[act]!(world)
  const before = await multixactsOf(world)
  const measured = await over(postmaster, ...servers)(work, CALLERS)
  return { ...measured, multixacts: (await multixactsOf(world)) - before }
}

function print(act: string, results: Map<number, Result[]>): void {
  const one = results.get(NUMBERS[0]!)!
  for (const [number, rounds] of results) {
    const column = (digits: number, of: (result: Result, round: number) => number) =>
      spread(rounds.map(of), digits)
    const columns = [
      column(0, ({ per_second }) => per_second),
      column(2, ({ per_second }, round) => per_second / one[round]!.per_second),
      column(1, ({ median_ms }) => median_ms),
      column(1, ({ p99_ms }) => p99_ms),
      column(0, ({ cpu_us }) => cpu_us),
      column(0, ({ postgres_us }) => postgres_us),
      column(0, ({ multixacts }) => multixacts),
    ]
    console.log(`| ${act} | ${number} | ${columns.join(' | ')} |`)
  }
}

if (flags.apart) execFileSync('taskset', ['-acp', '1', String(process.pid)])
const postgres = await startPostgres()
const servers: ServerProcess[] = []
try {
  await migrate(postgres.url)
  const db = openDatabase(postgres.url, { max: 10, onBroken: () => {} })
  const secrets = makeSecrets(SECRET)
  const deps = { db, clock: () => new Date(), secrets, settings: openSettings(db) } as Core
  const world = await makeWorld(deps, SHOPS)
  const postmaster = await postmasterOf(db)
  const env = { DATABASE_URL: postgres.url, APP_SECRET: SECRET, LOG_LEVEL: 'warn' }
  for (let n = 0; n < Math.max(...NUMBERS); n += 1)
    servers.push(
      await startServer(SERVER, { port: 4961 + n, env, ...(flags.apart ? {} : { cores: ALL_CORES }) }),
    )
  console.log(
    '| | processes | a second | ÷ one | median ms | p99 ms | CPU µs: processes | Postgres | multixacts |',
  )
  console.log('|---|---|---|---|---|---|---|---|---|')
  for (const act of Object.keys(ACTS).filter((name) => flags.only.split(',').includes(name))) {
    const results = new Map<number, Result[]>(NUMBERS.map((number) => [number, []]))
    // Round 0 warms up.
    for (let round = 0; round <= ROUNDS; round += 1)
      for (const number of round % 2 === 0 ? NUMBERS : NUMBERS.toReversed()) {
        const result = await run(act, world, postmaster, servers.slice(0, number))
        if (round > 0) results.get(number)!.push(result)
      }
    print(act, results)
  }
} finally {
  await stopServers(servers)
  await postgres.stop()
}
process.exit()
