/**
 * The service as a process over a Postgres that may be killed or change places, and people who initiate, pay and
 * transfer, and ask again until they are answered.
 */
import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { createUser } from '../../src/accounts/people/users.ts'
import { newSid } from '../../src/accounts/session/session.ts'
import type { Core } from '../../src/core/core.ts'
import { openSettings } from '../../src/core/settings.ts'
import { type Db, openDatabase } from '../../src/database/connection.ts'
import { startEmbedded } from '../../src/database/embedded/embedded.ts'
import { migrate } from '../../src/database/migrate.ts'
import { grantPoints } from '../../src/ledger/points.ts'
import { applyForPaymentApp, type PaymentAppCredentials } from '../../src/payment/apps/apps.ts'
import { reviewPaymentApp } from '../../src/payment/apps/review.ts'
import { makeSecrets, randomToken, sha256 } from '../../src/platform/secrets.ts'
import { formToken } from '../../src/web/forms/form-guard.ts'
import { copyCluster } from '../harness/empty-cluster.ts'
import { freePort } from '../harness/free-port.ts'
import { merchantSign } from '../harness/merchant.ts'
import { makeScratchFolder } from '../harness/scratch.ts'
import { startServer, stopServer } from '../harness/server-process.ts'
import { until, WAIT_MS_MAX } from '../harness/waiting.ts'
import { type PostgresProxy, startProxy } from './proxy.ts'

export const APP_SECRET = 'a secret of the faults, which guards nothing at all'
const BUYERS = 4
const PAUSE_MS = 25

export const START_POINTS = 1_000_000_000n

export type Member = { id: bigint; username: string }
export type Buyer = Member & { session: string; form_token: string }
export type Shop = PaymentAppCredentials & { owner: Member }

/** An answer in the end, and how many tries it took. */
export type Told = { status: number; text: string; tries: number }

/** The service as a process over a database, and what people do there. They ask again until they are answered. */
export type ShopWorld = {
  shop: Shop
  buyers: Buyer[]
  url: string
  /** Of the process that serves now. */
  pid(): number
  initiate(fields: { order_id: string; amount: string }): Promise<Told>
  pay(buyer: Buyer, transaction_id: string, amount: string): Promise<Told>
  transfer(to: Member, fields: { order_id: string; amount: string }): Promise<Told>
  /** A request of a shop about mandates. */
  mandate(
    shop: Shop,
    act: 'offer' | 'query' | 'charge' | 'revoke',
    fields: Record<string, string>,
  ): Promise<Told>
  /** Allows a fixed mandate on its page. */
  accept(buyer: Buyer, mandate_id: string): Promise<Told>
  /** Resolves when this many requests from now have been sent, while the last of them is under way. */
  untilSent(count: number): Promise<void>
  /** Kills the process, and starts another. */
  restart(): Promise<void>
  /** What is said to Postgres goes through here, in a place that may change. */
  proxy: PostgresProxy
  withDatabase<T>(use: (db: Db) => Promise<T>): Promise<T>
  /** Leads the service, and withDatabase, to another server. */
  leadTo(url: string): void
  close(): Promise<void>
}

export type FaultWorld = ShopWorld & {
  /** Each kills, and brings back what was killed. */
  faults: Record<'server' | 'postgres' | 'backend' | 'connections', () => Promise<void>>
}

/** @param cluster the data folder of an empty Postgres, which is copied. */
export async function startFaultWorld(
  cluster: string,
  more: Record<string, string> = {},
): Promise<FaultWorld> {
  const dataDir = await makeScratchFolder()
  await copyCluster(cluster, dataDir)
  let postgres = await startEmbedded({ dataDir })
  const world = await startShopWorld(postgres.url, dataDir, more)
  const { withDatabase, proxy } = world
  return {
    ...world,
    faults: {
      server: world.restart,
      async postgres() {
        process.kill(await withDatabase(postmaster), 'SIGKILL')
        await postgres.stop()
        postgres = await startEmbedded({ dataDir })
        world.leadTo(postgres.url)
      },
      /** One of its processes: Postgres then ends all the others and recovers by itself. */
      async backend() {
        process.kill(await withDatabase(busiestBackend), 'SIGKILL')
        await patiently(() => withDatabase((db) => sql`select 1`.execute(db)))
      },
      async connections() {
        proxy.cut()
      },
    },
    async close() {
      await world.close()
      await postgres.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Fills an empty database with members and a shop, and serves it. */
export async function startShopWorld(
  databaseUrl: string,
  dataDir: string,
  more: Record<string, string> = {},
): Promise<ShopWorld> {
  let current = databaseUrl
  await migrate(current)
  const proxy = await startProxy(current)
  const withDatabase = <T>(use: (db: Db) => Promise<T>) => ask(current, use)
  const { shop, buyers } = await withDatabase(settle)
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  const env = { DATABASE_URL: proxy.through(current), APP_SECRET, DATA_DIR: dataDir, PORT: port, ...more }
  let server = await startServer({ ...env, LOG_LEVEL: 'fatal' })

  let awaited: { count: number; resolve: () => void } | undefined
  const onSent = () => {
    if (awaited !== undefined && --awaited.count === 0) awaited.resolve()
  }
  const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    askUntilAnswered(`${url}${path}`, { headers, body: new URLSearchParams(fields) }, onSent)
  const signed = <T extends Record<string, string>>(fields: T, { token }: Shop = shop) => ({
    ...fields,
    signature: merchantSign(token, fields),
  })
  return {
    shop,
    buyers,
    url,
    pid: () => server.child.pid!,
    proxy,
    withDatabase,
    leadTo(next) {
      current = next
      proxy.leadTo(next)
    },
    untilSent: (count) =>
      new Promise((resolve) => {
        awaited = { count, resolve }
      }),
    async restart() {
      await stopServer(server, 'SIGKILL')
      server = await startServer({ ...env, LOG_LEVEL: 'fatal' })
    },
    initiate: (fields) =>
      post(`/payment/pay/${shop.payment_id}/process`, signed({ ...fields, description: 'Tea' })),
    pay: ({ session, form_token }, transaction_id, amount) =>
      post(
        `/payment/pay/${transaction_id}`,
        { form_token, expected_amount: amount },
        { accept: 'text/html', cookie: `tessera_session=${session}` },
      ),
    transfer: ({ id, username }, fields) =>
      post(
        `/payment/transfer/${shop.payment_id}`,
        signed({ ...fields, to_user_id: String(id), to_username: username }),
      ),
    mandate: (at, act, fields) => post(`/payment/mandate/${at.payment_id}/${act}`, signed(fields, at)),
    accept: ({ session, form_token }, mandate_id) =>
      post(
        `/payment/mandate/${mandate_id}`,
        { form_token },
        { accept: 'text/html', cookie: `tessera_session=${session}` },
      ),
    async close() {
      await stopServer(server, 'SIGKILL')
      await proxy.close()
    },
  }
}

/** Connects to a database for as long as it is used. */
export async function ask<T>(url: string, use: (db: Db) => Promise<T>): Promise<T> {
  const db = openDatabase(url, { max: 2, onBroken: () => {} })
  try {
    return await use(db)
  } finally {
    await db.destroy()
  }
}

/** Members with points and a session each, and an approved application of another. */
async function settle(db: Db): Promise<{ shop: Shop; buyers: Buyer[] }> {
  // All of them come from one address, and a hundred rounds are more than a minute of pages.
  const values = { limit_pages: '0', mandates: 'on', mandates_fresh_sign_in_above: '' }
  await db
    .insertInto('site_settings')
    .values(Object.entries(values).map(([name, value]) => ({ name, value })))
    .execute()
  return { shop: await makeShop(db, 'seller'), buyers: await makeBuyers(db, 'buyer') }
}

/** Members who have signed in, of numbered names. */
export async function makeBuyers(db: Db, name: string): Promise<Buyer[]> {
  const buyers: Buyer[] = []
  for (let n = 0; n < BUYERS; n += 1) buyers.push(await makeBuyer(db, `${name}${n}`))
  return buyers
}

async function makeMember(
  db: Db,
  username: string,
  password_hash = 'none',
  points = START_POINTS,
): Promise<Member> {
  const id = await createUser(db, { username, password_hash, trust_level: 2 })
  const reference = `start:${username}`
  const now = new Date()
  await grantPoints(db, {
    user_id: id,
    amount: points,
    reference,
    reason: 'test',
    actor_id: null,
    now,
  })
  return { id, username }
}

/** A member who has signed in. */
export async function makeBuyer(
  db: Db,
  username: string,
  password_hash?: string,
  points?: bigint,
): Promise<Buyer> {
  const buyer = await makeMember(db, username, password_hash, points)
  const session = randomToken()
  const now = new Date()
  await db
    .insertInto('sessions')
    .values({
      sid: newSid(),
      token_hash: sha256(session),
      user_id: buyer.id,
      auth_time: now,
      amr: ['pwd'],
      ip: '127.0.0.1',
      agent: 'test',
      expires_at: new Date(now.getTime() + 86_400_000),
    })
    .execute()
  return { ...buyer, session, form_token: formToken(makeSecrets(APP_SECRET), session) }
}

/** An approved application of a new member, or of this one. */
export async function makeShop(db: Db, username: string, member?: Member): Promise<Shop> {
  const owner = member ?? (await makeMember(db, username))
  const settings = openSettings(db)
  const deps = { db, secrets: makeSecrets(APP_SECRET), settings, clock: () => new Date() } as Core
  const application = { name: 'Shop', description: '', callback_url: 'http://127.0.0.1:9/paid' }
  const credentials = await applyForPaymentApp(deps, { ...application, applicant_id: owner.id })
  const { payment_id } = credentials
  await reviewPaymentApp(deps, { payment_id, decision: 'approve', reason: '', reviewer_id: owner.id })
  return { ...credentials, owner }
}

export async function postmaster(db: Db): Promise<number> {
  const { rows } = await sql<{ file: string }>`select pg_read_file('postmaster.pid') as file`.execute(db)
  return Number.parseInt(rows[0]!.file, 10)
}

/** Waits for one, because the service may still be connecting again after the fault before. */
async function busiestBackend(db: Db): Promise<number> {
  return until(async () => {
    const { rows } = await sql<{ pid: number }>`
      select pid from pg_stat_activity
      where backend_type = 'client backend' and pid <> pg_backend_pid()
      order by state = 'active' desc, state_change desc limit 1`.execute(db)
    return rows[0]?.pid
  })
}

/** Asks again whenever there is no answer, or one that the caller has no part in. Throws when patience ends. */
export async function askUntilAnswered(
  url: string,
  request: { headers: Record<string, string>; body: URLSearchParams },
  onSent: () => void = () => {},
): Promise<Told> {
  let tries = 0
  return patiently(async () => {
    tries += 1
    const asked = fetch(url, { method: 'POST', redirect: 'manual', ...request })
    onSent()
    const answer = await asked
    const body = await answer.text()
    if (answer.status >= 500) throw new Error(`${answer.status}: ${body}`)
    return { status: answer.status, text: answer.headers.get('location') ?? body, tries }
  })
}

export async function patiently<T>(act: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + WAIT_MS_MAX
  for (;;) {
    try {
      return await act()
    } catch (error) {
      if (Date.now() > deadline) throw error
      await sleep(PAUSE_MS)
    }
  }
}
