/**
 * Compares payments, transfers and initiations of this checkout with those of another one: `npm run bench:payment -- --beside FOLDER`.
 * This checkout runs twice, so that the ratio of two equal servers shows the noise. Each has a database of its own.
 */
import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Measured } from '../driver.ts'
import { type ServerProcess, startServer } from '../processes.ts'
import { median, spread } from '../statistics.ts'
import type { Work } from './acts.ts'
import { over } from './rounds.ts'
import type { World } from './world.ts'

const CALLERS = 32
const COUNT = 600
const ROOT = resolve(import.meta.dirname, '../..')
/** The first members own the shops. */
const SHOPS = 50

const SIDES = ['other', 'this', 'again'] as const
type Name = (typeof SIDES)[number]
type Act = 'payments' | 'transfers' | 'initiations'
const ACTS: Act[] = ['payments', 'transfers', 'initiations']

/** What the bench of each checkout offers. */
type Acts = {
  payments: (world: World, count: number, parties: Pick<World, 'shops' | 'members'>) => Promise<Work>
  transfers: (count: number, parties: Pick<World, 'shops' | 'members'>) => Work
  initiations: (count: number, parties: Pick<World, 'shops' | 'members'>) => Work
}
type Side = { server: ServerProcess; world: World; acts: Acts }

export type Beside = {
  /** The root of the other checkout, whose dependencies are installed. */
  folder: string
  rounds: number
  /** Requests of a round, as a share of the usual number. */
  scale: number
  secret: string
  /** Makes an empty database of this name, and returns its address. */
  makeDatabase: (name: string) => Promise<string>
  postmaster: number
  onStart: (server: ServerProcess) => void
}

async function openSide(name: Name, port: number, options: Beside): Promise<Side> {
  const root = name === 'other' ? resolve(options.folder) : ROOT
  const url = await options.makeDatabase(name)
  const env = { DATABASE_URL: url, APP_SECRET: options.secret, LOG_LEVEL: 'warn' }
  await promisify(execFile)(process.execPath, ['src/cli/tessera.js', 'migrate'], {
    cwd: root,
    env: { ...process.env, ...env },
  })
  const load = (file: string) => import(join(root, file))
  const [{ openDatabase }, { openSettings }, { makeSecrets }, { makeWorld }, acts] = await Promise.all(
    ['src/database/connection.ts', 'src/core/settings.ts', 'src/platform/secrets.ts']
      .concat('bench/payment/world.ts', 'bench/payment/acts.ts')
      .map(load),
  )
  const db = openDatabase(url, { max: 10, onBroken: () => {} })
  const settings = openSettings(db)
  const world = await makeWorld(
    { db, clock: () => new Date(), secrets: makeSecrets(options.secret), settings },
    SHOPS,
  )
  const server = await startServer(join(root, 'bench/our-server.ts'), { port, env })
  options.onStart(server)
  return { server, world, acts }
}

function makeWork({ world, acts }: Side, act: Act, count: number): Promise<Work> | Work {
  const parties = { shops: world.shops, members: world.members.slice(SHOPS) }
  return act === 'payments' ? acts.payments(world, count, parties) : acts[act](count, parties)
}

/** Runs the rounds and prints the table. Round 0 warms up. */
export async function compareWithCheckout(options: Beside): Promise<void> {
  const { rounds, scale, postmaster } = options
  const sides = new Map<Name, Side>()
  for (const [i, name] of SIDES.entries()) sides.set(name, await openSide(name, 4911 + i, options))
  const results = new Map<string, Measured[]>()
  for (let round = 0; round <= rounds; round += 1)
    for (const act of ACTS)
      for (let i = 0; i < SIDES.length; i += 1) {
        // Each side is first, second and last in turn.
        const name = SIDES[(i + round) % SIDES.length]!
        const side = sides.get(name)!
        const work = await makeWork(side, act, Math.ceil(COUNT * scale))
        const measured = await over(postmaster, side.server)(work, CALLERS)
        const key = `${act} ${name}`
        if (round > 0) results.set(key, [...(results.get(key) ?? []), measured])
      }
  print((act, name) => results.get(`${act} ${name}`)!)
}

function print(resultOf: (act: Act, name: Name) => Measured[]): void {
  const figures = ['median_ms', 'per_second', 'cpu_us', 'postgres_us'] as const
  console.log('\n| | | other | this | this ÷ other | two equal | difference |\n|---|---|---|---|---|---|---|')
  for (const act of ACTS)
    for (const figure of figures) {
      const of = (name: Name) => resultOf(act, name).map((measured) => measured[figure])
      const ratios = (a: Name, b: Name) => of(a).map((value, round) => value / of(b)[round]!)
      // Both equal servers against the other one, and against each other.
      const against = [...ratios('this', 'other'), ...ratios('again', 'other')]
      const equal = ratios('again', 'this')
      const digits = figure === 'median_ms' ? 1 : 0
      const columns = [
        spread(of('other'), digits),
        spread([...of('this'), ...of('again')], digits),
        spread(against, 3),
        spread(equal, 3),
        `${((median(against) - median(equal)) * 100).toFixed(1)} %`,
      ]
      console.log(`| ${act} | ${figure} | ${columns.join(' | ')} |`)
    }
}
