/**
 * OpenID Connect Back-Channel Logout 1.0: who is told of the end of a session, what the token says, and how it is delivered.
 * spec/sign-in 4.2.
 */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { banDeletedMember, saveMember } from '../../src/accounts/forum/members.ts'
import { banMember, suspendMember } from '../../src/accounts/members.ts'
import { resetPassword } from '../../src/accounts/operator.ts'
import { issueLink } from '../../src/accounts/security/account-links.ts'
import { recoverPassword } from '../../src/accounts/security/recovery.ts'
import type { Db } from '../../src/database/connection.ts'
import type { LogoutOutcome } from '../../src/database/tables/identity.ts'
import { revokeAuthorisation, signOutEverywhere } from '../../src/identity/authorised-apps.ts'
import { claimAndSettle, RETRY_SECONDS } from '../../src/identity/logout/deliveries.ts'
import { openLogoutSender } from '../../src/identity/logout/worker.ts'
import { deleteExpiredRows } from '../../src/operations/retention.ts'
import { sha256 } from '../../src/platform/secrets.ts'
import { anonymise } from '../../src/privacy/anonymise.ts'
import { untilBlocked } from '../harness/blocked.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { startDnsServer } from '../harness/dns-server.ts'
import { type Browser, startTestApp, type TestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { rowOf, rowsOf, setRows } from '../harness/rows.ts'
import { rowsRead } from '../harness/rows-read.ts'
import { until } from '../harness/waiting.ts'
import { feignWrongClock } from '../harness/wrong-clock.ts'
import { storedApp } from './owned-app.ts'
import {
  authorize,
  changeApp,
  claimsOf,
  exchange,
  getJson,
  makeParty,
  obtainTokens,
  type Party,
  refresh,
  registerByApi,
  type Tokens,
} from './relying-party.ts'

const DAY_MS = 86_400_000
const TIMEOUT_MS = 300

/** The back channels of applications, by path. */
type Receiver = {
  url: string
  tokens: { path: string; token: string; type: string | undefined; agent: string | undefined }[]
  answer: (path: string, response: ServerResponse) => void
  close(): Promise<void>
}

async function startReceiver(): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    const fields = new URLSearchParams(await text(request))
    expect(request.method).toBe('POST')
    receiver.tokens.push({
      path: request.url!,
      token: fields.get('logout_token')!,
      type: request.headers['content-type'],
      agent: request.headers['user-agent'],
    })
    receiver.answer(request.url!, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tokens: [],
    answer: (_, response) => void response.end(),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return receiver
}

let test: TestApp
let receiver: Receiver
let admin: Person

beforeAll(async () => {
  receiver = await startReceiver()
  test = await startTestApp({ NOTIFY_ALLOW_CIDRS: '127.0.0.0/8' })
  const dns = await startDnsServer()
  dns.names.set('private.test', ['10.0.0.1'])
  test.deps.logoutSender = openLogoutSender(test.deps, { resolver: dns.resolver, timeout_ms: TIMEOUT_MS })
  test.deps.logoutSender.start(test.app.log)
  admin = await makePerson(test, { is_admin: true })
  closeDns = () => dns.close()
})
let closeDns: () => Promise<void>
afterAll(async () => {
  await test.close()
  await closeDns()
  await receiver.close()
})
beforeEach(() => {
  receiver.tokens.length = 0
  receiver.answer = (_, response) => void response.end()
})

let count = 0
/** An application that is told. */
async function makeListener(
  rules: Parameters<typeof makeParty>[1] = {},
  owner?: Person,
): Promise<Party & { path: string }> {
  count += 1
  const path = `/${count}`
  return {
    ...(await makeParty(test, { backchannel_logout_uri: receiver.url + path, ...rules }, owner)),
    path,
  }
}

const tokensTo = ({ path }: { path: string }) =>
  receiver.tokens.filter((each) => each.path === path).map(({ token }) => token)

async function told(app: { path: string }, attempts = 1): Promise<string[]> {
  test.deps.logoutSender.nudge()
  await until(() => tokensTo(app).length >= attempts)
  return tokensTo(app)
}

/** The deliveries about a member, as the applications and whether a session is named. */
async function deliveriesFor({ id }: Person) {
  const rows = await test.db
    .selectFrom('logout_deliveries')
    .innerJoin('oauth_apps as app', 'app.id', 'logout_deliveries.app_id')
    .where('user_id', '=', id)
    .orderBy('logout_deliveries.id')
    .select(['app.client_id', 'logout_deliveries.sid'])
    .execute()
  return rows.map(({ client_id, sid }) => ({ client_id, sid }))
}

const deliveryTo = async ({ id }: Party) => (await rowsOf(test, 'logout_deliveries', { app_id: id })).at(-1)!

/** Waits until the attempt is settled. */
async function settled(app: Party, attempts: number) {
  test.deps.logoutSender.nudge()
  await until(async () => (await deliveryTo(app))?.attempts >= attempts)
  return deliveryTo(app)
}

const signOut = async (client: Browser) => client.submit(await client.get('/'), '/sign-out')

type Scene = {
  person: Person
  client: Browser
  tokens: Tokens
  /** Used in this session; in another session of the member; in this one, without an address; by somebody else. */
  here: Party
}

/** A member with two sessions and several applications. */
async function makeScene() {
  const person = await makePerson(test)
  const client = await person.signIn()
  const [here, elsewhere, silent, foreign] = await Promise.all([
    makeListener(),
    makeListener(),
    makeParty(test),
    makeListener(),
  ])
  const tokens = await obtainTokens(test, client, here)
  await obtainTokens(test, client, silent)
  await obtainTokens(test, await person.signIn(), elsewhere)
  await obtainTokens(test, await (await makePerson(test)).signIn(), foreign)
  return { person, client, tokens, here, elsewhere }
}

describe('a session that ends', () => {
  type Causes = Record<string, (scene: Scene) => Promise<unknown>>

  const one: Causes = {
    'by sign-out': ({ client }) => signOut(client),
    'by logout at the request of an application': ({ client, tokens }) =>
      client.get(`/oauth2/logout?id_token_hint=${tokens.id_token}`),
    'by the sign-in of another member in that browser': async ({ client }) => {
      const { username, password } = await makePerson(test)
      await client.submit(await client.get('/sign-in'), '/sign-in', { username, password })
    },
    'on the sessions page': async ({ person, client }) => {
      const other = await person.signIn()
      const page = await other.get('/account/sessions')
      const token_hash = sha256(client.cookies.get('tessera_session')!)
      const { id } = await rowOf(test, 'sessions', { token_hash })
      const handles = [...page.body.matchAll(/name="session" value="([^"]+)"/g)].map(([, handle]) => handle!)
      for (const session of handles) {
        if ((await sessionsOf(person)).every((row) => row.id !== id)) break
        await other.submit(page, '/account/sessions/end', { session, sure: '1' })
      }
    },
  }
  it.each(Object.entries(one))('%s is told to the applications that were used in it', async (cause, end) => {
    const scene = await makeScene()
    await end(scene)
    const about = await deliveriesFor(scene.person)
    expect(about).toContainEqual({
      client_id: scene.here.client_id,
      sid: claimsOf(scene.tokens.id_token).sid,
    })
    // On the sessions page each of the other sessions was ended until this one was gone.
    if (cause !== 'on the sessions page') expect(about).toHaveLength(1)
  })

  const all: Causes = {
    'by “sign out everywhere”': ({ person: { id: user_id } }) =>
      signOutEverywhere(test.deps, { user_id, actor_id: user_id, reason: 'x', ip: '127.0.0.1' }),
    'by an administrator': ({ person: { id: user_id } }) =>
      signOutEverywhere(test.deps, { user_id, actor_id: admin.id, reason: 'x', ip: '127.0.0.1' }),
    'by the operator, with a new password': ({ person }) => resetPassword(test.deps, person.username),
    'by a password that is recovered by mail': async ({ person: { id: user_id, username } }) => {
      const email = `${username}@example.org`
      await setRows(test, 'users', { id: user_id }, { email, email_verified: true })
      const expires_at = new Date(test.clock.now().getTime() + 60_000)
      const token = await test.db
        .transaction()
        .execute((tx) => issueLink(tx, { user_id, purpose: 'recover_password', email, expires_at }))
      const recovery = { token, new_password: 'another long one', ip: '127.0.0.1' }
      expect(await recoverPassword(test.deps, recovery)).toMatchObject({ return_to: '/' })
    },
    'by a password that is changed in another browser': async ({ person }) => {
      const other = await person.signIn()
      const fields = { current_password: person.password, new_password: 'another long one' }
      const page = await other.get('/account/password')
      expect((await other.submit(page, '/account/password', fields)).status).toBe(303)
    },
  }
  it.each(Object.entries(all))('%s is told with all other sessions', async (_, end) => {
    const scene = await makeScene()
    await end(scene)
    const about = await deliveriesFor(scene.person)
    expect(about.map(({ client_id }) => client_id).sort()).toEqual(
      [scene.here.client_id, scene.elsewhere.client_id].sort(),
    )
    expect(about.every(({ sid }) => /^[A-Za-z0-9_-]{22}$/.test(sid!))).toBe(true)
  })

  it('goes on, and tells nobody, when its member signs in again or changes the password in it', async () => {
    const { person, client, tokens, here } = await makeScene()
    const { username, password } = person
    const before = client.cookies.get('tessera_session')
    await client.submit(await client.get('/sign-in'), '/sign-in', { username, password })
    expect(client.cookies.get('tessera_session')).not.toBe(before)
    const fields = { current_password: password, new_password: 'another long one' }
    await client.submit(await client.get('/account/password'), '/account/password', fields)
    const again = await obtainTokens(test, client, here)
    expect(claimsOf(again.id_token).sid).toBe(claimsOf(tokens.id_token).sid)
    expect((await deliveriesFor(person)).map(({ client_id }) => client_id)).not.toContain(here.client_id)
  })

  it('by age sends no logout token', async () => {
    const scene = await makeScene()
    test.clock.advance(20 * DAY_MS)
    await deleteExpiredRows(test.deps)
    expect(await sessionsOf(scene.person)).toEqual([])
    expect(await deliveriesFor(scene.person)).toEqual([])
  })

  it('ends the families of told applications that lack offline_access, and no others', async () => {
    const person = await makePerson(test)
    const client = await person.signIn()
    const [told, offline, silent] = [await makeListener(), await makeListener(), await makeParty(test)]
    const tokens = await Promise.all([
      obtainTokens(test, client, told),
      obtainTokens(test, client, offline, { scope: 'openid offline_access' }),
      obtainTokens(test, client, silent),
    ])
    await signOut(client)
    const statuses = await Promise.all(
      [told, offline, silent].map(async (app, i) => {
        return (await refresh(test, app, tokens[i]!.refresh_token)).status
      }),
    )
    expect(statuses).toEqual([400, 200, 200])
  })
})

const sessionsOf = ({ id }: Person) => rowsOf(test, 'sessions', { user_id: id })

/** Stores what the forum's API says of a member whom it has suspended for a day. */
async function suspendAtForum({ id, username }: Person): Promise<void> {
  const forum_id = 70_000n + id
  await setRows(test, 'users', { id }, { forum_id, password_hash: null })
  const now = test.clock.now()
  const user = {
    forum_id,
    username,
    name: null,
    is_admin: false,
    is_moderator: false,
    trust_level: 1,
    suspended_till: new Date(now.getTime() + DAY_MS),
    silenced_till: null,
    groups: [],
  }
  const facts = { user, hasApi: true, aliases: new Map(), now }
  await test.db.transaction().execute((tx) => saveMember(tx, facts))
}

describe('a member who is excluded', () => {
  const ban = { reason: 'Spam', ip: '127.0.0.1' }
  const causes: Record<string, (person: Person) => Promise<unknown>> = {
    'by a ban': ({ id: user_id }) => banMember(test.deps, { ...ban, user_id, actor_id: admin.id }),
    'by a suspension': ({ id: user_id }) =>
      suspendMember(test.deps, { ...ban, user_id, actor_id: admin.id, days: 3 }),
    'by the forum, which has deleted the member': ({ id }) =>
      test.db.transaction().execute((tx) => banDeletedMember(tx, id, test.clock.now())),
    'by the forum, which suspends the member': suspendAtForum,
    'by anonymisation': ({ id: user_id }) =>
      anonymise(test.deps, { user_id, actor_id: admin.id, give_up: 0n, ip: null, reason: 'asked' }),
  }
  it.each(Object.entries(causes))('%s is told to all applications, without a session', async (_, exclude) => {
    const scene = await makeScene()
    // A consent without a family counts.
    const idle = await makeListener()
    await authorize(scene.client, idle)
    await exclude(scene.person)
    const about = await deliveriesFor(scene.person)
    const clients = [scene.here, scene.elsewhere, idle].map(({ client_id }) => client_id)
    expect(about.map(({ client_id }) => client_id).sort()).toEqual(clients.sort())
    expect(about.every(({ sid }) => sid === null)).toBe(true)
  })

  it('reaches only the application whose consent was taken back', async () => {
    const { person, here } = await makeScene()
    const { client_id } = here
    await revokeAuthorisation(test.deps, {
      user_id: person.id,
      client_id,
      now: test.clock.now(),
      ip: '127.0.0.1',
    })
    expect(await deliveriesFor(person)).toEqual([{ client_id, sid: null }])
  })
})

describe('a logout token', () => {
  it('is verified with the published keys alone, and names the session', async () => {
    const { keys } = (await getJson(test, '/oauth2/jwks')).body as { keys: object[] }
    const published = createLocalJWKSet({ keys } as Parameters<typeof createLocalJWKSet>[0])
    for (const alg of ['RS256', 'ES256'] as const) {
      const app = await makeListener({ id_token_signed_response_alg: alg })
      const person = await makePerson(test)
      const client = await person.signIn()
      const { id_token } = await obtainTokens(test, client, app)
      await signOut(client)
      const [token] = await told(app)
      const { payload, protectedHeader } = await jwtVerify(token!, published, {
        issuer: test.url,
        audience: app.client_id,
        typ: 'logout+jwt',
        currentDate: test.clock.now(),
      })
      expect(protectedHeader.alg).toBe(alg)
      const iat = Math.floor(test.clock.now().getTime() / 1000)
      expect(payload).toEqual({
        iss: test.url,
        aud: app.client_id,
        iat,
        exp: iat + 120,
        jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
        sub: String(person.id),
        sid: claimsOf(id_token).sid,
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      })
      const sent = receiver.tokens.find(({ path }) => path === app.path)!
      expect(sent.type).toBe('application/x-www-form-urlencoded')
    }
  })

  it('of an excluded member names no session, and each attempt has its own jti', async () => {
    const app = await makeListener()
    const person = await makePerson(test)
    await obtainTokens(test, await person.signIn(), app)
    receiver.answer = (_, response) => void response.writeHead(500).end()
    await banMember(test.deps, { user_id: person.id, actor_id: admin.id, reason: 'Spam', ip: '127.0.0.1' })
    await told(app)
    await settled(app, 1)
    test.clock.advance(10_000)
    const tokens = await told(app, 2)
    const payloads = tokens.map(claimsOf)
    for (const payload of payloads) {
      expect(payload.sub).toBe(String(person.id))
      expect(payload).not.toHaveProperty('sid')
      expect(payload).not.toHaveProperty('nonce')
    }
    expect(new Set(payloads.map(({ jti }) => jti)).size).toBe(2)
  })

  it('is no ID token hint', async () => {
    const app = await makeListener()
    const client = await (await makePerson(test)).signIn()
    await obtainTokens(test, client, app)
    await signOut(client)
    const [token] = await told(app)
    expect(decodeProtectedHeader(token!).typ).toBe('logout+jwt')
    const answer = await getJson(test, `/oauth2/logout?id_token_hint=${token}`, {
      accept: 'application/json',
    })
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  })
})

describe('a delivery', () => {
  /** Lets a member of the application sign out. */
  async function leave(app: Party) {
    const client = await (await makePerson(test)).signIn()
    await obtainTokens(test, client, app)
    await signOut(client)
  }

  it.each([200, 204])('confirmed with %i is over', async (status) => {
    const app = await makeListener()
    receiver.answer = (_, response) => void response.writeHead(status).end()
    await leave(app)
    expect(await settled(app, 1)).toMatchObject({ outcome: 'delivered', response_status: status })
    expect((await deliveryTo(app)).ended_at).not.toBeNull()
  })

  it('rests while the clock of its process is wrong', async () => {
    const app = await makeListener()
    const clock = feignWrongClock(test.deps.clockCheck)
    await leave(app)
    const asked = clock.asked()
    test.deps.logoutSender.nudge()
    await until(() => clock.asked() >= asked + 2)
    expect(tokensTo(app)).toHaveLength(0)
    clock.end()
    expect(await settled(app, 1)).toMatchObject({ outcome: 'delivered' })
  })

  it('that fails is repeated after 10 s, 1, 5 and 30 min, and given up after five attempts', async () => {
    const app = await makeListener()
    const statuses = [400, 500, 302, 404, 503]
    receiver.answer = (_, response) => {
      response.writeHead(statuses[tokensTo(app).length - 1]!, { location: `${receiver.url}/elsewhere` }).end()
    }
    await leave(app)
    for (const [i, status] of statuses.entries()) {
      const row = await settled(app, i + 1)
      expect(row).toMatchObject({
        response_status: status,
        outcome: status === 302 ? 'redirect' : 'bad_status',
      })
      const seconds = RETRY_SECONDS[i]
      if (seconds === undefined) {
        expect(row.ended_at).not.toBeNull()
        continue
      }
      expect(row.next_attempt_at!.getTime() - row.attempted_at!.getTime()).toBe(seconds * 1000)
      test.clock.advance(seconds * 1000)
    }
    expect(tokensTo(app)).toHaveLength(5)
    expect(receiver.tokens.some(({ path }) => path === '/elsewhere')).toBe(false)
  })

  it('to a server that is slow, private, absent or not TLS fails, and calls nothing else', async () => {
    const cases: [string, string][] = [
      [`${receiver.url}/slow`, 'timeout'],
      ['http://private.test/', 'blocked'],
      ['http://169.254.169.254/latest', 'blocked'],
      ['http://127.0.0.1:1/', 'bad_address'],
      [receiver.url.replace('http:', 'https:'), 'tls'],
    ]
    receiver.answer = () => {}
    for (const [uri, outcome] of cases) {
      const app = await makeParty(test)
      await changeApp(test, app, { backchannel_logout_uri: uri })
      await leave(app)
      expect((await settled(app, 1)).outcome, uri).toBe(outcome)
    }
  })

  it('to an application without an address any more, or suspended, is withdrawn', async () => {
    for (const change of [
      { backchannel_logout_uri: null },
      { suspended_at: new Date(), suspended_by: admin.id, suspended_reason: 'x' },
    ]) {
      const app = await makeListener()
      receiver.answer = (_, response) => void response.writeHead(500).end()
      await leave(app)
      await settled(app, 1)
      await changeApp(test, app, change)
      test.clock.advance(10_000)
      const row = await settled(app, 2)
      expect(row).toMatchObject({ outcome: 'withdrawn' })
      expect(row.ended_at).not.toBeNull()
      expect(tokensTo(app)).toHaveLength(1)
    }
  })

  it('of one sign-out does not wait for those of ten thousand banned members, whose server hangs', async () => {
    const hanging = await makeListener()
    const other = await makeListener()
    const { id: user_id } = await makePerson(test)
    receiver.answer = (path, response) => {
      if (path !== hanging.path) response.end()
    }
    await sql`
      insert into logout_deliveries (app_id, user_id, sid, is_bulk, next_attempt_at, created_at)
      select ${hanging.id}, ${user_id}, null, true, ${test.clock.now()}, ${test.clock.now()}
      from generate_series(1, 10000)`.execute(test.db)
    test.deps.logoutSender.nudge()
    await until(() => tokensTo(hanging).length > 0)
    await leave(other)
    await told(other)
    expect(tokensTo(hanging).length).toBeLessThan(50)
    await sql`delete from logout_deliveries where app_id = ${hanging.id}`.execute(test.db)
  })
})

describe('a settlement', () => {
  const CLAIM_MS = 60_000

  /** Claimed deliveries of a new application. They stay claimed, so the worker leaves them alone. */
  async function claimedRows(db: Db, count: number) {
    const { id: app_id } = await makeListener()
    const { id: user_id } = await makePerson(test)
    const now = test.clock.now()
    const claimed_until = new Date(now.getTime() + CLAIM_MS)
    const times = { next_attempt_at: now, created_at: now, claimed_until }
    const row = { app_id, user_id, is_bulk: false, claims: 1, ...times }
    return db
      .insertInto('logout_deliveries')
      .values(Array.from({ length: count }, () => row))
      .returning(['id', 'app_id'])
      .execute()
  }

  const settle = (db: Db, rows: { id: bigint }[], outcomes: LogoutOutcome[]) => {
    const now = test.clock.now()
    const settled = rows.map(({ id }, i) => {
      const outcome = outcomes[i % outcomes.length]!
      const next_attempt_at = outcome === 'delivered' ? null : new Date(now.getTime() + 10_000)
      return { id: String(id), claim: 1, ended_at: now, outcome, response_status: 200, next_attempt_at }
    })
    return claimAndSettle(db, { settled, room: 0, bulk_room: 0, now })
  }

  it('reads no other open row, even by statistics of a time without any', async () => {
    const rolledBack = new Error('rolled back')
    const settling = test.db.transaction().execute(async (tx) => {
      await sql`delete from logout_deliveries where ended_at is null`.execute(tx)
      await sql`analyze logout_deliveries`.execute(tx)
      const rows = await claimedRows(tx, 400)
      const before = await rowsRead(tx, 'logout_deliveries')
      await settle(tx, rows.slice(0, 8), ['delivered', 'timeout'])
      expect((await rowsRead(tx, 'logout_deliveries')) - before).toBe(8)
      throw rolledBack
    })
    await expect(settling).rejects.toBe(rolledBack)
  })

  it('that waits for a new claim changes nothing but a late success', async () => {
    const rows = await claimedRows(test.db, 2)
    const { app_id } = rows[0]!
    const settling = await test.db.transaction().execute(async (tx) => {
      await sql`update logout_deliveries set claims = 2 where app_id = ${app_id}`.execute(tx)
      const waiting = settle(test.db, rows, ['timeout', 'delivered'])
      await untilBlocked(tx)
      return { waiting }
    })
    await settling.waiting
    const after = await rowsOf(test, 'logout_deliveries', { app_id })
    expect(after.map(({ outcome, attempts }) => [outcome, attempts])).toEqual([
      [null, 0],
      ['delivered', 1],
    ])
    await sql`delete from logout_deliveries where app_id = ${app_id}`.execute(test.db)
  })
})

describe('the address of the back channel', () => {
  it('is https, or http on loopback in development, without a fragment', async () => {
    const person = await makePerson(test)
    const { access_token } = await obtainTokens(test, await person.signIn(), await makeParty(test))
    const register = async (backchannel_logout_uri: string) => {
      const { status, body } = await registerByApi(test, access_token, { backchannel_logout_uri })
      return [status, body.error ?? body.backchannel_logout_uri]
    }
    const faulty = [
      'http://x.example/out',
      'https://x.example/#a',
      'x',
      `https://x.example/${'x'.repeat(2_000)}`,
    ]
    for (const uri of [...faulty, 'com.example.app:/out', 'https://user@x.example/'])
      expect(await register(uri), uri).toEqual([400, 'invalid_request'])
    for (const uri of ['https://x.example/out?a=b', 'http://127.0.0.1:8080/out'])
      expect(await register(uri)).toEqual([201, uri])
  })

  it('comes with session_required, which is stored and repeated', async () => {
    const client = await (await makePerson(test)).signIn()
    const { access_token } = await obtainTokens(test, client, await makeParty(test))
    const wish = {
      backchannel_logout_uri: 'https://x.example/out',
      backchannel_logout_session_required: true,
    }
    const { body } = await registerByApi(test, access_token, wish)
    expect(body).toMatchObject(wish)
    expect(await storedApp(test, body as Pick<Party, 'client_id'>)).toMatchObject(wish)
  })

  it('is changed on the application’s page, which lists the last deliveries without names', async () => {
    const owner = await makePerson(test)
    const app = await makeListener({}, owner)
    const person = await makePerson(test)
    const member = await person.signIn()
    await obtainTokens(test, member, app)
    await signOut(member)
    await settled(app, 1)
    const client = await owner.signIn()
    const path = `/apps/${app.client_id}/settings`
    const history = await client.get(`/apps/${app.client_id}/history`)
    expect(history.body).toContain(messages.en.logoutDeliveries.title)
    expect(history.body).toContain('Confirmed</span>')
    expect(history.body).not.toContain(person.username)
    const page = await client.get(path)
    const fields = { name: 'Club', redirect_uris: 'https://app.example/callback' }
    const saved = await client.submit(page, path, {
      ...fields,
      backchannel_logout_uri: 'https://app.example/out',
    })
    expect(saved.status).toBe(303)
    expect((await client.get(path)).body).toContain('value="https://app.example/out"')
    const faulty = await client.submit(page, path, {
      ...fields,
      backchannel_logout_uri: 'https://app.example/#x',
    })
    expect(faulty.status).toBe(400)
  })
})

it('the page that asks before a sign-out names the applications that learn of it', async () => {
  const app = await makeListener({ name: 'Chess Ladder' })
  const client = await (await makePerson(test)).signIn()
  const { code } = await authorize(client, app)
  await exchange(test, app, code)
  const page = await client.get('/oauth2/logout')
  expect(page.body).toContain(messages.en.identity.logout.told('Chess Ladder'))
})
