/** `tessera doctor` over a running service: each fault has its check and its remedy in the whole list. */
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer, request } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { examineBuiltIn } from '../../src/cli/doctor/database.ts'
import { SEEN_HEADER, seenTicket } from '../../src/core/health.ts'
import { openDatabase } from '../../src/database/connection.ts'
import { migrate } from '../../src/database/migrate.ts'
import { keepProof } from '../../src/ledger/proofs.ts'
import { VERSION } from '../../src/platform/version.ts'
import { makePerson } from '../harness/cast.ts'
import { certificateOf, type KeyAndCertificate } from '../harness/certificate.ts'
import { startTestForum, type TestForum } from '../harness/fake-forum.ts'
import { freePort } from '../harness/free-port.ts'
import { APP_SECRET, databaseUrl } from '../harness/global-setup.ts'
import { createDatabase, startTestApp, type TestApp } from '../harness/harness.ts'
import { tesseraAt } from '../harness/operator.ts'
import { makeScratchFolder } from '../harness/scratch.ts'

const CHECKS = [
  'configuration',
  'database',
  'built-in Postgres',
  'database writes',
  'timeouts',
  'named statements',
  'schema',
  'APP_SECRET',
  'books',
  'forum groups',
  'clock',
  'public address',
  'payment address',
  'version',
  'issuer',
  'passkeys',
  'proxy',
  'forum',
  'mail',
  'traces',
]
const OF_SCHEMA = ['APP_SECRET', 'books', 'forum groups']
const OF_DATABASE = [
  'built-in Postgres',
  'database writes',
  'timeouts',
  'named statements',
  'schema',
  ...OF_SCHEMA,
  'clock',
]

let test: TestApp
let environment: Record<string, string>

beforeAll(async () => {
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  test = await startTestApp({ PORT: port, PUBLIC_URL: url })
  // The doctor uses the real clock.
  test.clock.advance(Date.now() - test.clock.now().getTime())
  await test.app.listen({ host: '127.0.0.1', port: Number(port) })
  // Without pgbouncer before the database, which would answer in its place.
  const DATABASE_URL = databaseUrl(
    inject('adminUrl'),
    new URL(test.deps.config.DATABASE_URL!).pathname.slice(1),
  )
  environment = { DATABASE_URL, APP_SECRET, PUBLIC_URL: url }
  // The database of the tests is new to a start, which would migrate it.
  await migrate(DATABASE_URL)
})
afterAll(() => test.close())

type Found = { check: string; state: string; is_good: boolean; fault?: string; note?: string }

async function run(env: Record<string, string>, ...flags: string[]) {
  const { err, ...outcome } = await tesseraAt(env, 'doctor', ...flags)
  expect(err).toBe('')
  return outcome
}

/** The findings of the doctor with these variables. It always prints its whole list. */
async function findingsWith(env: Record<string, string>) {
  const { code, out } = await run({ ...environment, ...env }, '--json')
  const found = JSON.parse(out) as Found[]
  expect(found.map(({ check }) => check)).toEqual(CHECKS)
  // The Postgres of the tests runs without fsync, which is a fault.
  expect(code).toBe(3)
  const named = (state: string) => found.flatMap((each) => (each.state === state ? [each.check] : []))
  const by = (name: string) => found.find(({ check }) => check === name)!
  expect(
    found
      .filter(({ is_good }) => !is_good)
      .map(({ check }) => check)
      .sort(),
  ).toEqual([...named('fault'), ...named('skipped')].sort())
  return { faults: named('fault'), skipped: named('skipped'), by }
}

describe('an installation', () => {
  it('that is right passes, and unconfigured parts are named off', async () => {
    const { faults, skipped, by } = await findingsWith({})
    expect({ faults, skipped }).toEqual({ faults: ['database writes'], skipped: [] })
    expect(by('database writes').fault).toMatch(/^fsync is off/)
    expect(by('books')).toMatchObject({
      state: 'unknown',
      is_good: true,
      note: expect.stringContaining('never'),
    })
    for (const name of ['built-in Postgres', 'passkeys', 'proxy', 'forum', 'forum groups', 'mail', 'traces'])
      expect(by(name)).toMatchObject({ state: 'off', is_good: true })
    expect(by('passkeys').note).toMatch(/keep no passkeys\. For trials, open http:\/\/localhost:\d+/)

    await keepProof(test.deps)
    const { out, code } = await run(environment)
    expect(code).toBe(3)
    expect(out).toMatch(/^good {5}books: passed at \d{4}-\d\d-\d\dT/m)
    expect(out).toMatch(/^off {6}mail: SMTP_URL is not set$/m)
    expect(out).toMatch(/^FAULT {4}database writes: fsync is off/m)
  })

  it('whose configuration is wrong names every fault of it', async () => {
    const { faults, skipped, by } = await findingsWith({ PUBLIC_URL: 'https://id.example.org/', PORT: 'x' })
    expect(faults).toEqual(['configuration'])
    expect(skipped).toEqual(CHECKS.slice(1))
    expect(by('configuration').fault).toMatch(/^PORT must be .*; PUBLIC_URL must be an origin/)
    expect(by('mail').note).toBe('cannot be checked while configuration is at fault')
  })

  it('that is not served leaves unsaid what only its address could tell', async () => {
    const { faults, skipped, by } = await findingsWith({ PUBLIC_URL: `http://127.0.0.1:${await freePort()}` })
    expect(faults).toEqual(['database writes', 'public address', 'payment address'])
    expect(skipped).toEqual(['version', 'issuer'])
    // The address does not look like loopback.
    const nowhere = `https://0.0.0.0:${await freePort()}`
    expect((await findingsWith({ PUBLIC_URL: nowhere })).skipped).toEqual(['version', 'issuer', 'proxy'])
    expect(by('public address').fault).toMatch(
      /healthz cannot be reached: .*ECONNREFUSED.* start the service/,
    )
  })
})

describe('a service', () => {
  it('of another version than the doctor is at fault', async () => {
    expect((await findingsWith({})).by('version')).toMatchObject({ state: 'good', note: VERSION })
    const older = createHttpServer((_, answer) => answer.end(JSON.stringify({ version: '0.0.9' })))
    await once(older.listen(0, '127.0.0.1'), 'listening')
    const PUBLIC_URL = `http://127.0.0.1:${(older.address() as AddressInfo).port}`
    expect((await findingsWith({ PUBLIC_URL })).by('version').fault).toMatch(
      new RegExp(`^The service is version 0\\.0\\.9, and this program is ${VERSION}: restart the service`),
    )
    older.close()
  })

  it('with another APP_SECRET does not tell the doctor its version', async () => {
    const { by } = await findingsWith({ APP_SECRET: 'another secret of at least 32 characters' })
    expect(by('version')).toMatchObject({
      state: 'unknown',
      note: expect.stringMatching(
        /does not say which version it is: it has another APP_SECRET, or its clock/,
      ),
    })
  })
})

describe('a database', () => {
  it('that cannot be used is named with its cure; other checks continue', async () => {
    const at = (change: Partial<URL>) => Object.assign(new URL(environment['DATABASE_URL']!), change).href
    const folder = await makeScratchFolder()
    const file = join(folder, 'file')
    await writeFile(file, '')
    const broken: [env: Record<string, string>, fault: RegExp][] = [
      [{ DATABASE_URL: at({ port: String(await freePort()) }) }, /ECONNREFUSED.*\(start Postgres there/],
      [{ DATABASE_URL: at({ host: 'nowhere.invalid' }) }, /(ENOTFOUND|EAI_AGAIN).*\(correct the host/],
      // On a server without passwords, only the name is wrong.
      [{ DATABASE_URL: at({ username: 'nobody' }) }, /(password.*\(correct its name|exist \(the role must)/],
      [{ DATABASE_URL: at({ pathname: '/nowhere' }) }, /"nowhere" does not exist \(.*create database/],
      [
        { DATABASE_URL: '', DATA_DIR: file },
        /^DATABASE_URL is not set, and the built-in Postgres does not start/,
      ],
    ]
    for (const [env, why] of broken) {
      const { faults, skipped, by } = await findingsWith(env)
      expect(by('database').fault).toMatch(why)
      expect({ faults, skipped }).toEqual({ faults: ['database'], skipped: OF_DATABASE })
      expect(by('books').note).toBe('cannot be checked while database is at fault')
      expect(by('issuer').state).toBe('good')
    }
    await rm(folder, { recursive: true })
  })

  it('that is built in is named with its age, and with the remedy once it lacks fixes', async () => {
    const { config } = test.deps
    const at = (days: number) =>
      examineBuiltIn({
        ...{ config: { ...config, DATABASE_URL: undefined }, db: test.db, url: '', refusal: undefined },
        clock: () => new Date(Date.parse('2026-05-14') + days * 86_400_000),
      })
    const note = 'The built-in Postgres is 18.4, released 100 days ago'
    expect(await at(100)).toEqual({ state: 'good', note })
    expect(await at(101)).toEqual({
      state: 'unknown',
      note: expect.stringMatching(/18\.4, released 101 days ago\. It lacks the security fixes since: .*move/),
    })
  })

  it('with too few rights for its role names the right to give', async () => {
    const fresh = await createDatabase()
    const owner = openDatabase(fresh.url, { max: 1, onBroken: () => {} })
    const role = `${fresh.name}_stranger`
    const there = Object.assign(new URL(fresh.url), { username: role, password: 'stranger' }).href
    const examine = () => findingsWith({ DATABASE_URL: there })
    const does = (statement: string) => sql.raw(statement).execute(owner)
    await does(`create role ${role} login password 'stranger'`)
    await does('revoke create on schema public from public')
    const closed = await examine()
    expect(closed.by('database').fault).toContain(`alter database ${fresh.name} owner to ${role}`)
    await does(`grant usage, create on schema public to ${role}`)
    const barred = await examine()
    expect(barred.by('database').fault).toMatch(
      /may not read and write \d+ tables, such as .*alter table … owner/,
    )
    expect(barred.skipped).toEqual(OF_DATABASE)
    await does(`grant all on all tables in schema public to ${role}`)
    await does(`alter role ${role} set default_transaction_read_only = on`)
    const reading = await examine()
    expect({ faults: reading.faults, skipped: reading.skipped }).toEqual({
      faults: ['database writes', 'timeouts'],
      skipped: [],
    })
    expect(reading.by('database writes').fault).toMatch(/^Transactions are read only/)
    // A start sets them, and the test made no start.
    expect(reading.by('timeouts').fault).toMatch(/^idle_in_transaction_session_timeout is off.*alter role/)
    expect(reading.by('APP_SECRET')).toMatchObject({
      state: 'unknown',
      note: expect.stringContaining('first start'),
    })
    await owner.destroy()
    await fresh.drop()
    await sql.raw(`drop role ${role}`).execute(test.db)
  })

  it('of another version is explained by the doctor and every command', async () => {
    const fresh = await createDatabase()
    const db = openDatabase(fresh.url, { max: 1, onBroken: () => {} })
    const there = { DATABASE_URL: fresh.url }
    const expectFault = async (why: RegExp) => {
      const { by, skipped } = await findingsWith(there)
      expect(by('schema').fault).toMatch(why)
      expect(skipped).toEqual(OF_SCHEMA)
      for (const flags of [[], ['--json']]) {
        const words = ['user', 'create', 'carla', ...flags]
        const { code, err } = await tesseraAt({ ...environment, ...there }, ...words)
        expect(code).toBe(1)
        const error = flags.length > 0 ? JSON.parse(err).error : err.trimEnd()
        expect(error).toMatch(why)
        expect(error).not.toContain('\n')
      }
    }
    await sql`insert into schema_migrations (name, checksum) values ('999-future.sql', 'x')`.execute(db)
    await expectFault(
      /^The database is newer than this program, .*: use the newer version of Tessera, or restore/,
    )
    await sql`delete from schema_migrations where name in ('999-future.sql', '040-identity.sql')`.execute(db)
    await expectFault(/^The database is older .* lacks migration 040-identity.sql: run `tessera migrate`/)
    await sql`alter table schema_migrations rename to hidden`.execute(db)
    await expectFault(/^The database has not been set up: run `tessera migrate`, or start/)
    await db.destroy()
    await fresh.drop()
  })

  it('filled under another APP_SECRET is told so', async () => {
    const { faults, skipped, by } = await findingsWith({
      APP_SECRET: 'another secret of at least 32 characters',
    })
    expect({ faults, skipped }).toEqual({ faults: ['database writes', 'APP_SECRET'], skipped: [] })
    expect(by('APP_SECRET').fault).toMatch(
      /^APP_SECRET is not the one under which .*: set APP_SECRET to that one/,
    )
  })
})

describe('a forum', () => {
  let forum: TestForum

  beforeAll(async () => {
    forum = await startTestForum()
  })
  afterAll(() => forum.close())

  it('is good only with a key that it takes for reading members', async () => {
    const examine = async (env: Record<string, string> = {}) =>
      (await findingsWith({ ...forum.env, ...env })).by('forum')
    expect(await examine()).toMatchObject({
      state: 'good',
      note: 'it answers, and DISCOURSE_API_KEY may read members',
    })
    const wrong = 'not-the-key-of-this-forum'
    const refused = await examine({ DISCOURSE_API_KEY: wrong })
    expect(refused.fault).toMatch(/^The forum refuses DISCOURSE_API_KEY \(403\): copy it again, or make one/)
    expect(refused.fault).not.toContain(wrong)
    const faults = [
      ['not_for_you', /^DISCOURSE_API_KEY may not read members \(404\): make it for the user system/],
      ['redirecting', /^The forum's API answers 302 at http/],
      ['down', /^The forum's API answers 503 at http/],
    ] as const
    for (const [fault, why] of faults) {
      forum.fault = fault
      expect((await examine()).fault).toMatch(why)
    }
    forum.fault = 'limited'
    expect(await examine()).toMatchObject({ state: 'unknown', note: expect.stringContaining('429') })
    const { DISCOURSE_URL, DISCOURSE_SECRET } = forum.env as Record<string, string>
    const { by } = await findingsWith({ DISCOURSE_URL: DISCOURSE_URL!, DISCOURSE_SECRET: DISCOURSE_SECRET! })
    expect(by('forum')).toMatchObject({
      state: 'good',
      note: expect.stringContaining('DISCOURSE_API_KEY is not set'),
    })
  })

  it('is asked each request by --forum, with a line for each', async () => {
    const { APP_SECRET: secret } = environment
    const examine = async (env: Record<string, string> = {}) => {
      // It reads no database.
      const { code, out } = await run(
        { APP_SECRET: secret!, PUBLIC_URL: environment.PUBLIC_URL!, ...forum.env, ...env },
        '--forum',
        '--json',
      )
      return { code, found: JSON.parse(out) as Found[] }
    }
    forum.fault = undefined
    forum.join({ admin: true })
    forum.community.groups.set(41, { id: 41, name: 'developers', automatic: false })
    const { code, found } = await examine()
    expect(code).toBe(0)
    expect(found.map(({ check, state }) => [check, state])).toEqual(
      [
        'sign-in',
        'webhook',
        'read of a member',
        'read by name',
        'read of the account system',
        'read of an unknown member',
        'list suspended',
        'list staff',
        'list silenced',
        'list groups',
        'list names',
        'list trust_level_1',
        'list trust_level_2',
        'list trust_level_3',
        'list trust_level_4',
        'list of a group',
        'list scores',
      ].map((check) => [check, check === 'webhook' ? 'unknown' : 'good']),
    )
    const faultsWith = async (fault: TestForum['fault'], env: Record<string, string> = {}) => {
      forum.fault = fault
      const after = await examine(env)
      forum.fault = undefined
      return after.found.filter(({ state }) => state === 'fault')
    }
    expect((await faultsWith('lists_refused')).map(({ check }) => check)).toEqual([
      'list suspended',
      'list staff',
      'list silenced',
      'list groups',
      'list scores',
    ])
    expect((await faultsWith('garbled')).every((each) => each.fault!.endsWith('is no JSON'))).toBe(true)
    expect((await faultsWith('not_for_you')).map(({ check }) => check)).toContain('list suspended')
    expect(await faultsWith('limited')).toEqual([])
    const [wrong] = await faultsWith(undefined, { DISCOURSE_SECRET: 'x'.repeat(32) })
    expect(wrong).toMatchObject({
      check: 'sign-in',
      fault: expect.stringMatching(/422: discourse_connect_provider_secrets/),
    })
    forum.isProvider = false
    expect((await faultsWith(undefined))[0]?.fault).toMatch(/404: turn on enable_discourse_connect_provider/)
    forum.isProvider = true
  })

  it('without a key is at fault when its last 20 answers stated neither roles nor groups', async () => {
    const { DISCOURSE_API_KEY: _, ...env } = forum.env
    const answered = (answers_without_claims: number) =>
      test.db.updateTable('forum_api').set({ answers_without_claims }).execute()
    for (const [answers, fault] of [
      [19, undefined],
      [
        20,
        expect.stringMatching(/^The last 20 responses .*: add admin, moderator and groups to its setting/),
      ],
    ] as const) {
      await answered(answers)
      expect((await findingsWith(env)).by('forum groups').fault).toEqual(fault)
    }
    expect((await findingsWith(forum.env)).by('forum groups').state).toBe('good')
    await answered(0)
  })
})

describe('a proxy', () => {
  /** The address of the proxy. The doctor comes from 127.0.0.1. */
  const PROXY = '127.0.0.2'
  const open: (() => Promise<unknown>)[] = []
  const roots = getCACertificates('default')
  let tls: KeyAndCertificate

  beforeAll(() => {
    tls = certificateOf('0.0.0.0')
    setDefaultCACertificates([tls.cert])
  })
  afterAll(async () => {
    setDefaultCACertificates(roots)
    for (const close of open) await close()
  })

  /** Runs the doctor through a proxy that ends TLS and sends this X-Forwarded-For. */
  async function examineBehind(
    env: { TRUST_PROXY?: string; APP_SECRET?: string },
    forwardedFor: (visitor: string) => string | undefined,
    localAddress = PROXY,
  ): Promise<Found> {
    let target: FastifyInstance
    const proxy = createServer(tls, (asked, answer) => {
      const { address, port } = target.server.address() as AddressInfo
      const told = forwardedFor(asked.socket.remoteAddress!.replace('::ffff:', ''))
      const headers = { ...asked.headers, ...(told === undefined ? {} : { 'x-forwarded-for': told }) }
      const onwards = { host: address, port, path: asked.url, headers, localAddress }
      request(onwards, (response) => {
        answer.writeHead(response.statusCode!, response.headers)
        response.pipe(answer)
      }).end()
    }).listen(0, '0.0.0.0')
    await once(proxy, 'listening')
    // An address without a name that does not look like loopback counts as production, and needs no DNS.
    const PUBLIC_URL = `https://0.0.0.0:${(proxy.address() as AddressInfo).port}`
    const TRUST_PROXY = env.TRUST_PROXY?.split(',')
    target = await buildApp({ ...test.deps, config: { ...test.deps.config, PUBLIC_URL, TRUST_PROXY } })
    await target.listen({ host: '127.0.0.1', port: 0 })
    open.push(async () => {
      proxy.close().closeAllConnections()
      await target.close()
    })
    const { by } = await findingsWith({ PUBLIC_URL, ...env })
    expect(by('issuer').state).toBe('good')
    return by('proxy')
  }

  it('is checked right after the installation, and only a right one passes', async () => {
    const tells = (visitor: string) => visitor
    const trusted = { TRUST_PROXY: PROXY }
    expect(await examineBehind(trusted, tells)).toMatchObject({
      state: 'good',
      note: 'this machine is seen as 127.0.0.1',
    })
    expect((await examineBehind({}, tells)).fault).toMatch(
      /not trusted, and all count.* set TRUST_PROXY=127\.0\.0\.2/,
    )
    const inner = await examineBehind(trusted, (visitor) => `${visitor}, 127.0.0.3`)
    expect(inner.fault).toMatch(
      /seen as 127\.0\.0\.3 and not as 127\.0\.0\.1: add 127\.0\.0\.3 to TRUST_PROXY/,
    )
    const silent = () => undefined
    expect((await examineBehind(trusted, silent)).fault).toMatch(
      /sends no X-Forwarded-For.*let it send the header/,
    )
    expect((await examineBehind({}, () => 'unknown')).fault).toMatch(/must be an address/)
  })

  it('that may keep visitors’ addresses is at fault until members show that it does', async () => {
    const silent = () => undefined
    expect((await examineBehind({}, silent)).fault).toMatch(
      /^It cannot be known .* sends no X-Forwarded-For, and this machine is seen as 127\.0\.0\.2: let it send/,
    )
    // The doctor, the proxy and the service run on one machine.
    expect((await examineBehind({}, (visitor) => visitor, '127.0.0.1')).fault).toMatch(
      /^It cannot be known .*: set TRUST_PROXY=127\.0\.0\.1; or run this again/,
    )
    const stranger = { APP_SECRET: 'another secret of at least 32 characters' }
    expect((await examineBehind(stranger, silent)).fault).toMatch(/^TRUST_PROXY cannot be checked/)
    for (let count = 0; count < 5; count += 1) await (await makePerson(test)).signIn()
    await test.db.updateTable('sessions').set({ ip: PROXY }).execute()
    expect((await examineBehind({}, silent)).fault).toMatch(/^5 members have signed in from one address/)
    await test.db.updateTable('sessions').set({ ip: '203.0.113.7' }).execute()
    expect(await examineBehind({}, silent)).toMatchObject({
      state: 'good',
      note: expect.stringMatching(/but 5 members have signed in from other addresses$/),
    })
  })

  it('and the version are nothing that a stranger hears of', async () => {
    const { secrets } = test.deps
    const now = test.clock.now()
    const ask = async (ticket?: string) => {
      const headers = ticket === undefined ? {} : { [SEEN_HEADER]: ticket }
      return (await test.app.inject({ url: '/healthz', headers })).json()
    }
    expect(await ask(seenTicket(secrets, now))).toEqual({
      status: 'ok',
      version: VERSION,
      seen: { address: '127.0.0.1', peer: '127.0.0.1', forwarded_for: null },
    })
    const [moment, tag] = seenTicket(secrets, now).split('.')
    const stale = seenTicket(secrets, new Date(now.getTime() - 6 * 60_000))
    const strange = [undefined, '', '.', `${moment}.`, `${Number(moment) + 1}.${tag}`, `.${tag}`, stale]
    for (const ticket of strange) expect(await ask(ticket), String(ticket)).toEqual({ status: 'ok' })
  })
})
