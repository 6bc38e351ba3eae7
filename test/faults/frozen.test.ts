/**
 * Two processes over one database. One is stopped (SIGSTOP) in the middle of a transfer by hand, with its locks held: the
 * other goes on, and only those who need what is locked wait until the database ends the frozen transaction.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Db, openDatabase } from '../../src/database/connection.ts'
import { migrate } from '../../src/database/migrate.ts'
import { liftTimeouts } from '../../src/database/timeouts.ts'
import { untilBlocked } from '../harness/blocked.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { TEMPLATE } from '../harness/global-setup.ts'
import { createDatabase } from '../harness/harness.ts'
import { merchantSign } from '../harness/merchant.ts'
import { type ServerProcess, startServer, stopServer } from '../harness/server-process.ts'
import { APP_SECRET, type Buyer, makeBuyer, makeShop, type Shop } from './world.ts'

const BUYERS = 6
/** Far above what it takes, on the slowest machine: without the timeouts it would be for ever. */
const BOUND_MS = 20_000

let database: { url: string; drop: () => Promise<void> }
let dataDir: string
let db: Db
let env: Record<string, string>
let second: ServerProcess
let shop: Shop
let frozenShop: Shop
let owner: Buyer
let recipient: Buyer
let buyers: Buyer[]

beforeAll(async () => {
  database = await createDatabase(TEMPLATE, { isPatient: false })
  dataDir = await mkdtemp(join(tmpdir(), 'tessera-frozen-'))
  await migrate(database.url)
  db = openDatabase(database.url, { max: 4, onBroken: () => {} })
  await db.insertInto('site_settings').values({ name: 'limit_pages', value: '0' }).execute()
  shop = await makeShop(db, 'seller')
  owner = await makeBuyer(db, 'frozen_owner')
  frozenShop = await makeShop(db, 'frozen_seller', owner)
  recipient = await makeBuyer(db, 'recipient')
  buyers = await Promise.all(Array.from({ length: BUYERS }, (_, n) => makeBuyer(db, `buyer${n}`)))
  env = { DATABASE_URL: database.url, DATA_DIR: dataDir, APP_SECRET, LOG_LEVEL: 'fatal' }
  second = await startServer(env)
}, 120_000)
afterAll(async () => {
  await stopServer(second, 'SIGKILL')
  await db.destroy()
  await database.drop()
  await rm(dataDir, { recursive: true })
})

const form = (fields: Record<string, string>) => new URLSearchParams(fields)
const asMember = ({ session }: Buyer) => ({ accept: 'text/html', cookie: `tessera_session=${session}` })

async function order(at: ServerProcess, { payment_id, token }: Shop, order_id: string): Promise<string> {
  const fields = { amount: '100', description: 'Tea', order_id }
  const body = form({ ...fields, signature: merchantSign(token, fields) })
  const answer = await fetch(`${at.url}/payment/pay/${payment_id}/process`, { method: 'POST', body })
  return ((await answer.json()) as { transaction_id: string }).transaction_id
}

async function pay(at: ServerProcess, buyer: Buyer, transaction_id: string) {
  const began = performance.now()
  const answer = await fetch(`${at.url}/payment/pay/${transaction_id}`, {
    method: 'POST',
    redirect: 'manual',
    headers: asMember(buyer),
    body: form({ form_token: buyer.form_token, expected_amount: '100' }),
  })
  await answer.text()
  const { status, headers } = answer
  return { status, retry_after: headers.get('retry-after'), ms: performance.now() - began }
}

/**
 * Runs `act` beside a process that is stopped when it has moved the points of a transfer, and not yet written its entry in
 * the audit log. `settings` are its own, of Postgres.
 */
async function besideFrozen(settings: string, act: () => Promise<void>): Promise<void> {
  const url = new URL(database.url)
  // It waits for the audit log until it is stopped, however slow the test is.
  url.searchParams.set('options', `-c lock_timeout=60s ${settings}`)
  const frozen = await startServer({ ...env, DATABASE_URL: url.href })
  try {
    await db.transaction().execute(async (tx) => {
      await liftTimeouts(tx)
      await sql`lock table audit_log in share mode`.execute(tx)
      const send = () =>
        fetch(`${frozen.url}/payment/applications/${frozenShop.payment_id}/transfers`, {
          method: 'POST',
          headers: asMember(owner),
          body: form({
            form_token: owner.form_token,
            to_user_id: String(recipient.id),
            to_username: recipient.username,
            amount: '10',
            order_id: 'by-hand',
          }),
        })
      // A process that has just started may refuse as overloaded on a busy machine.
      const sent = async () => {
        while ((await send()).status === 503) await setTimeout(200)
      }
      const transfer = sent()
      // Ends when the process is killed.
      transfer.catch(() => {})
      await untilBlocked(tx)
      process.kill(frozen.child.pid!, 'SIGSTOP')
    })
    await vi.waitUntil(isHolding, { timeout: BOUND_MS })
    await act()
  } finally {
    process.kill(frozen.child.pid!, 'SIGCONT')
    await stopServer(frozen, 'SIGKILL')
  }
}

const isHolding = async () => {
  const { rows } = await sql`
    select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and state like 'idle in transaction%'`.execute(
    db,
  )
  return rows.length > 0
}

const ordered = (at: Shop, count: number, name: string) =>
  Promise.all(Array.from({ length: count }, (_, n) => order(second, at, `${name}${n}`)))

/** Payments at the shop of the frozen process, and one by who was to receive its points. */
async function payShared(name: string) {
  const theirs = await ordered(frozenShop, BUYERS, name)
  const recipients = await order(second, shop, `${name}-recipient`)
  const all = [...theirs.map((each, n) => [buyers[n]!, each] as const), [recipient, recipients] as const]
  return () => Promise.all(all.map(([buyer, each]) => pay(second, buyer, each)))
}

describe('a process that is frozen in a transfer by hand', () => {
  it('holds up only who shares a wallet with it, however long', { timeout: 120_000 }, async () => {
    const payTheirs = await payShared('held')
    const own = await ordered(shop, BUYERS * 5, 'apart')
    await besideFrozen('-c idle_in_transaction_session_timeout=0', async () => {
      // They come first, so that the others are in a batch with them, or behind one.
      const sharing = payTheirs()
      const apart = await Promise.all(own.map((each, n) => pay(second, buyers[n % BUYERS]!, each)))
      expect(new Set(apart.map(({ status }) => status))).toEqual(new Set([303]))
      for (const { status, retry_after, ms } of await sharing) {
        expect(status).toBe(503)
        expect(retry_after).toMatch(/^[1-9]\d*$/)
        expect(ms).toBeLessThan(BOUND_MS)
      }
      expect(await isHolding()).toBe(true)
    })
    await vi.waitUntil(async () => !(await isHolding()), { timeout: BOUND_MS })
    for (const { status } of await payTheirs()) expect(status).toBe(303)
  })

  it('holds its locks for seconds, as the database was told', { timeout: 120_000 }, async () => {
    const payTheirs = await payShared('freed')
    await besideFrozen('', async () => {
      for (const { status, ms } of await payTheirs()) {
        expect([303, 503]).toContain(status)
        expect(ms).toBeLessThan(BOUND_MS)
      }
      // The process is stopped still. Another one may be between two statements just now.
      await vi.waitUntil(async () => !(await isHolding()), { timeout: BOUND_MS })
      for (const { status } of await payTheirs()) expect(status).toBe(303)
    })
    expect(await db.selectFrom('transfers').select('id').execute()).toEqual([])
    await expectSoundBooks(db)
  })
})
