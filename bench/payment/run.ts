/**
 * `npm run bench:payment`: payments, transfers, initiations and queries over HTTP beside their limits: the batch
 * functions without HTTP, our own server without batching, and bare routes. Rounds are interleaved; what is printed
 * are medians, with the lowest and highest round behind them.
 */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { openDatabase } from '../../src/database/connection.ts'
import { startEmbedded } from '../../src/database/embedded.ts'
import { migrate } from '../../src/database/migrate.ts'
import type { Deps } from '../../src/deps.ts'
import { proveBooks } from '../../src/ledger/books.ts'
import { ALNUM, makeSecrets, randomText } from '../../src/secrets.ts'
import { openSettings } from '../../src/settings.ts'
import { type Measured, measure } from '../driver.ts'
import { type ServerProcess, startServer, stopServers } from '../processes.ts'
import { median, spread } from '../statistics.ts'
import {
  bareInserts,
  bareSelects,
  initiations,
  type Parties,
  payments,
  queries,
  transfers,
  type Work,
} from './acts.ts'
import type { Task } from './in-process.ts'
import { makeWorld, type World } from './world.ts'

const CALLERS = 32
/** Members who own no application: a transfer to its own applicant is refused. */
const RECIPIENTS_FROM = 200

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    /** Only the measurements whose name, such as `query | ours`, holds this. */
    only: { type: 'string', default: '' },
    /** Requests a round, as a share of the usual number. */
    scale: { type: 'string', default: '1' },
    'cpu-prof': { type: 'boolean', default: false },
  },
})
const ROUNDS = Number(flags.rounds)
const SCALE = Number(flags.scale)

type SideName = 'ours' | 'in process' | 'unbatched' | 'bare' | 'two'
type Side = (work: Work, callers: number) => Promise<Measured>
type Case = {
  name: string
  callers: number
  count: number
  sides: Partial<Record<SideName, (count: number) => Promise<Work> | Work>>
}

function casesOf(world: World): Case[] {
  const { shops, members } = world
  const all: Parties = { shops, members: members.slice(RECIPIENTS_FROM) }
  const hotMember: Parties = { shops, members: members.slice(-1) }
  const hotShop: Parties = { shops: shops.slice(0, 1), members: all.members }
  const sides = (names: SideName[], make: (count: number) => Promise<Work> | Work) =>
    Object.fromEntries(names.map((name) => [name, make])) as Case['sides']
  const transferring = (parties: Parties) => (count: number) => transfers(count, parties)
  const paying = (parties: Parties) => (count: number) => payments(world, count, parties)
  const usual = { callers: CALLERS, count: 4_000 }
  return [
    {
      ...usual,
      name: 'transfers, many recipients',
      sides: sides(['ours', 'in process', 'unbatched', 'two'], transferring(all)),
    },
    {
      ...usual,
      name: 'transfers, one recipient',
      sides: sides(['ours', 'unbatched'], transferring(hotMember)),
    },
    {
      ...usual,
      name: 'transfers, one applicant',
      sides: sides(['ours', 'unbatched'], transferring(hotShop)),
    },
    {
      name: 'transfers, one caller',
      callers: 1,
      count: 500,
      sides: sides(['ours', 'unbatched'], transferring(all)),
    },
    {
      ...usual,
      name: 'payments, many merchants',
      sides: sides(['ours', 'in process', 'unbatched', 'two'], paying(all)),
    },
    { ...usual, name: 'payments, one merchant', sides: sides(['ours', 'unbatched'], paying(hotShop)) },
    {
      name: 'payments, one caller',
      callers: 1,
      count: 500,
      sides: sides(['ours', 'unbatched'], paying(all)),
    },
    {
      ...usual,
      name: 'initiate',
      sides: { ours: (count) => initiations(count, all), bare: bareInserts },
    },
    { ...usual, name: 'initiate, one merchant', sides: { ours: (count) => initiations(count, hotShop) } },
    {
      ...usual,
      name: 'query',
      sides: { ours: (count) => queries(world, count, all), bare: (count) => bareSelects(world, count, all) },
    },
  ]
}

const warmUp = (count: number) => Math.floor(count / 5)

type Results = Map<string, Measured[]>
const keyOf = (name: string, side: string) => `${name} | ${side}`

async function runRounds(cases: Case[], sides: Record<SideName, Side>): Promise<Results> {
  const results: Results = new Map()
  // Round 0 warms everything up and is not counted. So does the beginning of each measurement, because connections
  // that were idle are closed, and new ones have plans to make.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const { name, callers, count, sides: prepare } of cases) {
      const names = (Object.keys(prepare) as SideName[]).filter((side) =>
        keyOf(name, side).includes(flags.only),
      )
      for (const side of round % 2 === 0 ? names : names.reverse()) {
        const work = await prepare[side]!(Math.ceil(count * SCALE))
        const measured = await sides[side](work, callers)
        if (round === 0) continue
        const key = keyOf(name, side)
        results.set(key, [...(results.get(key) ?? []), measured])
      }
    }
  }
  return results
}

/** One part of the targets: the measured ratio of two sides, round by round. */
type Target = {
  name: string
  of: [numerator: string, denominator: string]
  figure: 'per_second' | 'p99_ms'
  least?: number
  most?: number
}

const OURS = (name: string) => keyOf(name, 'ours')
const TARGETS: Target[] = [
  ...(['transfers, many recipients', 'payments, many merchants'] as const).map((name, n) => ({
    name: `${name} ÷ in process`,
    of: [OURS(name), keyOf(name, 'in process')] as [string, string],
    figure: 'per_second' as const,
    least: [0.5, 0.35][n]!,
  })),
  ...(
    [
      ['transfers, many recipients', 1.8],
      ['transfers, one recipient', 4],
      ['payments, one merchant', 4],
      ['transfers, one caller', 0.95],
      ['payments, one caller', 0.95],
    ] as const
  ).map(([name, least]) => ({
    name: `${name} ÷ unbatched`,
    of: [OURS(name), keyOf(name, 'unbatched')] as [string, string],
    figure: 'per_second' as const,
    least,
  })),
  ...(['transfers, many recipients', 'transfers, one recipient', 'payments, one merchant'] as const).map(
    (name) => ({
      name: `p99 of ${name} ÷ unbatched`,
      of: [OURS(name), keyOf(name, 'unbatched')] as [string, string],
      figure: 'p99_ms' as const,
      most: 0.5,
    }),
  ),
  {
    name: 'initiate ÷ bare durable insert',
    of: [OURS('initiate'), keyOf('initiate', 'bare')],
    figure: 'per_second',
    least: 2,
  },
  {
    name: 'query ÷ bare select',
    of: [OURS('query'), keyOf('query', 'bare')],
    figure: 'per_second',
    least: 0.6,
  },
  ...(
    [
      ['transfers, one recipient', 'transfers, many recipients'],
      ['transfers, one applicant', 'transfers, many recipients'],
      ['payments, one merchant', 'payments, many merchants'],
      ['initiate, one merchant', 'initiate'],
    ] as const
  ).map(([hot, uniform]) => ({
    name: `${hot} ÷ many`,
    of: [OURS(hot), OURS(uniform)] as [string, string],
    figure: 'per_second' as const,
    least: 0.85,
  })),
  ...(['transfers, many recipients', 'payments, many merchants'] as const).map((name) => ({
    name: `${name}, two processes ÷ one`,
    of: [keyOf(name, 'two'), OURS(name)] as [string, string],
    figure: 'per_second' as const,
    least: 0.8,
  })),
]

function print(results: Results): void {
  console.log('\n| | requests/s | p99 ms | CPU µs: process | Postgres |\n|---|---|---|---|---|')
  for (const [key, rounds] of results) {
    const column = (figure: keyof Measured, digits: number) =>
      spread(
        rounds.map((each) => each[figure]),
        digits,
      )
    console.log(
      `| ${key.replace(' | ', ': ')} | ${column('per_second', 0)} | ${column('p99_ms', 1)} | ${column('cpu_us', 0)} | ${column('postgres_us', 0)} |`,
    )
  }
  console.log('\n| | ratio | target | met |\n|---|---|---|---|')
  for (const { name, of, figure, least, most } of TARGETS) {
    const [a, b] = of.map((key) => results.get(key)) as [Measured[], Measured[]]
    if (a === undefined || b === undefined) continue
    const ratios = a.map((each, round) => each[figure] / b[round]![figure])
    const isMet = median(ratios) >= (least ?? 0) && median(ratios) <= (most ?? Number.POSITIVE_INFINITY)
    const target = least === undefined ? `≤ ${most}` : `≥ ${least}`
    console.log(`| ${name} | ${spread(ratios, 2)} | ${target} | ${isMet ? 'yes' : 'no'} |`)
  }
}

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

const dataDir = await mkdtemp(join(tmpdir(), 'tessera-bench-'))
const postgres = await startEmbedded({ dataDir })
const servers: ServerProcess[] = []
try {
  await migrate(postgres.url)
  const db = openDatabase(postgres.url, { max: 10, onBroken: () => {} })
  const secret = randomText(64, ALNUM)
  const deps = {
    db,
    clock: () => new Date(),
    secrets: makeSecrets(secret),
    settings: openSettings(db),
  } as Deps
  const world = await makeWorld(deps)
  await sql.raw(BARE_SCHEMA).execute(db)
  const { rows } = await sql<{ pid: string }>`select pg_read_file('postmaster.pid') as pid`.execute(db)
  const postmaster = Number.parseInt(rows[0]!.pid, 10)
  await sql.raw('vacuum analyze').execute(db)

  const env = { DATABASE_URL: postgres.url, APP_SECRET: secret, LOG_LEVEL: 'warn' }
  const start = async (path: string, port: number, args: string[] = []) => {
    const node = path === OUR_SERVER ? ['--max-semi-space-size=4'] : []
    const server = await startServer(path, { port, env, args, node, profile: flags['cpu-prof'] })
    servers.push(server)
    return server
  }
  const ours = await start(OUR_SERVER, 4901)
  const second = await start(OUR_SERVER, 4902)
  const unbatched = await start(OUR_SERVER, 4903, ['--unbatched'])
  const bare = await start(script('bare-server.ts'), 4904)
  const inProcess = await start(script('in-process.ts'), 4905)
  const over =
    (...endpoints: ServerProcess[]): Side =>
    ({ requests, status }, callers) =>
      measure({
        servers: endpoints,
        connections: callers,
        count: requests.length,
        uncounted: warmUp(requests.length),
        postmaster,
        status,
        request: (_, n) => requests[n]!,
      })
  const sides: Record<SideName, Side> = {
    ours: over(ours),
    two: over(ours, second),
    unbatched: over(unbatched),
    bare: over(bare),
    'in process': async ({ requests, acts }, callers) => {
      const task: Task = { acts: acts!, callers, uncounted: warmUp(requests.length), postmaster }
      inProcess.process.send(task)
      const [measured] = await once(inProcess.process, 'message')
      return measured as Measured
    },
  }
  print(await runRounds(casesOf(world), sides))
  const broken = (await proveBooks(db)).invariants.filter((invariant) => invariant.broken > 0n)
  if (broken.length > 0) throw new Error(`The books do not pass: ${JSON.stringify(broken, String)}`)
  console.log('\nThe books pass.')
  await db.destroy()
} finally {
  await stopServers(servers)
  await postgres.stop()
  await rm(dataDir, { recursive: true, force: true })
}
process.exit()
