/** The real process: start, logs, an orderly stop, and cut database connections. Kills are in faults/. */
import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createUser } from '../../src/accounts/people/users.ts'
import { hashPassword } from '../../src/accounts/security/password.ts'
import { openSettings } from '../../src/core/settings.ts'
import { type Db, openDatabase } from '../../src/database/connection.ts'
import { rotateDueSigningKeys, rotateSigningKeys } from '../../src/identity/keys/rotation.ts'
import { grantPoints } from '../../src/ledger/points.ts'
import { applyForPaymentApp } from '../../src/payment/apps/apps.ts'
import { reviewPaymentApp } from '../../src/payment/apps/review.ts'
import { loadConfig } from '../../src/platform/config.ts'
import { makeSecrets } from '../../src/platform/secrets.ts'
import { sentenceFor, serve } from '../../src/serve.ts'
import { browserAt } from '../harness/browser.ts'
import { freePort } from '../harness/free-port.ts'
import { createDatabase } from '../harness/harness.ts'
import { ROOT, type ServerProcess, startServer, stopServer } from '../harness/server-process.ts'

const PASSWORD = 'correct horse battery'

let database: { url: string; drop: () => Promise<void> }
let db: Db
let dataDir: string
const running = new Set<ServerProcess>()

beforeAll(async () => {
  database = await createDatabase()
  db = openDatabase(database.url, { max: 4, onBroken: () => {} })
  dataDir = await mkdtemp(join(tmpdir(), 'tessera-process-'))
})
afterEach(async () => {
  for (const server of running) await stopServer(server, 'SIGKILL')
  running.clear()
})
afterAll(async () => {
  await db.destroy()
  await database.drop()
  await rm(dataDir, { recursive: true })
})

async function start(env: Record<string, string> = {}): Promise<ServerProcess> {
  const server = await startServer({ DATABASE_URL: database.url, DATA_DIR: dataDir, ...env })
  running.add(server)
  return server
}

describe('the process', () => {
  it('makes one administrator or says why not, and stops in order', {
    timeout: 180_000,
  }, async () => {
    const first = await start()
    const password = /administrator: admin, one-time password (\w+)/.exec(first.output())?.[1]
    expect(password).toMatch(/^\w{16}$/)
    expect((await readFile(join(dataDir, 'app-secret'), 'utf8')).length).toBe(64)
    const browser = browserAt(first.url)
    const form = await browser.get('/sign-in')
    const answer = await browser.submit(form, '/sign-in', { username: 'admin', password: password! })
    expect(answer.status).toBe(303)
    expect((await browser.get('/admin')).location).toBe('/account/password?return_to=%2Fadmin')
    expect(await stopServer(first, 'SIGTERM')).toBe(0)

    const second = await start()
    expect(second.output()).not.toContain('one-time password')
    await stopServer(second, 'SIGINT')

    // The bearer of the name may be any member: the start reports it, and makes nobody an administrator.
    const admin = db.updateTable('users').where('username', '=', 'admin')
    await admin.set({ is_admin: false }).execute()
    const third = await start()
    expect(third.output()).toContain('There is NO ADMINISTRATOR, and admin is the name of a member: `tessera')
    await stopServer(third, 'SIGINT')
    const isAdmin = db.selectFrom('users').where('username', '=', 'admin').select('is_admin')
    expect(await isAdmin.execute()).toEqual([{ is_admin: false }])
    await admin.set({ is_admin: true }).execute()
  })

  it('finishes the request in flight before it ends', async () => {
    const server = await start()
    const body = 'grant_type=refresh_token&refresh_token=none&client_id=nobody&client_secret=nothing'
    const call = request(`${server.url}/oauth2/token`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': body.length,
        expect: '100-continue',
      },
    })
    const answered = once(call, 'response')
    call.flushHeaders()
    // The server has asked for the body, so the signal arrives in the middle of the request.
    await once(call, 'continue')
    const stopped = stopServer(server, 'SIGTERM')
    const refuses = () =>
      fetch(`${server.url}/healthz`).then(
        () => false,
        (error) => error.cause?.code === 'ECONNREFUSED',
      )
    await vi.waitUntil(refuses, { timeout: 60_000 })
    expect(server.child.exitCode).toBeNull()

    call.end(body)
    const [response] = (await answered) as [IncomingMessage]
    // The database gave this answer, so it is still open.
    expect(response.statusCode).toBe(401)
    expect(JSON.parse(await text(response))).toMatchObject({ error: 'invalid_client' })
    expect(await stopped).toBe(0)
  })
})

describe('a request that never becomes whole', () => {
  /** Sends the head and a part of the body, and resolves when the server has asked for the body. */
  async function begin(url: string) {
    const call = request(`${url}/oauth2/token`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': 100,
        expect: '100-continue',
      },
    })
    const ended = new Promise<number | undefined>((resolve) => {
      call.once('response', (response) => resolve(response.resume().statusCode))
      call.once('error', () => resolve(undefined))
    })
    call.flushHeaders()
    await once(call, 'continue')
    call.write('grant_type=')
    return { ended }
  }

  it('gets 408, and does not keep another server from stopping in order', { timeout: 120_000 }, async () => {
    // Both wait for seconds, so they wait at the same time.
    const [serving, stopping] = [await start(), await start()]
    const [answered, cut] = [await begin(serving.url), await begin(stopping.url)]
    const stopped = stopServer(stopping, 'SIGTERM')
    expect(await answered.ended).toBe(408)
    // At the hard limit it would end with 1.
    expect(await stopped).toBe(0)
    expect(await cut.ended).toBeUndefined()
    expect(await stopServer(serving, 'SIGTERM')).toBe(0)
  })
})

describe('under npm', () => {
  it('the process ends with the shell that npm started', async () => {
    const port = String(await freePort())
    const shell = spawn('/bin/sh', ['-c', `"${process.execPath}" src/server.ts; :`], {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: database.url,
        DATA_DIR: dataDir,
        PORT: port,
        npm_lifecycle_event: 'start',
      },
    })
    const answers = () =>
      fetch(`http://127.0.0.1:${port}/healthz`).then(
        () => true,
        () => false,
      )
    await vi.waitUntil(answers, { timeout: 60_000 })
    shell.kill('SIGTERM')
    await vi.waitUntil(async () => !(await answers()), { timeout: 60_000 })
  })
})

describe('a start that cannot succeed', () => {
  /** Runs the process until it ends by itself, and returns its output. */
  async function fail(env: Record<string, string>): Promise<{ code: number | null; output: string }> {
    const child = spawn(process.execPath, ['src/server.ts'], {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: database.url,
        DATA_DIR: dataDir,
        PORT: String(await freePort()),
        ...env,
      },
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    await once(child, 'close')
    return { code: child.exitCode, output }
  }

  it('says in a sentence that the database is absent or closed', async () => {
    const port = await freePort()
    const gone = await fail({ DATABASE_URL: `postgres://tessera@127.0.0.1:${port}/tessera` })
    expect(gone).toEqual({
      code: 1,
      output: expect.stringMatching(
        /^DATABASE_URL leads to no database that can be used: .*ECONNREFUSED.*\n$/,
      ),
    })
    const url = new URL(database.url)
    url.password = 'wrong'
    const refused = await fail({ DATABASE_URL: url.href })
    expect(refused).toEqual({
      code: 1,
      output: expect.stringMatching(/^DATABASE_URL leads to no database.*password.*\n$/),
    })
  })

  /** The last sentence that a process would print, without a process. */
  async function sentenceOf(env: Record<string, string>): Promise<string | undefined> {
    const port = String(await freePort())
    const config = loadConfig({ DATABASE_URL: database.url, DATA_DIR: dataDir, PORT: port, ...env })
    const started = serve(config, async () => {})
    return started.then(async ({ stop }) => {
      await stop()
      throw new Error('It started')
    }, sentenceFor)
  }

  it('names HOST and PORT when it is there that it cannot listen', async () => {
    expect(await sentenceOf({ HOST: '300.1.1.1' })).toMatch(
      /^HOST=300\.1\.1\.1 is not an address that Tessera can listen/,
    )
    // No machine has this address.
    expect(await sentenceOf({ HOST: '192.0.2.1' })).toMatch(
      /^HOST=192\.0\.2\.1 is not an address that Tessera can listen/,
    )
    const metrics = { METRICS_PORT: String(await freePort()), METRICS_HOST: '192.0.2.1' }
    expect(await sentenceOf(metrics)).toMatch(
      /^METRICS_HOST=192\.0\.2\.1 is not an address that Tessera can listen/,
    )
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    expect(await sentenceOf({ PORT: String(port) })).toBe(
      `Port ${port} is taken by another program: set PORT to a free one.`,
    )
    taken.close()
  })

  it('says what the role may not do, or whose schema it is', async () => {
    const fresh = await createDatabase('template1')
    const owner = openDatabase(fresh.url, { max: 1, onBroken: () => {} })
    const role = `${fresh.name}_stranger`
    const name = `${fresh.name}_closed`
    await sql.raw(`create role ${role} login password 'stranger'`).execute(owner)
    await sql.raw('revoke create on schema public from public').execute(owner)
    const url = new URL(fresh.url)
    Object.assign(url, { username: role, password: 'stranger' })
    expect(await sentenceOf({ DATABASE_URL: url.href })).toMatch(
      /^Permission denied for schema public: .*alter database … owner to …/,
    )
    await sql.raw(`alter role ${role} set default_transaction_read_only = on`).execute(owner)
    expect(await sentenceOf({ DATABASE_URL: url.href })).toContain('the database takes no writes')
    url.pathname = `/${name}`
    expect(await sentenceOf({ DATABASE_URL: url.href })).toMatch(
      /no database that can be used: .*create database/,
    )
    await sql`create table schema_migrations (name text primary key, checksum text not null)`.execute(owner)
    await sql`insert into schema_migrations values ('999-future.sql', 'x')`.execute(owner)
    expect(await sentenceOf({ DATABASE_URL: fresh.url })).toMatch(
      /^The database is newer than this program, because it holds migration 999-future.sql: use the newer/,
    )
    await owner.destroy()
    await fresh.drop()
    await sql.raw(`drop role ${role}`).execute(db)
  })

  it('refuses another APP_SECRET than the one its database was filled under', async () => {
    const server = await start()
    await stopServer(server, 'SIGTERM')
    const { code, output } = await fail({ APP_SECRET: 'another secret of at least 32 characters' })
    expect(code).toBe(1)
    expect(output).toContain('APP_SECRET is not the one under which this database was encrypted')
    expect(output).not.toContain(' at ')
  })
})

describe('a signing key that was made under another APP_SECRET', () => {
  it('stops no start, and the log says how it is withdrawn', async () => {
    const secrets = makeSecrets('another secret of at least 32 characters')
    const clock = () => new Date(Date.now() + 90 * 86_400_000)
    await rotateDueSigningKeys({ db, secrets, clock, settings: openSettings(db) })
    const server = await start()
    expect(server.output()).toMatch(/"kids":\[.*tessera keys rotate withdraws them/)
    expect(await stopServer(server, 'SIGTERM')).toBe(0)
    const ours = makeSecrets((await readFile(join(dataDir, 'app-secret'), 'utf8')).trim())
    const { withdrawn } = await rotateSigningKeys({ db, secrets: ours, clock: () => new Date() })
    expect(withdrawn).toHaveLength(2)
  })
})

describe('the database connection', () => {
  it('may be cut under every request: the process and pool recover', async () => {
    const server = await start()
    const cut = () =>
      sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`.execute(
        db,
      )
    for (let round = 0; round < 10; round += 1) {
      const requests = Array.from({ length: 20 }, () =>
        fetch(`${server.url}/readyz`).then((answer) => answer.status),
      )
      const [statuses] = await Promise.all([Promise.all(requests), cut().catch(() => {})])
      expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([])
    }
    // The service finds connections that the last cut broke only when it uses them.
    await vi.waitUntil(async () => (await fetch(`${server.url}/readyz`)).ok, { timeout: 60_000 })
    expect(await stopServer(server, 'SIGTERM')).toBe(0)
  })
})

describe('a seller and a buyer on the real process', () => {
  const now = new Date()
  let app: Awaited<ReturnType<typeof applyForPaymentApp>>
  let buyer: bigint
  let seller: bigint
  let count = 0

  beforeAll(async () => {
    const secrets = makeSecrets((await readFile(join(dataDir, 'app-secret'), 'utf8')).trim())
    const password_hash = await hashPassword(PASSWORD)
    buyer = await createUser(db, { username: 'buyer', password_hash, trust_level: 1 })
    seller = await createUser(db, { username: 'seller', password_hash, trust_level: 1 })
    await grantPoints(db, {
      user_id: buyer,
      amount: 10_000n,
      reference: 'start',
      reason: 'test',
      actor_id: null,
      now,
    })
    const deps = { db, secrets, settings: openSettings(db), clock: () => now } as Parameters<
      typeof applyForPaymentApp
    >[0]
    app = await applyForPaymentApp(deps, {
      applicant_id: seller,
      name: 'Shop',
      description: '',
      callback_url: 'http://127.0.0.1:9/paid',
    })
    await reviewPaymentApp(deps, {
      payment_id: app.payment_id,
      decision: 'approve',
      reason: '',
      reviewer_id: seller,
    })
  })

  async function order(url: string): Promise<string> {
    const fields = { amount: '100', description: 'Tea', order_id: `order-${++count}` }
    const text = `amount=100&description=Tea&order_id=${fields.order_id}`
    const signature = createHmac('sha256', app.secret_key).update(text).digest('hex')
    const body = new URLSearchParams({ ...fields, signature })
    const answer = await fetch(`${url}/payment/pay/${app.payment_id}/process`, { method: 'POST', body })
    return new URL(((await answer.json()) as { payment_url: string }).payment_url).pathname
  }

  it('logs requests by route, and none of the secrets that passed through', async () => {
    const server = await start({ LOG_LEVEL: 'debug' })
    const browser = browserAt(server.url)
    const form = await browser.get('/sign-in?return_to=%2Faccount%3Fcode%3Dsecret-code')
    await browser.submit(form, '/sign-in', { username: 'buyer', password: PASSWORD })
    const path = await order(server.url)
    const paid = await browser.submit(await browser.get(path), path)
    await browser.get('/oauth2/auth?client_id=secret-client&state=secret-state')
    await fetch(`${server.url}/oauth2/token`, {
      method: 'POST',
      headers: { authorization: 'Basic c2VjcmV0OnNlY3JldA==' },
      body: new URLSearchParams({ code: 'secret-code' }),
    })
    await stopServer(server, 'SIGTERM')
    const log = server.output()
    expect(log).toContain('"route":"/payment/pay/:transaction_id"')
    const signature = new URL(paid.location!).searchParams.get('signature')!
    const secrets = [
      PASSWORD,
      app.token,
      app.secret_key,
      app.merchant_key,
      signature,
      path.split('/').pop()!,
      'secret-',
      'c2VjcmV0',
      'tessera_session',
    ]
    expect(secrets.filter((secret) => log.includes(secret))).toEqual([])
  })
})
