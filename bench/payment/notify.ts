/**
 * `npm run bench:notify` measures how fast a process sends the notifications that are due, and the processor time that each takes.
 * `--beside FOLDER` measures another checkout in alternating rounds. See README.md.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { openDatabase } from '../../src/database/connection.ts'
import { postmasterOf, startPostgres } from '../database.ts'
import { cpuSeconds, treeSeconds } from '../driver.ts'
import { type ServerProcess, startServer, stopServers } from '../processes.ts'
import { spread } from '../statistics.ts'
import type { Work } from './notify-sender.ts'

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '8' },
    /** Notifications of a measurement. */
    count: { type: 'string', default: '1000' },
    /** The root of another checkout, whose dependencies are installed. */
    beside: { type: 'string' },
    /** Runs only cases whose name contains this text. */
    only: { type: 'string', default: '' },
    'cpu-prof': { type: 'boolean', default: false },
  },
})

/** A shop takes a random part of `answers_ms` to answer. */
type Case = { name: string; hosts: number; shops: number; answers_ms: number }
const CASES: Case[] = [0, 40]
  .flatMap((answers_ms) => [
    { name: `16 hosts, 200 shops, ${answers_ms} ms`, hosts: 16, shops: 200, answers_ms },
    { name: `1 host, 200 shops, ${answers_ms} ms`, hosts: 1, shops: 200, answers_ms },
    { name: `1 host, 1 shop, ${answers_ms} ms`, hosts: 1, shops: 1, answers_ms },
  ])
  .filter(({ name }) => name.includes(flags.only))
const SECRET = 'notify-bench-'.repeat(4)

type Figures = { per_second: number; cpu_us: number; postgres_us: number }
type Side = { name: string; sender: ServerProcess; results: Map<Case, Figures[]> }

let answers_ms = 0
let expected = 0
let onLast = () => {}
/** All shops, at every address of loopback. */
const receiver = createServer((_request, response) => {
  setTimeout(() => response.end('success'), Math.random() * answers_ms)
  expected -= 1
  if (expected === 0) onLast()
}).listen(0, '0.0.0.0')
await once(receiver, 'listening')
const { port } = receiver.address() as AddressInfo

/** Returns the number of notifications that are not delivered after the work. */
async function ask({ process: child }: ServerProcess, work: Work): Promise<number> {
  const over = new AbortController()
  const { signal } = over
  const ended = once(child, 'exit', { signal }).then(() => Promise.reject(new Error('A sender ended')))
  child.send(work)
  try {
    const [undelivered] = await Promise.race([once(child, 'message', { signal }), ended])
    return undelivered
  } finally {
    over.abort()
  }
}

async function measure(
  { sender }: Side,
  { hosts, shops, ...kind }: Case,
  postmaster: number,
): Promise<Figures> {
  const count = Number(flags.count)
  await ask(sender, {
    orders: Array.from({ length: count }, (_, n) => ({
      shop: n % shops,
      notify_url: `http://127.0.0.${1 + (n % hosts)}:${port}/paid`,
    })),
  })
  answers_ms = kind.answers_ms
  expected = count
  const last = new Promise<void>((resolve) => {
    onLast = resolve
  })
  const cpu = () => Promise.all([cpuSeconds([sender.pid]), treeSeconds(postmaster)])
  const before = await cpu()
  const start = performance.now()
  await ask(sender, 'start')
  await last
  const undelivered = await ask(sender, 'stop')
  const seconds = (performance.now() - start) / 1000
  if (undelivered > 0) throw new Error(`${undelivered} notifications were not delivered`)
  const [cpu_us, postgres_us] = (await cpu()).map((after, i) => ((after - before[i]!) * 1e6) / count)
  return { per_second: count / seconds, cpu_us: cpu_us!, postgres_us: postgres_us! }
}

function print(sides: Side[]): void {
  const figures = (measure: (figure: keyof Figures) => string) =>
    `${measure('per_second')} | ${measure('cpu_us')} | ${measure('postgres_us')} |`
  console.log('\n| | | notifications/s | CPU µs: process | Postgres |\n|---|---|---|---|---|')
  for (const each of CASES) {
    for (const { name, results } of sides)
      console.log(
        `| ${each.name} | ${name} | ${figures((figure) => spread(results.get(each)!.map((r) => r[figure])))}`,
      )
    if (sides.length < 2) continue
    const [ours, other] = sides.map(({ results }) => results.get(each)!) as [Figures[], Figures[]]
    const ratios = (figure: keyof Figures) => ours.map((r, round) => r[figure] / other[round]![figure])
    console.log(`| ${each.name} | here ÷ beside | ${figures((figure) => spread(ratios(figure), 2))}`)
  }
}

const postgres = await startPostgres()
const senders: ServerProcess[] = []
try {
  const db = openDatabase(postgres.url, { max: 1, onBroken: () => {} })
  const postmaster = await postmasterOf(db)
  const open = async (name: string, root: string): Promise<Side> => {
    await sql.raw(`create database "${name}"`).execute(db)
    const url = Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href
    const env = {
      DATABASE_URL: url,
      APP_SECRET: SECRET,
      NOTIFY_ALLOW_CIDRS: '127.0.0.0/8',
      LOG_LEVEL: 'warn',
    }
    const script = join(import.meta.dirname, 'notify-sender.ts')
    const sender = await startServer(script, { port, env, args: [root], profile: flags['cpu-prof'] })
    senders.push(sender)
    return { name, sender, results: new Map() }
  }
  const sides = [await open('here', join(import.meta.dirname, '../..'))]
  if (flags.beside !== undefined) sides.push(await open('beside', flags.beside))
  for (let round = 0; round <= Number(flags.rounds); round += 1)
    for (const each of CASES)
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        const figures = await measure(side, each, postmaster)
        // Round 0 is a warm-up.
        if (round > 0) side.results.set(each, [...(side.results.get(each) ?? []), figures])
      }
  print(sides)
} finally {
  await stopServers(senders)
  await postgres.stop()
}
process.exit()
