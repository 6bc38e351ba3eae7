/**
 * `npm run bench:gateway` compares creating a trade by V1 and V2 with initiating a payment of the HMAC API, and with one
 * RSA-2048 signature and its check. It measures act=order too, and compares notifications with a bare loop. Rounds are
 * interleaved; it prints medians with the lowest and highest round.
 */
import { generateKeyPairSync, sign as signRsa, verify } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import type { Core } from '../../src/core/core.ts'
import { openSettings } from '../../src/core/settings.ts'
import { openDatabase } from '../../src/database/connection.ts'
import { startEmbedded } from '../../src/database/embedded/embedded.ts'
import { migrate } from '../../src/database/migrate.ts'
import { setPublicKey } from '../../src/payment/apps/key-changes.ts'
import { readPublicKey } from '../../src/payment/signing/public-key.ts'
import { ALNUM, makeSecrets, randomText } from '../../src/platform/secrets.ts'
import { type Measured, measure, type Request } from '../driver.ts'
import { initiations } from '../payment/acts.ts'
import { makeWorld, newOrderId, type Shop } from '../payment/world.ts'
import { type ServerProcess, startServer, stopServers } from '../processes.ts'
import { median, spread } from '../statistics.ts'
import { BARE_NOTIFIER, compareNotifications } from './notify.ts'
import { CREATED, createV1, createV2, type Trade } from './trades.ts'

const CALLERS = 32
const COUNT = 4_000
const SHOPS = 50
/** The trades that act=order asks for. */
const PLACED = 1_000
const OPERATIONS = 500
const SERVER = join(import.meta.dirname, '../our-server.ts')

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    /** Requests per round, as a share of the usual number. */
    scale: { type: 'string', default: '1' },
    /** `create`, which measures act=order too, or `notify`. */
    only: { type: 'string' },
    'cpu-prof': { type: 'boolean', default: false },
  },
})
const ROUNDS = Number(flags.rounds)
const count = Math.ceil(COUNT * Number(flags.scale))

/** The merchant's key pair. All shops of the bench share it. */
const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })

type Kind = 'initiate' | 'V1 create' | 'V2 create' | 'act=order'
const KINDS: Kind[] = ['initiate', 'V1 create', 'V2 create', 'act=order']

/** The work of one round: its requests, and what the body of a right answer holds. The status of a refusal is 200 too. */
type Round = { requests: Request[]; holds: RegExp }

const pick = <T>(list: readonly T[]) => list[Math.floor(Math.random() * list.length)]!
const newTrades = (shops: Shop[], number = count) =>
  Array.from({ length: number }, (): Trade => ({ shop: pick(shops), out_trade_no: newOrderId() }))

function creates(version: 'V1' | 'V2', trades: Trade[]): Round {
  const create = version === 'V1' ? createV1 : (trade: Trade) => createV2(trade, pair.privateKey)
  return { requests: trades.map(create), holds: CREATED[version] }
}

/** As the reference SDK 1.3 asks: a link with the KEY. */
function queries(trades: Trade[]): Round {
  const requests = Array.from({ length: count }, (): Request => {
    const { shop, out_trade_no } = pick(trades)
    const query = new URLSearchParams({
      act: 'order',
      pid: String(shop.pid),
      key: shop.merchant_key,
      out_trade_no,
    })
    return { method: 'GET', path: `/payment/api/api.php?${query}` }
  })
  return { requests, holds: /"code":1,.*"trade_no"/ }
}

function makeRound(kind: Kind, shops: Shop[], placed: Trade[]): Round {
  if (kind === 'act=order') return queries(placed)
  if (kind === 'initiate')
    return { requests: initiations(count, { shops }).requests, holds: /"success":true/ }
  return creates(kind === 'V1 create' ? 'V1' : 'V2', newTrades(shops))
}

/** The processor time of one signature and one check, in microseconds. */
function rsaCost(): number {
  const text = Buffer.from('x'.repeat(300))
  const before = process.cpuUsage()
  for (let i = 0; i < OPERATIONS; i += 1) {
    verify('sha256', text, pair.publicKey, signRsa('sha256', text, pair.privateKey))
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / OPERATIONS
}

function measureRound(server: ServerProcess, { requests, holds }: Round): Promise<Measured> {
  return measure({
    servers: [server],
    connections: CALLERS,
    count: requests.length,
    uncounted: Math.floor(requests.length / 5),
    request: (_, n) => requests[n]!,
    onAnswer(_, { body }) {
      if (!holds.test(body)) throw new Error(body.slice(0, 300))
    },
  })
}

async function runRounds(server: ServerProcess, shops: Shop[]) {
  const measured: Record<Kind, Measured[]> = {
    initiate: [],
    'V1 create': [],
    'V2 create': [],
    'act=order': [],
  }
  const rsa: number[] = []
  const placed = newTrades(shops, PLACED)
  await measureRound(server, creates('V1', placed))
  // Round 0 is a warm-up and is not counted.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const kind of round % 2 === 0 ? KINDS : KINDS.toReversed()) {
      const result = await measureRound(server, makeRound(kind, shops, placed))
      if (round > 0) measured[kind].push(result)
    }
    if (round > 0) rsa.push(rsaCost())
  }
  return { measured, rsa }
}

function print({ measured, rsa }: Awaited<ReturnType<typeof runRounds>>): void {
  console.log('\n| | requests/s | p99 ms | CPU µs of the process |\n|---|---|---|---|')
  for (const kind of KINDS) {
    const column = (figure: keyof Measured, digits = 0) =>
      spread(
        measured[kind].map((each) => each[figure]),
        digits,
      )
    console.log(`| ${kind} | ${column('per_second')} | ${column('p99_ms', 1)} | ${column('cpu_us')} |`)
  }
  console.log(`| one RSA-2048 signature and its check | | | ${spread(rsa)} |`)
  const ratios = (make: (round: number) => number) => rsa.map((_, round) => make(round))
  const figures = (kind: Kind, round: number) => measured[kind][round]!
  const rate = ratios(
    (round) => figures('V1 create', round).per_second / figures('initiate', round).per_second,
  )
  const cost = ratios(
    (round) => (figures('V2 create', round).cpu_us - figures('V1 create', round).cpu_us) / rsa[round]!,
  )
  const verdict = (isMet: boolean) => (isMet ? 'yes' : 'no')
  console.log('\n| | ratio | target | met |\n|---|---|---|---|')
  console.log(
    `| requests/s, V1 create ÷ initiate | ${spread(rate, 2)} | ≥ 0.8 | ${verdict(median(rate) >= 0.8)} |`,
  )
  console.log(
    `| CPU, (V2 create − V1 create) ÷ signature and check | ${spread(cost, 2)} | ≤ 1.5 | ${verdict(median(cost) <= 1.5)} |`,
  )
}

const dataDir = await mkdtemp(join(tmpdir(), 'tessera-bench-'))
const postgres = await startEmbedded({ dataDir })
const servers: ServerProcess[] = []
try {
  await migrate(postgres.url)
  const db = openDatabase(postgres.url, { max: 10, onBroken: () => {} })
  const secret = randomText(64, ALNUM)
  const clock = () => new Date()
  const deps = { db, clock, secrets: makeSecrets(secret), settings: openSettings(db) } as Core
  const { shops } = await makeWorld(deps, SHOPS)
  const key = readPublicKey(pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(), '')
  if (typeof key === 'string') throw new Error(`The key of the bench is refused: ${key}`)
  for (const { payment_id, owner_id } of shops)
    await setPublicKey(deps, payment_id, key, { user_id: owner_id, ip: '127.0.0.1' })
  await sql.raw('vacuum analyze').execute(db)
  const env = {
    DATABASE_URL: postgres.url,
    APP_SECRET: secret,
    LOG_LEVEL: 'warn',
    NOTIFY_ALLOW_CIDRS: '127.0.0.0/8',
  }
  const ours = await startServer(SERVER, { port: 4921, env, profile: flags['cpu-prof'] })
  servers.push(ours)
  if (flags.only !== 'notify') print(await runRounds(ours, shops))
  if (flags.only !== 'create') {
    const bare = await startServer(BARE_NOTIFIER, { port: 4922 })
    servers.push(bare)
    await compareNotifications({ deps, ours, bare, rounds: ROUNDS, scale: Number(flags.scale) })
  }
  await db.destroy()
} finally {
  await stopServers(servers)
  await postgres.stop()
  await rm(dataDir, { recursive: true, force: true })
}
process.exit()
