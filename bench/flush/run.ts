/**
 * `npm run bench:flush` creates trades by V1 and pays orders on their page, while each flush of the disk takes as long as
 * `--flush` says, and counts the flushes that a request waits for. See README.md.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Core } from '../../src/core/core.ts'
import { type Measured, measure } from '../driver.ts'
import { CREATED, createV1 } from '../gateway/trades.ts'
import type { Work } from '../payment/acts.ts'
import type { World } from '../payment/world.ts'
import { type ServerProcess, startServer, stopServers } from '../processes.ts'
import { spread } from '../statistics.ts'
import { type SlowDisk, startSlowDisk } from './slow-disk.ts'

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    /** Milliseconds of a flush. */
    flush: { type: 'string', default: '1,10,20,40' },
    only: { type: 'string', default: '' },
    callers: { type: 'string', default: '32' },
    count: { type: 'string', default: '1600' },
    /** The folder of an earlier commit, which runs in turn with this one. */
    against: { type: 'string' },
    'cpu-prof': { type: 'boolean', default: false },
    /** Prints who asked for the flushes of each measurement. */
    askers: { type: 'boolean', default: false },
  },
})
const ACTS = ['V1 create', 'page payment'] as const
type Act = (typeof ACTS)[number]

const CALLERS = Number(flags.callers)
const COUNT = Number(flags.count)
const WARM_UP = Math.floor(COUNT / 5)
const SHOPS = 50
const SECRET = 'flush-bench-'.repeat(4)
const HERE = resolve(import.meta.dirname, '../..')

/** A service of one commit over its own Postgres, because the seals of one would delay the other. */
type Side = {
  name: string
  disk: SlowDisk
  server: ServerProcess
  world: World
  payments: (world: World, count: number, parties: Pick<World, 'shops' | 'members'>) => Promise<Work>
}

/** The modules come from the folder of the commit, because its tables belong to it. */
async function openSide(disk: SlowDisk, name: string, folder: string, port: number): Promise<Side> {
  const from = (path: string) => import(`${folder}/${path}`)
  const { url } = disk
  const { migrate } = await from('src/database/migrate.ts')
  const { openDatabase } = await from('src/database/connection.ts')
  const { openSettings } = await from('src/core/settings.ts')
  const { makeSecrets } = await from('src/platform/secrets.ts')
  const { makeWorld } = await from('bench/payment/world.ts')
  const { payments } = await from('bench/payment/acts.ts')
  await migrate(url)
  const db = openDatabase(url, { max: 10, onBroken: () => {} })
  const deps = {
    db,
    clock: () => new Date(),
    secrets: makeSecrets(SECRET),
    settings: openSettings(db),
  } as Core
  const world: World = await makeWorld(deps, SHOPS)
  const env = { DATABASE_URL: url, APP_SECRET: SECRET, LOG_LEVEL: 'warn', NOTIFY_ALLOW_CIDRS: '127.0.0.0/8' }
  const server = await startServer(`${folder}/bench/our-server.ts`, { port, env, profile: flags['cpu-prof'] })
  return { name, disk, server, world, payments }
}

let serial = 0
const pick = <T>(list: readonly T[]) => list[Math.floor(Math.random() * list.length)]!

async function workOf(act: Act, { world, payments }: Side): Promise<{ work: Work; holds: RegExp }> {
  const { shops, members } = world
  if (act === 'page payment') {
    const work = await payments(world, COUNT, { shops, members: members.slice(SHOPS) })
    return { work, holds: /^/ }
  }
  const requests = Array.from({ length: COUNT }, () => {
    serial += 1
    return createV1({ shop: pick(shops), out_trade_no: `flush-${process.pid}-${serial}` })
  })
  return { work: { requests, status: 200 }, holds: CREATED.V1 }
}

type Result = Measured & { flushes: number; askers: string[] }

async function run(act: Act, side: Side, flush_ms: number): Promise<Result> {
  const { disk } = side
  await disk.setFlush(0)
  const { work, holds } = await workOf(act, side)
  await disk.setFlush(flush_ms)
  await disk.takeAskers()
  const measured = await measure({
    servers: [side.server],
    connections: CALLERS,
    count: COUNT,
    uncounted: WARM_UP,
    status: work.status,
    request: (_, n) => work.requests[n]!,
    onAnswer(_, { body }) {
      if (!holds.test(body)) throw new Error(body.slice(0, 300))
    },
  })
  const askers = await disk.takeAskers()
  return { ...measured, flushes: askers.length / COUNT, askers }
}

function printAskers(title: string, results: Result[]): void {
  const counts = new Map<string, number>()
  for (const asker of results.flatMap(({ askers }) => askers)) {
    const name = asker.trim().replace(/\s+/g, ' ').slice(0, 70)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  console.log(`\n${title}`)
  for (const [name, count] of [...counts].sort((a, b) => b[1] - a[1])) console.log(`  ${count}  ${name}`)
}

const disks: SlowDisk[] = []
const sides: Side[] = []
try {
  const folders = [HERE, ...(flags.against === undefined ? [] : [resolve(flags.against)])]
  for (const [n, folder] of folders.entries()) {
    disks.push(await startSlowDisk())
    sides.push(await openSide(disks[n]!, n === 0 ? 'now' : 'before', folder, 4951 + n))
  }
  const acts = ACTS.filter((act) => act.includes(flags.only))
  // Warms both up: the code, the connections, and the sessions, whose last use is stored.
  for (const act of acts) for (const side of sides) for (let n = 0; n < 2; n += 1) await run(act, side, 0)
  console.log(
    '| | flush ms | requests/s | median ms | median ÷ flush | p99 ms | flushes a request | CPU µs |',
  )
  console.log('|---|---|---|---|---|---|---|---|')
  for (const act of acts)
    for (const flush_ms of flags.flush.split(',').map(Number)) {
      const results = new Map<Side, Result[]>(sides.map((side) => [side, []]))
      for (let round = 0; round < Number(flags.rounds); round += 1)
        for (const side of round % 2 === 0 ? sides : sides.toReversed())
          results.get(side)!.push(await run(act, side, flush_ms))
      for (const [{ name }, all] of results) {
        const column = (digits: number, of: (result: Result) => number) => spread(all.map(of), digits)
        const columns = [
          column(0, ({ per_second }) => per_second),
          column(1, ({ median_ms }) => median_ms),
          column(2, ({ median_ms }) => median_ms / flush_ms),
          column(1, ({ p99_ms }) => p99_ms),
          column(3, ({ flushes }) => flushes),
          column(0, ({ cpu_us }) => cpu_us),
        ]
        console.log(`| ${act}, ${name} | ${flush_ms} | ${columns.join(' | ')} |`)
        if (flags.askers) printAskers(`${act}, ${name}, ${flush_ms} ms:`, all)
      }
      const [now, before] = [...results.values()]
      if (before !== undefined) {
        const ratio = (of: (result: Result) => number) =>
          spread(
            now!.map((result, n) => of(result) / of(before[n]!)),
            2,
          )
        const ratios = [
          ratio(({ per_second }) => per_second),
          ratio(({ median_ms }) => median_ms),
          ...['', '', ''],
          ratio(({ cpu_us }) => cpu_us),
        ]
        console.log(`| ${act}, now ÷ before | ${flush_ms} | ${ratios.join(' | ')} |`)
      }
    }
} finally {
  await stopServers(sides.map(({ server }) => server))
  for (const disk of disks) await disk.stop()
}
process.exit()
