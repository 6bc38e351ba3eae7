/** `npm start -- --demo`: start, stop, kill and restart, seen from outside. */
import { once } from 'node:events'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { verifyPassword } from '../../src/accounts/security/password.ts'
import { type Db, openDatabase } from '../../src/database/connection.ts'
import { withDatabaseUrl } from '../../src/database/url.ts'
import { dayOf } from '../../src/demo/plan.ts'
import { proveBooks } from '../../src/ledger/books.ts'
import { loadConfig } from '../../src/platform/config.ts'
import {
  cleanUp,
  type DemoOptions,
  type DemoProcess,
  makeDataDir,
  removeDataDir,
  spawnDemo,
  startDemoProcess,
  whoOutlives,
} from '../harness/demo-process.ts'
import { freePort } from '../harness/free-port.ts'
import { makeScratchFolder } from '../harness/scratch.ts'

const ENDING_MS = 60_000
/** The printed people and twelve members of the history; the shops' applications, and one that waits for its review. */
const ROWS = { users: 17, oauth_apps: 2, payment_apps: 6 }

/** Creates a data folder and removes it after the test. It has an empty database, or nothing if `isNew`. */
async function dataFolder({ isNew = false } = {}): Promise<string> {
  const dataDir = await (isNew ? makeScratchFolder() : makeDataDir())
  onTestFinished(() => removeDataDir(dataDir))
  return dataDir
}

/** Starts the demo, and ends it after the test at the latest. */
async function start(options: DemoOptions): Promise<DemoProcess> {
  const started = await startDemoProcess(options)
  onTestFinished(() => cleanUp(started, options.dataDir))
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

/** A listener that counts its callers. */
async function listen(): Promise<{ port: number; calls(): number }> {
  let calls = 0
  const server: Server = createServer((socket) => {
    calls += 1
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { port: (server.address() as { port: number }).port, calls: () => calls }
}

/** Opens the demo's database while the demo runs. */
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
  test('prints one line of JSON with every person and thing', async () => {
    const dataDir = await dataFolder({ isNew: true })
    const { demo, output } = await start({ dataDir })

    expect(output().stdout.trimEnd().split('\n')).toHaveLength(1)
    expect(output().stderr).toBe('')
    const passwords = Object.fromEntries(demo.people.map((person) => [person.username, person.password]))
    expect(demo.people).toEqual([
      person('alice', 5_000, 2),
      person('bob', 1_000, 2),
      person('carol', 300, 1),
      person('dora', 50, 0),
      { ...person('admin', 0, 4), admin: true },
    ])
    for (const [username, password] of Object.entries(passwords))
      expect(password).toMatch(new RegExp(`^${username}-[a-z2-9]{6}$`))
    expect(new Set(Object.values(passwords)).size).toBe(5)
    expect(demo).toEqual({
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      shop_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      gateway_shop_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
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
        applicant: 'bob',
      },
    })
    for (const url of [`${demo.base_url}/readyz`, demo.shop_url, demo.gateway_shop_url])
      expect((await fetch(url)).status, url).toBe(200)
    expect((await stat(join(dataDir, 'demo.json'))).mode & 0o777).toBe(0o600)
  })

  test('lets the shop charge under mandates, signed in at its application', async () => {
    const dataDir = await dataFolder()
    const { demo } = await start({ dataDir })
    const { apps, setting } = await withDatabase(dataDir, async (db) => ({
      apps: await db
        .selectFrom('payment_apps')
        .where('mandate_right', '!=', 'none')
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

  test('has thirty days of history in sound books', async () => {
    const dataDir = await dataFolder()
    await start({ dataDir })
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
    expect(days.size).toBeGreaterThanOrEqual(29)
    expect([...statuses]).toEqual(expect.arrayContaining(['paid', 'refunded']))
    expect(failed).toEqual([])
  })

  test('writes its log to standard error, so that the line stays alone', async () => {
    const { demo, output } = await start({ dataDir: await dataFolder(), env: { LOG_LEVEL: 'info' } })
    expect((await fetch(demo.base_url)).status).toBe(200)
    await expect.poll(() => output().stderr).toContain('"msg"')
    expect(output().stdout).toBe(`${JSON.stringify(demo)}\n`)
  })

  test('without --json prints the addresses, the sign-ins, and what to do first', async () => {
    const dataDir = await dataFolder()
    const child = await spawnDemo({ dataDir, flags: ['--demo'] })
    onTestFinished(async () => {
      child.kill()
      if (child.exitCode === null) await once(child, 'exit')
    })
    const lines: string[] = []
    for await (const line of createInterface({ input: child.stdout! })) {
      lines.push(line)
      if (line.startsWith('The plugin of the mug shop')) break
    }
    expect(lines).toEqual([
      expect.stringMatching(/^Tessera {3}http:\/\/127\.0\.0\.1:\d+$/),
      expect.stringMatching(/^Shop {6}http:\/\/127\.0\.0\.1:\d+$/),
      expect.stringMatching(/^Mug shop {2}http:\/\/127\.0\.0\.1:\d+$/),
      '',
      'sign in as   password       points   trust   who is',
      expect.stringMatching(/^alice {8}alice-[a-z2-9]{6} {4}5,000 {3}TL2 {5}a buyer$/),
      expect.stringMatching(/^bob {10}bob-[a-z2-9]{6} {6}1,000 {3}TL2 {5}the merchant$/),
      expect.stringMatching(/^carol {8}carol-[a-z2-9]{6} {6}300 {3}TL1 {5}a basic member$/),
      expect.stringMatching(/^dora {9}dora-[a-z2-9]{6} {8}50 {3}TL0 {5}short of points$/),
      expect.stringMatching(/^admin {8}admin-[a-z2-9]{6} {8}0 {3}TL4 {5}the administrator$/),
      '',
      'Open the shop, sign in as alice, and buy the sticker pack.',
      'The plugin of the mug shop speaks the epay protocol: it needs an address, a pid and keys.',
    ])
  })

  test('never contacts DATABASE_URL', async () => {
    const other = await listen()
    const dataDir = await dataFolder({ isNew: true })
    await start({ dataDir, env: { DATABASE_URL: `postgres://demo:secret@127.0.0.1:${other.port}/precious` } })
    expect(other.calls()).toBe(0)
    expect(await readdir(dataDir)).toContain('postgres')
  })

  test('that was killed half-way is completed by the next', async () => {
    const dataDir = await dataFolder({ isNew: true })
    const killed = await spawnDemo({ dataDir })
    onTestFinished(() => void killed.kill('SIGKILL'))
    // The start writes the file before it creates the members.
    const isBegun = () => readdir(dataDir).then((names) => names.includes('demo.json'))
    while (killed.exitCode === null && !(await isBegun())) await sleep(5)
    killed.kill('SIGKILL')
    await once(killed, 'exit')

    const { demo } = await start({ dataDir })
    expect(demo.people.map((entry) => entry.points)).toEqual([5_000, 1_000, 300, 50, 0])
    expect(await withDatabase(dataDir, countRows)).toEqual(ROWS)
  })
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

describe('a second start', () => {
  test('finds its data, and its applications follow the ports', async () => {
    const dataDir = await dataFolder()
    const first = await start({ dataDir })
    // A test application has the same name as its live one.
    await withDatabase(dataDir, (db) =>
      sql`
        insert into payment_apps
          (payment_id, pid, book, status, live_app_id, applicant_id, name, description, callback_url)
        select 'pay_test' || lpad(id::text, 16, '0'), nextval('payment_apps_test_pid'), 'test', 'approved', id,
          applicant_id, name, description, callback_url
        from payment_apps where book = 'live'`.execute(db),
    )
    expect(await first.end('SIGTERM')).toBe(0)
    const { demo } = await start({ dataDir })

    expect(demo.base_url).not.toBe(first.demo.base_url)
    expect(demo.people).toEqual(first.demo.people)
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
    const approved = await withDatabase(dataDir, (db) =>
      db.selectFrom('payment_apps').where('book', '=', 'live').select('unreviewed_change_at').execute(),
    )
    expect(approved.filter((app) => app.unreviewed_change_at !== null)).toEqual([])
    const forSignIn = await withDatabase(dataDir, (db) =>
      db.selectFrom('oauth_apps').select('reviewed_at').execute(),
    )
    expect(forSignIn.filter((app) => app.reviewed_at === null)).toEqual([])
    // The service accepts the address to which the shop redirects: it leads to the sign-in, not to an error page.
    const login = await fetch(`${demo.shop_url}/login`, { redirect: 'manual' })
    const authorization = await fetch(login.headers.get('location')!, {
      redirect: 'manual',
      headers: { accept: 'text/html' },
    })
    expect(authorization.status).toBe(303)
    expect(authorization.headers.get('location')).toMatch(/^\/sign-in\?/)
  })

  test('replaces a lost client secret and a changed password', async () => {
    const dataDir = await dataFolder()
    const first = await start({ dataDir })
    await withDatabase(dataDir, (db) =>
      db.updateTable('users').set({ password_hash: null }).where('username', '=', 'alice').execute(),
    )
    await first.end('SIGTERM')
    const file = join(dataDir, 'demo.json')
    const { passwords } = JSON.parse(await readFile(file, 'utf8'))
    await writeFile(file, JSON.stringify({ passwords }))

    const { demo } = await start({ dataDir })
    expect(demo.people).toEqual(first.demo.people)
    expect(demo.oauth_app.client_id).not.toBe(first.demo.oauth_app.client_id)
    const linked = await withDatabase(dataDir, (db) =>
      db
        .selectFrom('payment_apps')
        .where('mandate_right', '=', 'granted')
        .select('oauth_client_id')
        .execute(),
    )
    expect(linked).toEqual([{ oauth_client_id: demo.oauth_app.client_id }])
    expect(demo.payment_app.payment_id).toBe(first.demo.payment_app.payment_id)
    // The same file held the private key for V2.
    expect(demo.gateway_app.payment_id).toBe(first.demo.gateway_app.payment_id)
    expect(demo.gateway_app.merchant_private_key).not.toBe(first.demo.gateway_app.merchant_private_key)
    expect(await withDatabase(dataDir, countRows)).toEqual(ROWS)
    const hash = await withDatabase(dataDir, (db) =>
      db
        .selectFrom('users')
        .where('username', '=', 'alice')
        .select('password_hash')
        .executeTakeFirstOrThrow(),
    )
    expect(await verifyPassword(passwords.alice, hash.password_hash)).toBe(true)
  })
})

describe('the end', () => {
  test('on SIGTERM leaves no process', async () => {
    const { descendants, end } = await start({ dataDir: await dataFolder() })
    expect(descendants.some(({ command }) => command.endsWith('shop.js'))).toBe(true)
    expect(descendants.some(({ command }) => /postgres -D/.test(command))).toBe(true)
    expect(await end('SIGTERM')).toBe(0)
    expect(await whoOutlives(descendants, 0)).toEqual([])
  })

  test('by kill -9 takes shop and Postgres along, and loses nothing', async () => {
    const dataDir = await dataFolder()
    const first = await start({ dataDir })
    await first.end('SIGKILL')
    expect(await whoOutlives(first.descendants, ENDING_MS)).toEqual([])
    const second = await start({ dataDir })
    expect(second.demo.people).toEqual(first.demo.people)
  })
})

describe('a start that cannot succeed', () => {
  test.each(['PORT', 'SHOP_PORT'])('says so in one sentence when %s is taken', async (variable) => {
    const dataDir = await dataFolder({ isNew: true })
    const { port } = await listen()
    const ports = variable === 'PORT' ? { port } : { shopPort: port }
    expect(await failedStart({ dataDir, ...ports })).toEqual({
      code: 1,
      stdout: '',
      stderr: `Port ${port} is taken by another program: set ${variable} to a free one.\n`,
    })
    expect(await readdir(dataDir)).toEqual([])
  })

  test('leaves the addresses of a demo that already runs alone', async () => {
    const dataDir = await dataFolder()
    const { demo } = await start({ dataDir })
    const port = Number(new URL(demo.base_url).port)
    const { code } = await failedStart({ dataDir, port, shopPort: await freePort() })
    expect(code).toBe(1)
    const uris = await withDatabase(dataDir, (db) =>
      db
        .selectFrom('oauth_apps')
        .where('client_id', '=', demo.oauth_app.client_id)
        .select('redirect_uris')
        .execute(),
    )
    expect(uris).toEqual([{ redirect_uris: demo.oauth_app.redirect_uris }])
  })

  test('says so in one sentence when another runs on its data folder', async () => {
    const dataDir = await dataFolder()
    const { demo } = await start({ dataDir })
    const answer = await failedStart({ dataDir, port: await freePort(), shopPort: await freePort() })
    expect(answer).toMatchObject({ code: 1, stdout: '' })
    expect(answer.stderr).toContain('DATA_DIR is in use by another Tessera')
    expect((await fetch(`${demo.base_url}/readyz`)).status).toBe(200)
  })

  test('refuses one port for both', async () => {
    const port = await freePort()
    const answer = await failedStart({ dataDir: await dataFolder({ isNew: true }), port, shopPort: port })
    expect(answer).toMatchObject({ code: 1, stdout: '' })
    expect(answer.stderr).toContain('SHOP_PORT must differ from PORT')
  })

  test('refuses a public address', async () => {
    const dataDir = await dataFolder({ isNew: true })
    const answer = await failedStart({ dataDir, env: { PUBLIC_URL: 'https://id.example.org' } })
    expect(answer).toMatchObject({ code: 1, stdout: '' })
    expect(answer.stderr).toContain('PUBLIC_URL must be loopback or absent: --demo is for this machine only')
    expect(await readFile(join(dataDir, 'demo.json'), 'utf8').catch(() => undefined)).toBeUndefined()
  })
})
