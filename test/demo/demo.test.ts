/** `npm start -- --demo`: start, stop, kill and restart, seen from outside. */
import { once } from 'node:events'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { isoCBOR } from '@simplewebauthn/server/helpers'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { verifyPassword } from '../../src/accounts/security/password.ts'
import { type Db, openDatabase } from '../../src/database/connection.ts'
import { withDatabaseUrl } from '../../src/database/url.ts'
import { startDemo } from '../../src/demo/demo.ts'
import { dayOf } from '../../src/demo/plan.ts'
import { proveBooks } from '../../src/ledger/books.ts'
import { postPoints } from '../../src/ledger/points.ts'
import { lastProof } from '../../src/ledger/proofs.ts'
import { loadConfig, loadDemoConfig } from '../../src/platform/config.ts'
import { sentenceFor } from '../../src/serve.ts'
import { browserAt } from '../harness/browser.ts'
import {
  cleanUp,
  type DemoOptions,
  type DemoProcess,
  demoEnvironment,
  removeDataDir,
  spawnDemo,
  startDemoProcess,
  survivors,
  untilEnded,
} from '../harness/demo-process.ts'
import type { KnownDemo } from '../harness/demos.ts'
import { copyCluster } from '../harness/empty-cluster.ts'
import { freePort } from '../harness/free-port.ts'
import { messages } from '../harness/messages.ts'
import { makeScratchFolder } from '../harness/scratch.ts'
import { makeSeededDir, openSharedDemo, type SharedDemo } from '../harness/shared-demo.ts'
import { hasLeft } from '../harness/thoroughness.ts'
import { shopTexts } from './walk.ts'

/** The printed people, fifteen members of the history and two of the samples; the shops' applications for payment and for sign-in, a test application, and one that waits for its review. */
const ROWS = { users: 22, oauth_apps: 4, payment_apps: 7 }

const WITH_FORUM = ['--demo', '--forum', '--json']

/** Makes an empty data folder, and removes it after the test. */
async function newFolder(): Promise<string> {
  const dataDir = await makeScratchFolder()
  onTestFinished(() => removeDataDir(dataDir))
  return dataDir
}

/** Makes a data folder with what a first start has made, and removes it after the test. */
async function seededFolder(): Promise<KnownDemo> {
  const seeded = await makeSeededDir()
  onTestFinished(() => removeDataDir(seeded.dataDir))
  return seeded
}

/** Starts the demo, and ends it after the test at the latest. */
async function start(options: DemoOptions): Promise<DemoProcess> {
  const started = await startDemoProcess(options)
  onTestFinished(() => cleanUp(started))
  return started
}

/** Expects a start to fail. Returns its exit code and output. */
async function failedStart(options: DemoOptions): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = await spawnDemo(options)
  onTestFinished(() => void child.kill('SIGKILL'))
  const texts = { stdout: '', stderr: '' }
  child.stdout!.on('data', (text) => (texts.stdout += text))
  child.stderr!.on('data', (text) => (texts.stderr += text))
  const [code] = (await once(child, 'close')) as [number]
  return { code, ...texts }
}

/** Expects a start in this process to fail. Returns the sentence that a process prints for it. */
async function refusedStart(options: DemoOptions): Promise<string | undefined> {
  const env = await demoEnvironment(options)
  const withForum = options.flags === WITH_FORUM
  try {
    const started = await startDemo(loadDemoConfig(env), { withForum })
    await started.stop()
    return undefined
  } catch (error) {
    return sentenceFor(error)
  }
}

/** Browsers may look at this address for `localhost` first. Some machines have no IPv6. */
const OTHER_LOOPBACK = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
)
  ? '::1'
  : '127.0.0.1'

/** A listener that counts its callers. */
async function listen(host = '127.0.0.1'): Promise<{ port: number; calls(): number; close(): void }> {
  let calls = 0
  const server: Server = createServer((socket) => {
    calls += 1
    socket.destroy()
  }).listen(0, host)
  await once(server, 'listening')
  return {
    port: (server.address() as { port: number }).port,
    calls: () => calls,
    close: () => server.close(),
  }
}

/** Opens the demo's database, whether or not the demo runs. */
function withDatabase<T>(dataDir: string, look: (db: Db) => Promise<T>): Promise<T> {
  return withDatabaseUrl(loadConfig({ DATA_DIR: dataDir }), async (url) => {
    const db = openDatabase(url, { max: 1, onBroken: () => {} })
    try {
      return await look(db)
    } finally {
      await db.destroy()
    }
  })
}

describe('a first start', () => {
  let other: Awaited<ReturnType<typeof listen>>
  let dataDir: string
  let started: DemoProcess

  beforeAll(async () => {
    other = await listen()
    dataDir = await makeScratchFolder()
    const env = { DATABASE_URL: `postgres://demo:secret@127.0.0.1:${other.port}/precious` }
    started = await startDemoProcess({ dataDir, env, flags: WITH_FORUM })
  })
  afterAll(async () => {
    other.close()
    await cleanUp(started)
  })

  test('lets people join where there is no forum, and reaches its people by mail', async () => {
    expect((await fetch(`${started.demo.base_url}/account/recover`)).status).toBe(200)
    const { registration, confirmed } = await withDatabase(dataDir, async (db) => ({
      registration: await db
        .selectFrom('site_settings')
        .where('name', '=', 'registration')
        .select('value')
        .execute(),
      confirmed: await db.selectFrom('users').where('email_verified', '=', true).select('username').execute(),
    }))
    expect(registration).toEqual([{ value: 'open' }])
    expect(confirmed.map(({ username }) => username).sort()).toEqual([
      'admin',
      'alice',
      'bob',
      'carol',
      'dora',
    ])
  })

  test('prints one line of JSON with every person and thing', async () => {
    const { demo, output } = started
    expect(output().stdout.trimEnd().split('\n')).toHaveLength(1)
    expect(output().stderr).toBe('')
    const passwords = Object.fromEntries(demo.people.map((person) => [person.username, person.password]))
    expect(demo.people).toEqual([
      person('alice', 5_000, 2),
      person('bob', expect.any(Number), 2),
      person('carol', 300, 1),
      person('dora', 50, 0),
      { ...person('admin', 0, 4), admin: true },
    ])
    for (const [username, password] of Object.entries(passwords))
      expect(password).toMatch(new RegExp(`^${username}-[a-z2-9]{6}$`))
    expect(new Set(Object.values(passwords)).size).toBe(5)
    expect(demo).toEqual({
      base_url: expect.stringMatching(/^http:\/\/localhost:\d+$/),
      shop_url: expect.stringMatching(/^http:\/\/localhost:\d+$/),
      gateway_shop_url: expect.stringMatching(/^http:\/\/localhost:\d+$/),
      forum_url: expect.stringMatching(/^http:\/\/localhost:\d+$/),
      link_url: expect.stringMatching(new RegExp(`^${demo.base_url}/l/[a-z0-9]{10}$`)),
      people: expect.any(Array),
      oauth_app: {
        client_id: expect.any(String),
        client_secret: expect.any(String),
        redirect_uris: [`${demo.shop_url}/login/callback`],
      },
      payment_app: {
        payment_id: expect.stringMatching(/^pay_[a-z0-9]{20}$/),
        pid: expect.any(Number),
        token: expect.stringMatching(/^tk_[A-Za-z0-9]{40}$/),
        secret_key: expect.stringMatching(/^[0-9a-f]{64}$/),
        merchant_key: expect.stringMatching(/^[A-Za-z0-9]{32}$/),
        callback_url: `${demo.shop_url}/payment/callback`,
        applicant: 'bob',
      },
      gateway_app: {
        payment_id: expect.stringMatching(/^pay_[a-z0-9]{20}$/),
        pid: expect.any(Number),
        v1_address: `${demo.base_url}/payment/api/`,
        v2_address: `${demo.base_url}/payment/`,
        merchant_key: expect.stringMatching(/^[A-Za-z0-9]{32}$/),
        merchant_private_key: expect.stringMatching(/^MIIE/),
        platform_public_key: expect.stringMatching(/^MIIBIj/),
        rate: expect.any(String),
        applicant: 'bob',
      },
    })
    for (const url of [`${demo.base_url}/readyz`, demo.shop_url, demo.gateway_shop_url, demo.forum_url!])
      expect((await fetch(url)).status, url).toBe(200)
    for (const language of ['en', 'zh-CN']) {
      const shop = await fetch(demo.shop_url, { headers: { 'accept-language': language } })
      expect(await shop.text()).toContain(shopTexts(language).product.signIn)
    }
    const kinds = await withDatabase(dataDir, (db) =>
      db.selectFrom('forum_contacts').select('kind').execute(),
    )
    // The forum has sent its ping.
    expect(kinds).toEqual([{ kind: 'webhook' }])
    expect((await stat(join(dataDir, 'demo.json'))).mode & 0o777).toBe(0o600)
  })

  test('lets the shop charge under mandates, signed in at its application', async () => {
    const { demo } = started
    const { apps, setting } = await withDatabase(dataDir, async (db) => ({
      apps: await db
        .selectFrom('payment_apps')
        .where('payment_id', '=', demo.payment_app.payment_id)
        .select(['payment_id', 'mandate_right', 'mandate_daily_max', 'oauth_client_id'])
        .execute(),
      setting: await db.selectFrom('site_settings').where('name', '=', 'mandates').select('value').execute(),
    }))
    expect(setting).toEqual([{ value: 'on' }])
    const { payment_id } = demo.payment_app
    const oauth_client_id = demo.oauth_app.client_id
    const granted = { payment_id, oauth_client_id, mandate_right: 'granted', mandate_daily_max: 100_000n }
    expect(apps).toEqual([granted])
  })

  test('has sixty days of history in sound books', async () => {
    const { proof, days, statuses, failed } = await withDatabase(dataDir, async (db) => {
      const orders = await db
        .selectFrom('orders')
        .where('book', '=', 'live')
        .select(['created_at', 'status'])
        .execute()
      const days = new Set(orders.map(({ created_at }) => dayOf(created_at)))
      const statuses = new Set(orders.map(({ status }) => status))
      const failed = await db
        .selectFrom('notifications')
        .where('status', '=', 'failed')
        .select('id')
        .execute()
      return { proof: await proveBooks(db), days, statuses, failed }
    })
    expect(proof.isSound).toBe(true)
    expect(days.size).toBeGreaterThanOrEqual(58)
    expect([...statuses]).toEqual(expect.arrayContaining(['paid', 'refunded']))
    expect(failed).toEqual([])
  })

  test('gives alice authorised applications, a mandate and alerts, and everybody some movements', async () => {
    const { consents, sign_ins, charges, alerts, movements, last } = await withDatabase(
      dataDir,
      async (db) => {
        const alice = (column: string) =>
          sql`${sql.ref(column)} = (select id from users where username = 'alice')`
        const { rows } = await sql<{ consents: number; sign_ins: number; charges: number; alerts: string[] }>`
        select
          (select count(*)::integer from consents where ${alice('user_id')}) as consents,
          (select count(*)::integer from grants join sessions on sessions.id = session_id
            where ${alice('grants.user_id')} and ip like '203.0.113.%') as sign_ins,
          (select count(*)::integer from orders join mandates on mandates.id = orders.mandate_id
            where ${alice('mandates.user_id')} and mandates.status = 'active' and orders.status = 'paid') as charges,
          array(select kind || case when read_at is null then ' new' else '' end
            from alerts where ${alice('user_id')} order by id) as alerts`.execute(db)
        const moved = await sql<{ username: string; count: number; newest: string }>`
        select username, count(*)::integer, (array_agg(journal.kind::text order by journal.id desc))[1] as newest
        from entries join ledger_accounts as wallet on wallet.id = account_id and wallet.book = 'live'
        join users on users.id = wallet.user_id join journal on journal.id = journal_id
        where username in ('alice', 'bob', 'carol', 'dora') group by username order by username`.execute(db)
        return { ...rows[0]!, movements: moved.rows, last: await lastProof({ db }) }
      },
    )
    expect({ consents, charges }).toEqual({ consents: 2, charges: 4 })
    expect(sign_ins).toBeGreaterThanOrEqual(consents)
    expect(alerts).toEqual([
      'mandate_accepted',
      ...['mandate_charged', 'mandate_charged', 'mandate_charged'],
      'mandate_charged new',
    ])
    for (const { username, count, newest } of movements) {
      expect([username, count >= 3]).toEqual([username, true])
      // No settlement stands at the top of a wallet.
      expect([username, newest]).not.toEqual([username, 'adjustment'])
    }
    expect(last?.is_sound).toBe(true)
  })

  test('says of each secret that the sign-ins of its application used it', async () => {
    const unused = await withDatabase(dataDir, async (db) => {
      const { rows } = await sql<{ client_id: string }>`
        select client_id from oauth_apps join app_secrets on app_secrets.app_id = oauth_apps.id
        where last_used_at is distinct from (
          select max(grants.created_at) from grants where grants.app_id = oauth_apps.id and grants.created_at < now() - interval '1 hour')
          and exists (select from grants where grants.app_id = oauth_apps.id)`.execute(db)
      return rows
    })
    expect(unused).toEqual([])
  })

  test('has a link with three of twenty codes left, a tip jar, one sold out, one in Chinese, and a draft', async () => {
    const links = await withDatabase(dataDir, (db) =>
      db
        .selectFrom('links')
        .where('app_id', '=', (eb) =>
          eb
            .selectFrom('payment_apps')
            .where('name', '=', 'Sticker Shop')
            .where('book', '=', 'live')
            .select('id'),
        )
        .orderBy('id')
        .select([
          'state',
          'delivery',
          sql<bigint>`units_sold(links.id)`.as('sold'),
          sql<boolean>`exists (select from link_pictures where link_id = links.id and kind = 'picture')`.as(
            'pictured',
          ),
          sql<boolean>`title ~ '[一-鿿]'`.as('chinese'),
        ])
        .execute(),
    )
    const [pictured, chinese] = [true, false]
    expect(links).toEqual([
      { state: 'on_sale', delivery: 'codes', sold: 17n, pictured, chinese },
      { state: 'on_sale', delivery: 'none', sold: 4n, pictured, chinese },
      { state: 'on_sale', delivery: 'none', sold: 3n, pictured, chinese },
      { state: 'on_sale', delivery: 'text', sold: 6n, pictured, chinese: true },
      { state: 'draft', delivery: 'text', sold: 0n, pictured: false, chinese },
    ])
  })

  test('leads from each shop to a page that answers, and describes it in one language', async () => {
    const shops = await withDatabase(dataDir, (db) =>
      db
        .selectFrom('payment_apps')
        .where('status', '=', 'approved')
        .where('book', '=', 'live')
        .where('homepage', 'is not', null)
        .select(['homepage', 'callback_url', 'description', 'unreviewed_change_at'])
        .execute(),
    )
    expect(shops.length).toBeGreaterThanOrEqual(4)
    for (const { homepage, callback_url, description, unreviewed_change_at } of shops) {
      expect([homepage, unreviewed_change_at]).toEqual([homepage, null])
      expect([homepage, (await fetch(homepage!)).status]).toEqual([homepage, 200])
      expect(new URL(callback_url).hostname).toBe('localhost')
      expect(description).not.toMatch(/[a-z].*[\u4e00-\u9fff]|[\u4e00-\u9fff].*[a-z]/)
    }
  })

  test('passes the check of the whole round for both shops of bob', async () => {
    const { demo } = started
    const { username, password } = demo.people.find(({ username }) => username === 'bob')!
    const bob = browserAt(demo.base_url, { headers: { 'accept-language': 'en' } })
    await bob.submit(await bob.get('/sign-in'), '/sign-in', { username, password })
    for (const { payment_id } of [demo.payment_app, demo.gateway_app]) {
      const keys = `/payment/applications/${payment_id}/developers`
      const tried = await bob.post(`${keys}/return`, (await bob.get(keys)).form(`${keys}/return#round`))
      expect([payment_id, tried.body.includes(messages.en.round.passed)]).toEqual([payment_id, true])
    }
  })

  test('has the payments in the order of their times, the sales of links among them at uneven moments', async () => {
    const paid = await withDatabase(dataDir, (db) =>
      db
        .selectFrom('orders')
        .innerJoin('payment_apps as app', 'app.id', 'orders.app_id')
        .where('orders.book', '=', 'live')
        .where('app.name', '=', 'Sticker Shop')
        .orderBy('orders.id')
        .select(['orders.door', 'orders.paid_at', 'orders.created_at'])
        .execute(),
    )
    const created = paid.map(({ created_at }) => created_at.getTime())
    expect(created).toEqual(created.toSorted((a, b) => a - b))
    const sales = paid.filter(({ door }) => door === 'link').map(({ paid_at }) => paid_at!.getTime())
    expect(sales.length).toBe(30)
    const apart = sales.slice(1).map((at, i) => Math.round((at - sales[i]!) / 60_000))
    expect(new Set(apart).size).toBeGreaterThan(20)
  })

  test('has the orders of all shops and the alerts of each member in the order of their times', async () => {
    const late = (db: Db, table: 'orders' | 'alerts') => {
      const [moment, within] =
        table === 'orders'
          ? [sql`created_at`, sql``]
          : [sql`date_trunc('minute', raised_at)`, sql`partition by user_id`]
      return sql<{ id: bigint }>`
        select id from (
          select id, ${moment} as at, max(${moment}) over (${within} order by id) as latest from ${sql.table(table)}
        ) as each where at < latest`
        .execute(db)
        .then(({ rows }) => rows)
    }
    expect(
      await withDatabase(dataDir, (db) => Promise.all([late(db, 'orders'), late(db, 'alerts')])),
    ).toEqual([[], []])
  })

  test('gives members passkeys of this site, and asks alice for none beside her password', async () => {
    const { demo } = started
    const keys = await withDatabase(dataDir, (db) =>
      db
        .selectFrom('passkeys')
        .innerJoin('users', 'users.id', 'user_id')
        .whereRef('passkeys.created_at', '>', 'users.created_at')
        .where('rp_id', '=', 'localhost')
        .select(['username', 'public_key', 'passkey_handle'])
        .execute(),
    )
    expect(new Set(keys.map(({ username }) => username)).size).toBeGreaterThanOrEqual(4)
    for (const { public_key, passkey_handle } of keys) {
      expect(passkey_handle).not.toBeNull()
      expect(isoCBOR.decodeFirst<Map<number, unknown>>(new Uint8Array(public_key)).get(3)).toBe(-7)
    }
    const { username, password } = demo.people.find((person) => person.username === 'alice')!
    const alice = browserAt(demo.base_url, { headers: { 'accept-language': 'en' } })
    const signedIn = await alice.submit(await alice.get('/sign-in'), '/sign-in', { username, password })
    expect(signedIn.headers.location).toBe('/')
    expect((await alice.get('/account/passkeys')).body).toContain('iPhone')
  })

  test('finds the orders of shops before those of the reference', async () => {
    const { base_url, people } = started.demo
    const { username, password } = people.find((person) => person.admin)!
    const admin = browserAt(base_url, { headers: { 'accept-language': 'en' } })
    await admin.submit(await admin.get('/sign-in'), '/sign-in', { username, password })
    // Both sell stickers, and the reference sold last.
    const { body } = await admin.get('/admin/find?q=sticker')
    expect(body).toContain('/admin/orders/')
    expect(body).not.toContain('Reference')
    expect((await admin.get('/admin/find?q=order-1001')).headers.location).toMatch('/admin/orders/')
  })

  test('has delivered the events of the sticker shop, which takes more of them', async () => {
    const { shop_url, payment_app } = started.demo
    const { events_url } = await withDatabase(dataDir, (db) =>
      db
        .selectFrom('payment_apps')
        .where('payment_id', '=', payment_app.payment_id)
        .select('events_url')
        .executeTakeFirstOrThrow(),
    )
    expect(events_url).toBe(`${shop_url}/events`)
    // The shop refuses what the service has not signed.
    expect((await fetch(events_url!, { method: 'POST', body: '{}' })).status).toBe(401)
    const due = () =>
      withDatabase(dataDir, (db) =>
        db.selectFrom('notifications').where('status', '=', 'due').select('id').execute(),
      )
    await expect.poll(due).toEqual([])
    const events = await withDatabase(dataDir, (db) =>
      db
        .selectFrom('notifications as event')
        .innerJoin('payment_apps as app', 'app.id', 'event.app_id')
        .innerJoin('notification_attempts as attempt', 'attempt.notification_id', 'event.id')
        .where('app.name', '=', 'Sticker Shop')
        .select(['event.kind', 'event.status', 'event.created_at', 'attempt.started_at'])
        .execute(),
    )
    expect(events.length).toBeGreaterThan(30)
    expect(new Set(events.map(({ kind }) => kind))).toEqual(
      new Set(['order.paid', 'order.refunded', 'link.sold', 'transfer.completed', 'payout.finished']),
    )
    expect(new Set(events.map(({ status }) => status))).toEqual(new Set(['delivered']))
  })

  test('has a finished payout with a refused line, and a test application with an access key', async () => {
    const [payout, keys] = await withDatabase(dataDir, async (db) => {
      const { id } = await db
        .selectFrom('payouts')
        .where('reference', '=', 'autumn-raffle')
        .select('id')
        .executeTakeFirstOrThrow()
      const { rows } = await sql<{ status: string; lines: number; refused: number }>`
        select payouts.status, count as lines, refused from payouts, payout_sums(id) where id = ${id}`.execute(
        db,
      )
      const made = await db
        .selectFrom('access_keys')
        .where('name', '=', 'Raffle script')
        .select(['book', 'scopes'])
        .execute()
      return [rows, made] as const
    })
    expect(payout).toEqual([{ status: 'finished', lines: 12, refused: 1 }])
    expect(keys).toEqual([{ book: 'test', scopes: ['orders:read', 'payouts'] }])
  })

  test('has members of two years, and nothing in the name of one that the member did not do', async () => {
    const { demo } = started
    // A page with a code and a token signs somebody in.
    expect((await fetch(`${demo.base_url}/docs/identity/post_oauth2_token`)).status).toBe(200)
    const { joined, seen, early, unordered, days, ofAlice, signedIn } = await withDatabase(
      dataDir,
      async (db) => {
        const { rows } = await sql<
          Record<'joined' | 'seen' | 'early' | 'unordered' | 'days', number> & { ofAlice: string[] }
        >`
        select
          (select extract(day from now() - min(created_at))::integer from users) as joined,
          (select count(distinct user_id)::integer from sessions) as seen,
          (select count(*)::integer from sessions join users on users.id = user_id
            where auth_time < users.created_at or last_seen_at > now())
            + (select count(*)::integer from entries join journal on journal.id = journal_id
              join ledger_accounts as wallet on wallet.id = account_id join users on users.id = wallet.user_id
              where posted_at < users.created_at) as early,
          (select count(*)::integer from users as member join users as older on older.id < member.id
            where older.created_at > member.created_at and not member.is_service) as unordered,
          (select count(distinct (expires_at - interval '30 days')::date)::integer from grants
            where app_id = (select min(id) from oauth_apps)) as days,
          array(
            select distinct kind::text from journal
            where posted_at > now() - interval '1 day' and id in (
              select journal_id from entries join ledger_accounts as wallet on wallet.id = account_id
              join users on users.id = wallet.user_id where username = 'alice')
          ) as "ofAlice"`.execute(db)
        const grants = await db
          .selectFrom('grants')
          .innerJoin('users', 'users.id', 'grants.user_id')
          // Later than the members' own sign-ins.
          .where('grants.created_at', '>', sql<Date>`now() - interval '1 hour'`)
          .select('users.username')
          .distinct()
          .execute()
        return { ...rows[0]!, signedIn: grants.map(({ username }) => username) }
      },
    )
    expect(joined).toBeGreaterThan(700)
    expect(seen).toBeGreaterThan(10)
    // Members have ids in the order of joining, and signed in to the first application on most of thirty days.
    expect({ early, unordered }).toEqual({ early: 0, unordered: 0 })
    expect(days).toBeGreaterThan(22)
    // Orders of today, if any; no points to make up for what the history spent.
    expect(ofAlice.filter((kind) => kind !== 'payment')).toEqual([])
    expect(signedIn).toEqual(['api-samples'])
  })

  test('never contacts DATABASE_URL', async () => {
    expect(other.calls()).toBe(0)
    expect(await readdir(dataDir)).toContain('postgres')
  })

  test('ends on SIGTERM and leaves no process', async () => {
    const { descendants, end } = started
    for (const part of [/\/shop\/shop\.js$/, /gateway-shop\/shop\.js$/, /forum\.js$/, /postgres -D/])
      expect(
        descendants.filter(({ command }) => part.test(command)),
        String(part),
      ).not.toEqual([])
    expect(await end('SIGTERM')).toBe(0)
    expect(survivors(descendants)).toEqual([])
  })
})

test.runIf(hasLeft('STARTS'))('a first start that was killed half-way is completed by the next', async () => {
  const dataDir = await newFolder()
  await copyCluster(inject('emptyCluster'), dataDir)
  const killed = await spawnDemo({ dataDir })
  onTestFinished(() => void killed.kill('SIGKILL'))
  // The start writes the file before it creates the members.
  const isBegun = () => readdir(dataDir).then((names) => names.includes('demo.json'))
  while (killed.exitCode === null && !(await isBegun())) await sleep(5)
  killed.kill('SIGKILL')
  await once(killed, 'exit')

  const child = await spawnDemo({ dataDir, flags: ['--demo'] })
  onTestFinished(async () => {
    child.kill()
    if (child.exitCode === null) await once(child, 'exit')
  })
  // Without --json, it prints the addresses, the sign-ins, and what to do first.
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout! })) if (lines.push(line) === 13) break
  const { passwords } = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8'))
  expect(lines).toEqual([
    expect.stringMatching(/^Tessera {3}http:\/\/localhost:\d+$/),
    expect.stringMatching(/^Shop {6}http:\/\/localhost:\d+$/),
    expect.stringMatching(/^Mug shop {2}http:\/\/localhost:\d+$/),
    '',
    expect.stringMatching(/^sign in as {3}password {7}points {3}trust {3}/),
    expect.stringMatching(`^alice {8}${passwords.alice} {4}5,000 {3}TL2 {5}`),
    expect.stringMatching(`^bob {10}${passwords.bob} +\\d+,\\d{3} {3}TL2 {5}`),
    expect.stringMatching(`^carol {8}${passwords.carol} {6}300 {3}TL1 {5}`),
    expect.stringMatching(`^dora {9}${passwords.dora} {8}50 {3}TL0 {5}`),
    expect.stringMatching(`^admin {8}${passwords.admin} {8}0 {3}TL4 {5}`),
    '',
    expect.stringContaining('alice'),
    expect.stringContaining('epay'),
  ])
  expect(await withDatabase(dataDir, countRows)).toEqual(ROWS)
})

async function countRows(db: Db) {
  const count = async (table: 'users' | 'oauth_apps' | 'payment_apps') => {
    const rows = await db.selectFrom(table).select('id').execute()
    return rows.length
  }
  return {
    users: await count('users'),
    oauth_apps: await count('oauth_apps'),
    payment_apps: await count('payment_apps'),
  }
}

function person(username: string, points: number, trust_level: number) {
  return {
    id: expect.any(Number),
    username,
    password: expect.any(String),
    points,
    trust_level,
    admin: false,
  }
}

describe.runIf(hasLeft('STARTS'))('a start after kill -9', () => {
  let first: DemoProcess
  let second: DemoProcess

  beforeAll(async () => {
    const { dataDir } = await makeSeededDir()
    first = await startDemoProcess({ dataDir, flags: WITH_FORUM })
    // A test application has the same name as its live one.
    await withDatabase(dataDir, (db) =>
      sql`
        insert into payment_apps
          (payment_id, pid, book, status, live_app_id, applicant_id, name, description, callback_url)
        select 'pay_test' || lpad(id::text, 16, '0'), nextval('payment_apps_test_pid'), 'test', 'approved', id,
          applicant_id, name, description, callback_url
        from payment_apps where book = 'live'`.execute(db),
    )
    // Alice spends, and a later start leaves that.
    await withDatabase(dataDir, async (db) => {
      const { id: user_id } = await db
        .selectFrom('users')
        .where('username', '=', 'alice')
        .select('id')
        .executeTakeFirstOrThrow()
      const lines = [{ user_id, amount: -53n, reference: 'test:spent' }]
      await postPoints(db, { lines, reason: 'test', actor_id: null, now: new Date() })
    })
    await first.end('SIGKILL')
    // The shops, the forum and Postgres end by themselves.
    await untilEnded(first.descendants)
    second = await startDemoProcess({ dataDir, env: { LOG_LEVEL: 'info' } })
  })
  afterAll(async () => {
    await cleanUp(first)
    await cleanUp(second)
  })

  test('finds its data', () => {
    const { demo } = second
    expect(demo.base_url).not.toBe(first.demo.base_url)
    const spent = ({ username }: { username: string }) => (username === 'alice' ? 53 : 0)
    expect(demo.people).toEqual(
      first.demo.people.map((each) => ({ ...each, points: each.points - spent(each) })),
    )
    expect(demo.oauth_app).toEqual({
      ...first.demo.oauth_app,
      redirect_uris: [`${demo.shop_url}/login/callback`],
    })
    expect(demo.payment_app).toEqual({
      ...first.demo.payment_app,
      callback_url: `${demo.shop_url}/payment/callback`,
    })
    expect(demo.gateway_app).toEqual({
      ...first.demo.gateway_app,
      v1_address: `${demo.base_url}/payment/api/`,
      v2_address: `${demo.base_url}/payment/`,
    })
  })

  test('lets its applications follow the ports', async () => {
    const { demo, dataDir } = second
    const approved = await withDatabase(dataDir, (db) =>
      db.selectFrom('payment_apps').where('book', '=', 'live').select('unreviewed_change_at').execute(),
    )
    expect(approved.filter((app) => app.unreviewed_change_at !== null)).toEqual([])
    const forSignIn = await withDatabase(dataDir, (db) =>
      db.selectFrom('oauth_apps').select('reviewed_at').execute(),
    )
    expect(forSignIn.filter((app) => app.reviewed_at === null)).toEqual([])
    const events = await withDatabase(dataDir, (db) =>
      db.selectFrom('payment_apps').where('events_url', 'is not', null).select('events_url').execute(),
    )
    expect(events).toEqual([{ events_url: `${demo.shop_url}/events` }])
    // The service accepts the address to which the shop redirects: it leads to the sign-in, not to an error page.
    const login = await fetch(`${demo.shop_url}/login`, { redirect: 'manual' })
    const authorization = await fetch(login.headers.get('location')!, {
      redirect: 'manual',
      headers: { accept: 'text/html' },
    })
    expect(authorization.status).toBe(303)
    expect(authorization.headers.get('location')).toMatch(/^\/sign-in\?/)
  })

  test('writes its log to standard error, so that the line stays alone', async () => {
    const { demo, output } = second
    await expect.poll(() => output().stderr).toContain('"msg"')
    expect(output().stdout).toBe(`${JSON.stringify(demo)}\n`)
  })
})

test.runIf(hasLeft('STARTS'))(
  'a second start replaces a lost client secret and a changed password',
  async () => {
    const { dataDir, demo: first } = await seededFolder()
    await withDatabase(dataDir, (db) =>
      db.updateTable('users').set({ password_hash: null }).where('username', '=', 'alice').execute(),
    )
    const file = join(dataDir, 'demo.json')
    const { passwords } = JSON.parse(await readFile(file, 'utf8'))
    await writeFile(file, JSON.stringify({ passwords }))

    const { demo } = await start({ dataDir })
    expect(demo.people).toEqual(first.people)
    expect(demo.oauth_app.client_id).not.toBe(first.oauth_app.client_id)
    const linked = await withDatabase(dataDir, (db) =>
      db
        .selectFrom('payment_apps')
        .where('payment_id', '=', demo.payment_app.payment_id)
        .select('oauth_client_id')
        .execute(),
    )
    expect(linked).toEqual([{ oauth_client_id: demo.oauth_app.client_id }])
    expect(demo.payment_app.payment_id).toBe(first.payment_app.payment_id)
    // The same file held the private key for V2.
    expect(demo.gateway_app.payment_id).toBe(first.gateway_app.payment_id)
    expect(demo.gateway_app.merchant_private_key).not.toBe(first.gateway_app.merchant_private_key)
    expect(await withDatabase(dataDir, countRows)).toEqual(ROWS)
    const hash = await withDatabase(dataDir, (db) =>
      db
        .selectFrom('users')
        .where('username', '=', 'alice')
        .select('password_hash')
        .executeTakeFirstOrThrow(),
    )
    expect(await verifyPassword(passwords.alice, hash.password_hash)).toBe(true)
  },
)

describe('a start that cannot succeed', () => {
  let running: SharedDemo

  beforeAll(async () => {
    running = await openSharedDemo()
  })
  afterAll(() => running?.close())

  const taken: [string, string, (port: number) => Omit<DemoOptions, 'dataDir'>][] = [
    ['PORT', '127.0.0.1', (port) => ({ port })],
    ['SHOP_PORT', OTHER_LOOPBACK, (shopPort) => ({ shopPort })],
    ['FORUM_PORT', '127.0.0.1', (port) => ({ env: { FORUM_PORT: String(port) }, flags: WITH_FORUM })],
  ]
  test.each(taken)('says so in one sentence when %s is taken at %s', async (variable, host, on) => {
    const dataDir = await newFolder()
    const { port, close } = await listen(host)
    onTestFinished(close)
    expect(await refusedStart({ dataDir, ...on(port) })).toMatch(
      new RegExp(`^.*\\b${port}\\b.*\\b${variable}\\b.*$`),
    )
    expect(await readdir(dataDir)).toEqual([])
  })

  test('leaves the addresses of a demo that already runs alone', async () => {
    const { demo, dataDir, db } = running
    const port = Number(new URL(demo.base_url).port)
    expect(await refusedStart({ dataDir, port })).toMatch(/\bPORT\b/)
    const uris = await db
      .selectFrom('oauth_apps')
      .where('client_id', '=', demo.oauth_app.client_id)
      .select('redirect_uris')
      .execute()
    expect(uris).toEqual([{ redirect_uris: demo.oauth_app.redirect_uris }])
  })

  test('says so in one sentence when another runs on its data folder', async () => {
    const { demo, dataDir } = running
    const answer = await failedStart({ dataDir, port: await freePort(), shopPort: await freePort() })
    expect(answer).toMatchObject({ code: 1, stdout: '' })
    expect(answer.stderr).toMatch(/^[^\n]+\n {2}- DATA_DIR [^\n]+\n$/)
    expect((await fetch(`${demo.base_url}/readyz`)).status).toBe(200)
  })

  test('refuses one port for both', async () => {
    const port = await freePort()
    const dataDir = await newFolder()
    expect(await refusedStart({ dataDir, port, shopPort: port })).toMatch(/^ {2}- SHOP_PORT .* PORT$/m)
  })

  test('refuses a public address', async () => {
    const dataDir = await newFolder()
    const refusal = await refusedStart({ dataDir, env: { PUBLIC_URL: 'https://id.example.org' } })
    expect(refusal).toMatch(/^ {2}- PUBLIC_URL .*--demo/m)
    expect(await readFile(join(dataDir, 'demo.json'), 'utf8').catch(() => undefined)).toBeUndefined()
  })
})
