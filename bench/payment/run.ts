/**
 * `npm run bench:payment` compares payments, charges, transfers, initiations and queries over HTTP with their limits: the batch
 * functions without HTTP, our server without batching, and bare routes. `--full` compares the same requests over an
 * empty database and over one with five million paid orders. `--beside FOLDER` compares with another checkout. See README.md.
 */
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { deserialize, serialize } from 'node:v8'
import { sql } from 'kysely'
import type { Core } from '../../src/core/core.ts'
import { openSettings } from '../../src/core/settings.ts'
import { openDatabase } from '../../src/database/connection.ts'
import { migrate } from '../../src/database/migrate.ts'
import { proveBooks } from '../../src/ledger/books.ts'
import { makeSecrets } from '../../src/platform/secrets.ts'
import { postmasterOf, startPostgres } from '../database.ts'
import type { Measured } from '../driver.ts'
import { type ServerProcess, startServer, stopServers } from '../processes.ts'
import { compareWithCheckout } from './beside.ts'
import { casesOf, casesOfSizes, SIZE_TARGETS, TARGETS } from './cases.ts'
import { fill } from './full.ts'
import type { Task } from './in-process.ts'
import { runPgbench } from './pgbench.ts'
import { over, print, runRounds, type Side, warmUp } from './rounds.ts'
import { makeWorld, type World } from './world.ts'

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    /** Runs only measurements whose name, such as `query | ours`, contains this text. */
    only: { type: 'string', default: '' },
    /** Requests per round, as a share of the usual number. */
    scale: { type: 'string', default: '1' },
    'cpu-prof': { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    orders: { type: 'string', default: '5000000' },
    /** The root of another checkout, whose dependencies are installed. */
    beside: { type: 'string' },
    /** A folder that keeps the databases, because filling them takes much longer than measuring. */
    data: { type: 'string' },
  },
})
const OUR_SERVER = join(import.meta.dirname, '../our-server.ts')
const script = (name: string) => join(import.meta.dirname, name)

const BARE_SCHEMA = `
  create table bare_orders (
    id bigint generated always as identity primary key,
    order_id text not null unique,
    description text not null,
    amount bigint not null,
    created_at timestamptz not null default now()
  )`

/** A database, and the members and shops in it. */
type Site = { url: string; world: World }
const SECRET = 'payment-bench-'.repeat(4)

function depsOver(url: string): Core {
  const db = openDatabase(url, { max: 10, onBroken: () => {} })
  return { db, clock: () => new Date(), secrets: makeSecrets(SECRET), settings: openSettings(db) } as Core
}

async function openSite(url: string): Promise<Site> {
  await migrate(url)
  const world = await makeWorld(depsOver(url))
  await sql.raw('vacuum analyze').execute(world.deps.db)
  return { url, world }
}

const servers: ServerProcess[] = []
async function start(path: string, port: number, url: string, args: string[] = []): Promise<ServerProcess> {
  const env = { DATABASE_URL: url, APP_SECRET: SECRET, LOG_LEVEL: 'warn' }
  const server = await startServer(path, { port, env, args, profile: flags['cpu-prof'] })
  servers.push(server)
  return server
}

async function requireSound({ world: { deps } }: Site): Promise<void> {
  const broken = (await proveBooks(deps.db, deps.secrets)).invariants.filter(
    (invariant) => invariant.broken > 0n,
  )
  if (broken.length > 0) throw new Error(`The books do not pass: ${JSON.stringify(broken, String)}`)
}

const how = { rounds: Number(flags.rounds), scale: Number(flags.scale), only: flags.only }

async function compareWithLimits(url: string): Promise<void> {
  const site = await openSite(url)
  const { world } = site
  await sql.raw(BARE_SCHEMA).execute(world.deps.db)
  const postmaster = await postmasterOf(world.deps.db)
  const ours = await start(OUR_SERVER, 4901, url)
  const second = await start(OUR_SERVER, 4902, url)
  const unbatched = await start(OUR_SERVER, 4903, url, ['--unbatched'])
  const bare = await start(script('bare-server.ts'), 4904, url)
  const inProcess = await start(script('in-process.ts'), 4905, url)
  const driven: Side = async ({ requests, acts }, callers) => {
    const task: Task = { acts: acts!, callers, uncounted: warmUp(requests.length), postmaster }
    inProcess.process.send(task)
    const [measured] = await once(inProcess.process, 'message')
    return measured as Measured
  }
  const sides = {
    ours: over(postmaster, ours),
    two: over(postmaster, ours, second),
    unbatched: over(postmaster, unbatched),
    bare: over(postmaster, bare),
    'in process': driven,
  }
  const prove = () => requireSound(site)
  print(await runRounds({ cases: casesOf(world), sides, ...how, prove }), TARGETS)
  // Postgres accepts fifty connections, and pools keep theirs for a while.
  await stopServers(servers.splice(0))
  if ('pgbench'.includes(flags.only)) {
    console.log(
      '\npgbench, one act a transaction, 32 clients:',
      (await runPgbench(world, url)) ?? 'not installed',
    )
    await prove()
  }
  console.log('\nThe books pass, as they did after each of these.')
}

/** Opens two databases of one Postgres, and fills them when `--data` has none. */
async function openSizes(url: string): Promise<{ empty: Site; full: Site }> {
  const fullUrl = Object.assign(new URL(url), { pathname: '/full' }).href
  const file = flags.data === undefined ? undefined : join(flags.data, 'worlds.bin')
  const kept = file === undefined ? undefined : await readFile(file).catch(() => undefined)
  const sited = (at: string, parties: Omit<World, 'deps'>) => ({
    url: at,
    world: { ...parties, deps: depsOver(at) },
  })
  if (kept !== undefined) {
    const { empty, full } = deserialize(kept)
    return { empty: sited(url, empty), full: sited(fullUrl, full) }
  }
  await sql`create database "full"`.execute(depsOver(url).db)
  const [empty, full] = [await openSite(url), await openSite(fullUrl)]
  await fill(full.world, fullUrl, Number(flags.orders))
  const partiesOf = ({ world: { members, shops, mandates } }: Site) => ({ members, shops, mandates })
  if (file !== undefined) await writeFile(file, serialize({ empty: partiesOf(empty), full: partiesOf(full) }))
  return { empty, full }
}

async function compareSizes(url: string): Promise<void> {
  const { empty, full } = await openSizes(url)
  if (how.rounds > 0) {
    const postmaster = await postmasterOf(full.world.deps.db)
    const sides = {
      empty: over(postmaster, await start(OUR_SERVER, 4906, empty.url)),
      full: over(postmaster, await start(OUR_SERVER, 4907, full.url)),
    }
    const cases = casesOfSizes(empty.world, full.world)
    print(await runRounds({ cases, sides, ...how, prove: async () => {} }), SIZE_TARGETS)
  }
  for (const site of [empty, full]) await requireSound(site)
  console.log('\nThe books of both databases pass.')
}

async function compareWithOther(url: string, folder: string): Promise<void> {
  const { db } = depsOver(url)
  await compareWithCheckout({
    ...{ folder, rounds: how.rounds, scale: how.scale, secret: SECRET, postmaster: await postmasterOf(db) },
    async makeDatabase(name) {
      await sql`create database ${sql.id(name)}`.execute(db)
      return Object.assign(new URL(url), { pathname: `/${name}` }).href
    },
    onStart: (server) => servers.push(server),
  })
}

const postgres = await startPostgres(flags.data)
try {
  if (flags.beside !== undefined) await compareWithOther(postgres.url, flags.beside)
  else await (flags.full ? compareSizes(postgres.url) : compareWithLimits(postgres.url))
} finally {
  await stopServers(servers)
  await postgres.stop()
}
process.exit()
