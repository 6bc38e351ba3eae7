/**
 * `npm run bench:beside` measures what the worker does beside payments: whether the sealer keeps up with transfers at a steady `--rate`
 * for `--seconds`, in one process with them, and how long it takes to claim the forum's next member while `--members` are due.
 */
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { claimNextMember } from '../../src/accounts/forum-sync/sweep.ts'
import type { Core } from '../../src/core/core.ts'
import { openSettings } from '../../src/core/settings.ts'
import { type Db, openDatabase } from '../../src/database/connection.ts'
import { migrate } from '../../src/database/migrate.ts'
import { proveBooks } from '../../src/ledger/books.ts'
import { makeSealer } from '../../src/ledger/seal.ts'
import { makePostTransfer } from '../../src/payment/orders/transfers.ts'
import { makeSecrets } from '../../src/platform/secrets.ts'
import { startPostgres } from '../database.ts'
import { p99 } from '../driver.ts'
import { median } from '../statistics.ts'

const { values: flags } = parseArgs({
  options: {
    rate: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '60' },
    members: { type: 'string', default: '200000' },
  },
})
const [RATE, SECONDS, MEMBERS] = [flags.rate, flags.seconds, flags.members].map(Number) as [
  number,
  number,
  number,
]
const CALLERS = 64
/** The first members own an application each. */
const OWNERS = 40
/** The worker's wait between two rounds of the sealer. */
const SEAL_ROUND_MS = 5_000
const CLAIMS = 200

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Every member is of the forum and due, as after an outage, and one in ten has a session. */
const PEOPLE = [
  `insert into users (username, trust_level, forum_id)
   select 'member' || n, 2, n from generate_series(1, ${MEMBERS}) as n`,
  `insert into forum_members (user_id, username, checked_at, next_check_at, score_due_at)
   select id, username, now() - interval '2 days' - id * interval '1 millisecond', now() - interval '1 day' - id * interval '1 millisecond', now()
   from users`,
  `insert into sessions (token_hash, user_id, auth_time, amr, ip, agent, expires_at, sid)
   select sha256(id::text::bytea), id, now(), '{pwd}', '203.0.113.7', 'bench', now() + interval '1 day', left(md5(id::text), 22)
   from users where id % 10 = 0`,
  `insert into payment_apps (payment_id, applicant_id, name, description, callback_url, status, reviewed_by, reviewed_at)
   select 'pay_' || lpad(id::text, 20, '0'), id, 'Shop of ' || username, '', 'https://shop.example/paid', 'approved', id, now()
   from users where id <= ${OWNERS}`,
  `select post_points(array_agg(id), array_agg(1000000000::bigint), array_agg(username), 'bench', null, now()) from users where id <= ${OWNERS}`,
  'analyze',
]

async function measureClaims(deps: Core): Promise<void> {
  const times: number[] = []
  for (let n = 0; n < CLAIMS; n += 1) {
    const began = performance.now()
    if ((await claimNextMember(deps, 'any')) === undefined) throw new Error('No member was due')
    times.push(performance.now() - began)
  }
  console.log(
    `${MEMBERS} members due: a claim takes ${median(times).toFixed(1)} ms, the 99th percentile ${p99(times).toFixed(1)} ms`,
  )
}

const unsealed = async (db: Db): Promise<number> => {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from journal where id > (select sealed_to from journal_sealing)`.execute(db)
  return Number(rows[0]!.count)
}

/** Sends transfers at the rate, from `CALLERS` callers, each due at its time. Returns the milliseconds from that time to the answer. */
async function sendAtRate(deps: Core): Promise<number[]> {
  const send = makePostTransfer(deps)
  const times: number[] = []
  const start = performance.now()
  let next = 0
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      for (let n = next++; n < RATE * SECONDS; n = next++) {
        const due = start + (n * 1000) / RATE
        const wait = due - performance.now()
        if (wait > 0) await sleep(wait)
        const to_user_id = BigInt(OWNERS + 1 + (n % 1_000))
        const to = { to_user_id, to_username: `member${to_user_id}` }
        await send({ ...to, app_id: BigInt(1 + (n % OWNERS)), order_id: `transfer-${n}`, amount: 5n })
        times.push(performance.now() - due)
      }
    }),
  )
  const seconds = (performance.now() - start) / 1000
  console.log(`transfers: ${Math.round((RATE * SECONDS) / seconds)} a second over ${Math.round(seconds)} s`)
  return times
}

async function measureSealing(deps: Core): Promise<void> {
  let isOver = false
  const waiting: number[] = []
  const watch = async () => {
    for (; !isOver; await sleep(1_000)) waiting.push(await unsealed(deps.db))
  }
  const seal = makeSealer(deps)
  const sealing = async () => {
    for (; !isOver; await sleep(SEAL_ROUND_MS)) await seal()
  }
  const besides = [watch(), sealing()]
  const times = await sendAtRate(deps)
  const left = await unsealed(deps.db)
  isOver = true
  await Promise.all(besides)
  const began = performance.now()
  while ((await unsealed(deps.db)) > 0) await seal()
  console.log(
    `  a transfer: median ${median(times).toFixed(0)} ms, 99th percentile ${p99(times).toFixed(0)} ms`,
  )
  console.log(
    `  unsealed: ${Math.max(...waiting)} at most, ${left} at the end, sealed ${(
      (performance.now() - began) / 1000
    ).toFixed(1)} s later; each second: ${waiting.join(' ')}`,
  )
  const proof = performance.now()
  const { isSound } = await proveBooks(deps.db, deps.secrets)
  if (!isSound) throw new Error('The books do not pass')
  console.log(`  the books are proven in ${((performance.now() - proof) / 1000).toFixed(1)} s`)
}

const postgres = await startPostgres()
try {
  await migrate(postgres.url)
  const db = openDatabase(postgres.url, { max: 10, onBroken: () => {} })
  await db.connection().execute(async (connection) => {
    await sql`set statement_timeout = 0`.execute(connection)
    for (const statement of PEOPLE) await sql.raw(statement).execute(connection)
    await sql`reset statement_timeout`.execute(connection)
  })
  const deps = {
    db,
    secrets: makeSecrets('beside-bench-'.repeat(4)),
    clock: () => new Date(),
    settings: openSettings(db),
  } as Core
  await measureClaims(deps)
  await measureSealing(deps)
  await db.destroy()
} finally {
  await postgres.stop()
}
process.exit()
