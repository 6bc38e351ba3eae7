/**
 * `npm run bench:overload` measures throughput and delay with 8 to 640 concurrent callers. Each caller sends its next
 * request when the last one is answered, and obeys Retry-After. See README.md.
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { readDatabaseTime } from '../../src/core/clock-check.ts'
import type { Core } from '../../src/core/core.ts'
import { openSettings } from '../../src/core/settings.ts'
import { openDatabase } from '../../src/database/connection.ts'
import { migrate } from '../../src/database/migrate.ts'
import { ensureSigningKeys } from '../../src/identity/keys/rotation.ts'
import { makeSecrets } from '../../src/platform/secrets.ts'
import { startPostgres } from '../database.ts'
import { type Connection, openConnection, type Request } from '../driver.ts'
import { makeApp, makeCodes, REDIRECT_URI } from '../identity/ours.ts'
import { initiations, payments, queries, transfers, type Work } from '../payment/acts.ts'
import { makeWorld, type World } from '../payment/world.ts'
import { type ServerProcess, startServer, stopServers } from '../processes.ts'

const { values: flags } = parseArgs({
  options: {
    callers: { type: 'string', default: '8,16,32,64,128,320,640' },
    /** Acts per measurement. Each caller makes at least eight. */
    count: { type: 'string', default: '3000' },
    /** Measures only acts whose name contains this text. */
    only: { type: 'string', default: '' },
    /** Ignores Retry-After and sends again at once, which is worse than any client that obeys. */
    hasty: { type: 'boolean', default: false },
  },
})
const SECRET = 'overload-bench-'.repeat(4)
const PORT = 4950
const ACTS_A_CALLER = 8

type MakeWork = (count: number) => Promise<Work> | Work

async function actsOf(world: World): Promise<Record<string, MakeWork>> {
  const { db } = world.deps
  const sessions = await db.selectFrom('sessions').select(['id', 'user_id']).execute()
  const members = sessions.map(({ id, user_id }) => ({ id: user_id, username: '', session_id: id }))
  const { id, client_id, client_secret } = await makeApp(db, members[0]!, 'RS256')
  const basic = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`
  const exchange = (code: string): Request => ({
    method: 'POST',
    path: '/oauth2/token',
    headers: { authorization: basic },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT_URI,
    }).toString(),
  })
  const page = (n: number): Request => ({
    method: 'GET',
    path: '/account',
    headers: {
      accept: 'text/html',
      cookie: `tessera_session=${world.members[n % world.members.length]!.session}`,
    },
  })
  // A member cannot receive a transfer from their own shop, and the first members own the shops.
  const parties = { shops: world.shops, members: world.members.slice(world.shops.length) }
  return {
    initiate: (count) => initiations(count, world),
    transfer: (count) => transfers(count, parties),
    pay: (count) => payments(world, count, world),
    query: (count) => queries(world, count, world),
    token: async (count) => ({
      requests: (await makeCodes(db, id, members, count)).map(exchange),
      status: 200,
    }),
    page: (count) => ({ requests: Array.from({ length: count }, (_, n) => page(n)), status: 200 }),
  }
}

type Figures = { per_second: number; accepted: number[]; refused: number[] }

/** Sends every request until it is served, by this many concurrent callers. */
async function serveAll({ requests, status }: Work, callers: number): Promise<Figures> {
  const open = await Promise.all(Array.from({ length: callers }, () => openConnection(PORT)))
  const [accepted, refused]: [number[], number[]] = [[], []]
  let next = 0
  const ask = async (connection: Connection, request: Request) => {
    for (;;) {
      const began = performance.now()
      const answer = await connection.ask(request)
      const took = performance.now() - began
      if (answer.status === status) return accepted.push(took)
      const [, retry_after] = /\r\nretry-after: (\d+)/i.exec(answer.headers) ?? []
      if (answer.status !== 503 || retry_after === undefined)
        throw new Error(`${request.path}: ${answer.status} ${answer.headers} ${answer.body.slice(0, 300)}`)
      refused.push(took)
      // The factor spreads the callers over time.
      if (!flags.hasty) await sleep(Number(retry_after) * 1_000 * (0.75 + Math.random() / 2))
    }
  }
  const began = performance.now()
  await Promise.all(
    open.map(async (connection) => {
      while (next < requests.length) await ask(connection, requests[next++]!)
    }),
  )
  const seconds = (performance.now() - began) / 1000
  for (const connection of open) connection.close()
  return { per_second: requests.length / seconds, accepted, refused }
}

function quantile(values: number[], share: number): string {
  if (values.length === 0) return '–'
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(0)
}

const postgres = await startPostgres()
let server: ServerProcess | undefined
try {
  await migrate(postgres.url)
  const db = openDatabase(postgres.url, { max: 10, onBroken: () => {} })
  const secrets = makeSecrets(SECRET)
  const deps = {
    db,
    secrets,
    clock: () => new Date(),
    databaseTime: () => readDatabaseTime(db),
    settings: openSettings(db),
  } as Core
  await ensureSigningKeys(deps)
  const acts = await actsOf(await makeWorld(deps))
  server = await startServer(join(import.meta.dirname, '../our-server.ts'), {
    port: PORT,
    env: { DATABASE_URL: postgres.url, APP_SECRET: SECRET, LOG_LEVEL: 'error' },
  })
  console.log(
    '| | callers | served/s | median ms | p99 ms | 503 | slowest 503 ms |\n|---|---|---|---|---|---|---|',
  )
  for (const [name, makeWork] of Object.entries(acts)) {
    if (!name.includes(flags.only)) continue
    await serveAll(await makeWork(500), 8)
    for (const callers of flags.callers.split(',').map(Number)) {
      const count = Math.max(Number(flags.count), callers * ACTS_A_CALLER)
      const { per_second, accepted, refused } = await serveAll(await makeWork(count), callers)
      const columns = [
        name,
        callers,
        per_second.toFixed(0),
        quantile(accepted, 0.5),
        quantile(accepted, 0.99),
        refused.length,
        quantile(refused, 1),
      ]
      console.log(`| ${columns.join(' | ')} |`)
    }
  }
} finally {
  if (server !== undefined) await stopServers([server])
  await postgres.stop()
}
process.exit()
