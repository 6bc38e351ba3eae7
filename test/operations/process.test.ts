/**
 * The real process: three starts over one database, logs, traces, orderly stops, and starts that fail. Kills are in faults/.
 * spec/limits 3.1 and 4.1.
 */
import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createUser } from '../../src/accounts/people/users.ts'
import { hashPassword } from '../../src/accounts/security/password.ts'
import { openSettings } from '../../src/core/settings.ts'
import { type Db, openDatabase } from '../../src/database/connection.ts'
import { rotateDueSigningKeys, rotateSigningKeys } from '../../src/identity/keys/rotation.ts'
import { grantPoints } from '../../src/ledger/points.ts'
import { ensureAdministrator } from '../../src/operations/first-start.ts'
import { applyForPaymentApp, type PaymentAppCredentials } from '../../src/payment/apps/apps.ts'
import { reviewPaymentApp } from '../../src/payment/apps/review.ts'
import { loadConfig } from '../../src/platform/config.ts'
import { makeSecrets } from '../../src/platform/secrets.ts'
import { VERSION } from '../../src/platform/version.ts'
import { sentenceFor, serve } from '../../src/serve.ts'
import { openApplication } from '../harness/application.ts'
import { browserAt } from '../harness/browser.ts'
import { type Collector, startCollector } from '../harness/collector.ts'
import { freePort } from '../harness/free-port.ts'
import { createDatabase } from '../harness/harness.ts'
import { ROOT, type ServerProcess, startServer, stopServer } from '../harness/server-process.ts'
import { hasLeft } from '../harness/thoroughness.ts'
import { until } from '../harness/waiting.ts'

const PASSWORD = 'correct horse battery'

/** Prints each module of the tracing library that is loaded. */
const WATCHED = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module'
    registerHooks({
      load(url, context, next) {
        if (url.includes('@opentelemetry')) process._rawDebug('loaded', url)
        return next(url, context)
      },
    })`)}`,
}

let database: { url: string; drop: () => Promise<void> }
let db: Db
let dataDir: string

beforeAll(async () => {
  database = await createDatabase()
  db = openDatabase(database.url, { max: 4, onBroken: () => {} })
  dataDir = await mkdtemp(join(tmpdir(), 'tessera-process-'))
})
afterAll(async () => {
  await db.destroy()
  await database.drop()
  await rm(dataDir, { recursive: true })
})

const start = (env: Record<string, string>, probe?: '/healthz'): Promise<ServerProcess> =>
  startServer({ DATABASE_URL: database.url, DATA_DIR: dataDir, ...env }, { probe })

const secretsOfService = async () => makeSecrets((await readFile(join(dataDir, 'app-secret'), 'utf8')).trim())

/** Makes an approved payment application, and a member with points, under the secret of the first start. */
async function makeShopAndBuyer(): Promise<PaymentAppCredentials> {
  const now = new Date()
  const password_hash = await hashPassword(PASSWORD)
  const [buyer, seller] = [
    await createUser(db, { username: 'buyer', password_hash, trust_level: 1 }),
    await createUser(db, { username: 'seller', password_hash, trust_level: 1 }),
  ]
  const grant = { amount: 10_000n, reference: 'start', reason: 'test', actor_id: null, now }
  await grantPoints(db, { user_id: buyer, ...grant })
  const deps = { db, secrets: await secretsOfService(), settings: openSettings(db), clock: () => now }
  const application = { name: 'Shop', description: '', callback_url: 'http://127.0.0.1:9/paid' }
  const app = await applyForPaymentApp(deps as Parameters<typeof applyForPaymentApp>[0], {
    applicant_id: seller,
    ...application,
  })
  const approval = { decision: 'approve', reason: '', reviewer_id: seller } as const
  await reviewPaymentApp(deps as Parameters<typeof reviewPaymentApp>[0], {
    payment_id: app.payment_id,
    ...approval,
  })
  return app
}

/** Sends the head of a request and a part of its body, and resolves when the server has asked for the body. */
async function beginRequest(url: string, { body, sent }: { body: string; sent: number }) {
  const call = request(`${url}/oauth2/token`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': body.length,
      expect: '100-continue',
    },
  })
  const answered = new Promise<IncomingMessage | undefined>((resolve) => {
    call.once('response', resolve)
    call.once('error', () => resolve(undefined))
  })
  call.flushHeaders()
  await once(call, 'continue')
  if (sent > 0) call.write(body.slice(0, sent))
  return { answered, finish: () => call.end(body.slice(sent)) }
}

describe('the first start', () => {
  let server: ServerProcess
  /** What passed through the process and must not be in its log. */
  let secrets: string[]

  beforeAll(async () => {
    server = await start({ LOG_LEVEL: 'debug', ...WATCHED })
  })
  afterAll(() => stopServer(server, 'SIGKILL'))

  it('makes an administrator with a one-time password, and a secret', async () => {
    const password = /administrator: admin, one-time password (\w+)/.exec(server.output())?.[1]
    expect(password).toMatch(/^\w{16}$/)
    expect((await readFile(join(dataDir, 'app-secret'), 'utf8')).length).toBe(64)
    const browser = browserAt(server.url)
    const form = await browser.get('/sign-in')
    const answer = await browser.submit(form, '/sign-in', { username: 'admin', password: password! })
    expect(answer.status).toBe(303)
    expect((await browser.get('/admin')).location).toBe('/account/password?return_to=%2Fadmin')
  })

  it('serves a shop and its buyer', async () => {
    const app = await makeShopAndBuyer()
    const browser = browserAt(server.url)
    const form = await browser.get('/sign-in?return_to=%2Faccount%3Fcode%3Dsecret-code')
    await browser.submit(form, '/sign-in', { username: 'buyer', password: PASSWORD })
    const unsigned = 'amount=100&description=Tea&order_id=order-1'
    const signature = createHmac('sha256', app.secret_key).update(unsigned).digest('hex')
    const placed = await fetch(`${server.url}/payment/pay/${app.payment_id}/process`, {
      method: 'POST',
      body: new URLSearchParams(`${unsigned}&signature=${signature}`),
    })
    const path = new URL(((await placed.json()) as { payment_url: string }).payment_url).pathname
    const paid = await browser.submit(await browser.get(path), path)
    expect(paid.status).toBe(303)
    await browser.get('/oauth2/auth?client_id=secret-client&state=secret-state')
    await fetch(`${server.url}/oauth2/token`, {
      method: 'POST',
      headers: { authorization: 'Basic c2VjcmV0OnNlY3JldA==' },
      body: new URLSearchParams({ code: 'secret-code' }),
    })
    secrets = [
      ...[PASSWORD, app.token, app.secret_key, app.merchant_key, signature, path.split('/').pop()!],
      new URL(paid.location!).searchParams.get('signature')!,
      ...['secret-', 'c2VjcmV0', 'tessera_session'],
    ]
  })

  it('survives cuts of its database connections under every request', async () => {
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
    await until(async () => (await fetch(`${server.url}/readyz`)).ok)
  })

  it('finishes the request in flight before it stops', async () => {
    const body = 'grant_type=refresh_token&refresh_token=none&client_id=nobody&client_secret=nothing'
    // The server has asked for the body, so the signal arrives in the middle of the request.
    const { answered, finish } = await beginRequest(server.url, { body, sent: 0 })
    const stopped = stopServer(server, 'SIGTERM')
    await until(() =>
      fetch(`${server.url}/healthz`).then(
        () => false,
        (error) => error.cause?.code === 'ECONNREFUSED',
      ),
    )
    expect(server.child.exitCode).toBeNull()

    finish()
    const response = (await answered)!
    // The database gave this answer, so it is still open.
    expect(response.statusCode).toBe(401)
    expect(JSON.parse(await text(response))).toMatchObject({ error: 'invalid_client' })
    expect(await stopped).toBe(0)
  })

  it('has logged its version once it listens', () => {
    expect(server.output()).toMatch(new RegExp(`"msg":"Tessera ${VERSION} listens at http`))
    expect(server.output()).toContain(`Tessera ${VERSION} is at ${server.url}`)
  })

  it('has logged requests by route, and none of the secrets that passed through', () => {
    const log = server.output()
    expect(log).toContain('"route":"/payment/pay/:transaction_id"')
    expect(secrets.filter((secret) => log.includes(secret))).toEqual([])
  })

  it('has loaded no tracing without a collector', () => {
    expect(server.output()).toContain('"msg":"request"')
    expect(server.output()).not.toMatch(/opentelemetry|trace_id/)
  })
})

describe('the second start', () => {
  it('makes no administrator, and ends with the shell that npm started', async () => {
    const port = String(await freePort())
    const shell = spawn('/bin/sh', ['-c', `"${process.execPath}" src/start.js; :`], {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        DATABASE_URL: database.url,
        DATA_DIR: dataDir,
        PORT: port,
        npm_lifecycle_event: 'start',
      },
    })
    // The process has this output too, so it closes when both have ended.
    const output = text(shell.stdout)
    await until(() =>
      fetch(`http://127.0.0.1:${port}/healthz`).then(
        () => true,
        () => false,
      ),
    )
    shell.kill('SIGTERM')
    expect(await output).toContain(`Tessera ${VERSION} is at`)
    expect(await output).not.toContain('one-time password')
  })
})

describe.runIf(hasLeft('STARTS'))('a start with a wrong clock', () => {
  const DAY_MS = 86_400_000

  /** Lets the clock of a process be wrong. Only `Date` moves, as with a machine whose clock was set. */
  const shifted = (ms: number) => ({
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`
      const Right = Date
      globalThis.Date = class Date extends Right {
        constructor(...moment) {
          if (moment.length === 0) super(Right.now() + ${ms})
          else super(...moment)
        }
        static now() {
          return Right.now() + ${ms}
        }
      }`)}`,
  })

  it.each([
    ['400 days ahead', 400 * DAY_MS, 'ahead of'],
    ['a day behind', -DAY_MS, 'behind'],
  ])('%s is not ready, and names the clock instead of APP_SECRET', async (_, ms, where) => {
    const server = await start(shifted(ms), '/healthz')
    const ready = await fetch(`${server.url}/readyz`)
    expect(ready.status).toBe(503)
    const checks = { database: true, migrations: true, writes: true, clock: false, signing_key: false }
    expect(await ready.json()).toEqual({ status: 'not ready', checks })
    expect(server.output()).toMatch(new RegExp(`"level":50.*seconds ${where} Postgres': .* its rounds rest`))
    expect(server.output()).not.toContain('APP_SECRET')
    expect(await stopServer(server, 'SIGTERM')).toBe(0)
  })
})

describe.runIf(hasLeft('STARTS'))('a start with a collector of traces', () => {
  let server: ServerProcess
  let collector: Collector
  const admin = () => db.updateTable('users').where('username', '=', 'admin')

  beforeAll(async () => {
    // The bearer of the name may be any member, who does not become an administrator.
    await admin().set({ is_admin: false }).execute()
    const secrets = makeSecrets('another secret of at least 32 characters')
    const databaseTime = async () => new Date(Date.now() + 90 * 86_400_000)
    await rotateDueSigningKeys({ db, secrets, databaseTime, settings: openSettings(db) })
    collector = await startCollector()
    server = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...WATCHED })
  })
  afterAll(async () => {
    await stopServer(server, 'SIGKILL')
    await collector.close()
    await admin().set({ is_admin: true }).execute()
  })

  it('says why there is no administrator', async () => {
    expect(server.output()).toContain(
      'There is NO ADMINISTRATOR, and admin is the name of a member: `tessera',
    )
    const isAdmin = db.selectFrom('users').where('username', '=', 'admin').select('is_admin')
    expect(await isAdmin.execute()).toEqual([{ is_admin: false }])
  })

  it('says how signing keys under another APP_SECRET are withdrawn', async () => {
    expect(server.output()).toMatch(/"kids":\[.*tessera keys rotate withdraws them/)
    const { withdrawn } = await rotateSigningKeys({
      db,
      secrets: await secretsOfService(),
      databaseTime: async () => new Date(),
    })
    expect(withdrawn).toHaveLength(2)
  })

  it('sends its last spans when it stops', async () => {
    await fetch(`${server.url}/sign-in`)
    expect(await stopServer(server, 'SIGINT')).toBe(0)
    expect(server.output()).toMatch(/^loaded .*@opentelemetry\/sdk-trace/m)
    const span = collector.spans().find(({ name }) => name === 'GET /sign-in')!
    const lines = server
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
    const line = lines.map((line) => JSON.parse(line)).find(({ route }) => route === '/sign-in')
    expect(line).toMatchObject({ trace_id: span.traceId, reqId: span.attributes['tessera.request_id'] })
  })
})

describe('a request that never becomes whole', () => {
  const incomplete = { body: 'grant_type='.padEnd(100, 'x'), sent: 11 }

  it('gets 408 after 15 seconds', async () => {
    const clock = () => new Date()
    const { app, close } = await openApplication(database.url, { env: {}, clock })
    expect(app.server.requestTimeout).toBe(15_000)
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    const { answered } = await beginRequest(url, incomplete)
    // Node exchanges the two limits when that of the whole request is the shorter one.
    Object.assign(app.server, { requestTimeout: 1, headersTimeout: 1 })
    expect((await answered)?.resume().statusCode).toBe(408)
    await close()
  })

  it('is cut by a stop after 15 seconds', async () => {
    const PORT = String(await freePort())
    const config = loadConfig({ DATABASE_URL: database.url, DATA_DIR: dataDir, PORT, LOG_LEVEL: 'silent' })
    const { stop } = await serve(config, async () => {})
    const { answered } = await beginRequest(config.PUBLIC_URL, incomplete)
    const timers = vi.spyOn(globalThis, 'setTimeout')
    const stopped = stop()
    const cut = timers.mock.calls.find(([, ms]) => ms === 15_000)![0] as () => void
    timers.mockRestore()
    cut()
    expect(await answered).toBeUndefined()
    await stopped
  })
})

it('a stop is said at /readyz first, and ends open connections by their answers', async () => {
  const env = { DATABASE_URL: database.url, DATA_DIR: dataDir, PORT: String(await freePort()) }
  const config = loadConfig({ ...env, LOG_LEVEL: 'silent', STOP_GRACE_SECONDS: '1' })
  const { stop } = await serve(config, async () => {})
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = async (path: string) => {
    const call = request(config.PUBLIC_URL + path, { agent }).end()
    const [answer] = (await once(call, 'response')) as [IncomingMessage]
    const { statusCode: status, headers } = answer
    return { status, connection: headers.connection, isOpen: call.reusedSocket, body: await text(answer) }
  }
  const open = { connection: 'keep-alive', isOpen: true }
  expect(await ask('/readyz')).toMatchObject({ status: 200, connection: 'keep-alive' })
  const stopped = stop()
  expect(await ask('/readyz')).toEqual({ status: 503, ...open, body: '{"status":"stopping"}' })
  expect(await ask('/healthz')).toMatchObject({ status: 200, ...open })
  await until(() =>
    fetch(`${config.PUBLIC_URL}/healthz`).then(
      () => false,
      (error) => error.cause?.code === 'ECONNREFUSED',
    ),
  )
  expect(await ask('/healthz')).toMatchObject({ status: 200, connection: 'close', isOpen: true })
  await stopped
})

describe('a start that cannot succeed', () => {
  /** The last sentence that a process would print. platform/config sees that it prints it and exits with 1. */
  async function sentenceOf(env: Record<string, string>): Promise<string | undefined> {
    const port = String(await freePort())
    const config = loadConfig({ DATABASE_URL: database.url, DATA_DIR: dataDir, PORT: port, ...env })
    const started = serve(config, async () => {})
    return started.then(async ({ stop }) => {
      await stop()
      throw new Error('It started')
    }, sentenceFor)
  }

  it('says in a sentence that the database is absent or closed', async () => {
    const port = await freePort()
    const gone = await sentenceOf({ DATABASE_URL: `postgres://tessera@127.0.0.1:${port}/tessera` })
    expect(gone).toMatch(/^DATABASE_URL leads to no database that can be used: .*ECONNREFUSED.*$/)
    const url = new URL(database.url)
    url.username = 'nobody'
    // A server without passwords says that the role does not exist.
    expect(await sentenceOf({ DATABASE_URL: url.href })).toMatch(
      /^DATABASE_URL leads to no database.*(password|exist).*$/,
    )
  })

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
    const refusal = await sentenceOf({ APP_SECRET: 'another secret of at least 32 characters' })
    expect(refusal).toContain('APP_SECRET is not the one under which this database was encrypted')
  })

  it('does not begin in production without a password for its first administrator', async () => {
    const fresh = await createDatabase()
    const there = openDatabase(fresh.url, { max: 1, onBroken: () => {} })
    const PUBLIC_URL = 'https://id.example.org'
    const APP_SECRET = '7f3c9a51e0b84d26a97c18f5e2d0b3467f3c9a51e0b84d26'
    const config = loadConfig({ DATABASE_URL: fresh.url, PUBLIC_URL, APP_SECRET })
    await expect(ensureAdministrator(there, config)).rejects.toThrow(
      /^The configuration has a fault:\n {2}- ADMIN_PASSWORD is required[^\n]*$/,
    )
    expect(await there.selectFrom('users').select('id').execute()).toEqual([])
    await there.destroy()
    await fresh.drop()
  })
})
