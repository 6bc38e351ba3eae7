/**
 * Sign-in on devices without a browser (RFC 8628): the codes, the member's decision, and the polls.
 * spec/sign-in 5.1 and 5.2.
 */
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { banMember } from '../../src/accounts/members.ts'
import { DEVICE_GRANT, GRANT_TYPES } from '../../src/identity/apps/apps.ts'
import { signOutEverywhere } from '../../src/identity/authorised-apps.ts'
import {
  DEVICE_CODE_SECONDS,
  decideDevice,
  findDevice,
  WAITING_MAX,
} from '../../src/identity/grants/devices.ts'
import { anonymise } from '../../src/privacy/anonymise.ts'
import { exportMember } from '../../src/privacy/export.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { type Browser, setSetting, useTestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { rowOf, rowsOf } from '../harness/rows.ts'
import { makeOwnedApp } from './owned-app.ts'
import {
  changeApp,
  claimsOf,
  getJson,
  makeParty,
  type Party,
  postForm,
  redeem,
  refresh,
  registerByApi,
  suspendApp,
  userinfo,
  withoutWriting,
} from './relying-party.ts'

const t = messages.en.identity

const ENDPOINT = '/oauth2/device_authorization'
const DAY_MS = 86_400_000

let television: Party

const test = await useTestApp()
// Each test has its own application, and an address that no failures of others count for.
beforeEach(async () => {
  television = await makeParty(test, { name: 'Living Room', grant_types: [...GRANT_TYPES] })
  await sql`delete from sign_in_attempts`.execute(test.db)
})

type Codes = {
  device_code: string
  user_code: string
  verification_uri: string
  verification_uri_complete: string
}

async function begin(fields: Record<string, string> = {}, party = television) {
  const { client_id, client_secret } = party
  return postForm(
    test,
    ENDPOINT,
    { client_id, client_secret, ...fields },
    { 'user-agent': 'Television/4.2 (webOS)' },
  )
}

async function codes(fields: Record<string, string> = {}, party = television): Promise<Codes> {
  const { status, body } = await begin(fields, party)
  expect(status).toBe(200)
  return body as Codes
}

const poll = (device_code: string, party = television) =>
  redeem(test, party, { grant_type: DEVICE_GRANT, device_code })

/** The code and status of a poll. */
async function polled(device_code: string, party = television) {
  const { status, body } = await poll(device_code, party)
  return [status, body.error ?? 'tokens']
}

/** The member enters the code and sees the page of the application. */
async function enter(client: Browser, user_code: string) {
  await openForm(client)
  return client.submit(await client.get('/device'), '/device', { user_code })
}

/** Reads what an earlier decision did, which is shown once in place of the form. */
const openForm = (client: Browser) => client.get('/device')

async function decide(client: Browser, user_code: string, decision: 'allow' | 'deny') {
  return client.submit(await enter(client, user_code), '/device/decision', { decision })
}

const signedIn = async () => (await makePerson(test)).signIn()
const actsOn = async ({ client_id }: Party) =>
  (await rowsOf(test, 'audit_log', { subject: client_id }))
    .filter(({ action }) => action.startsWith('oauth_device.'))
    .map(({ action, detail }) => ({ action, ...(detail as object) }))

describe('a device', () => {
  it('gets a pair of codes, which are stored as hash and tag', async () => {
    const { status, body, headers } = await begin({ scope: 'openid profile' })
    const { PUBLIC_URL } = test.deps.config
    expect(status).toBe(200)
    expect(body).toEqual({
      device_code: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: `${PUBLIC_URL}/device`,
      verification_uri_complete: `${PUBLIC_URL}/device?user_code=${body.user_code}`,
      expires_in: 600,
      interval: 5,
    })
    expect(headers).toMatchObject({ 'cache-control': 'no-store' })
    const row = await rowOf(test, 'device_codes', { app_id: television.id })
    const stored = JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
    for (const secret of [body.device_code, body.user_code, String(body.user_code).replace('-', '')])
      expect(stored).not.toContain(secret)
  })

  it('signs its member in: a page in a browser, then tokens like those of a code', async () => {
    const person = await makePerson(test, { name: 'Alice Archer' })
    const { device_code, user_code } = await codes({ scope: 'openid profile' })
    expect(await polled(device_code)).toEqual([400, 'authorization_pending'])

    const client = await person.signIn()
    const page = await enter(client, ` ${user_code.toLowerCase().replace('-', ' ')} `)
    expect(page.status).toBe(200)
    expect(page.body).toContain(t.consent.title('Living Room'))
    expect(page.body).toContain(t.device.warning)
    expect(page.body).toContain(user_code)
    expect(page.body).toContain('127.0.0.1')
    expect(page.body).toContain('<bdi>Television/4.2</bdi>')
    // Deny comes first, so the Enter key denies.
    expect(page.body.indexOf('value="deny"')).toBeLessThan(page.body.indexOf('value="allow"'))
    const done = await client.submit(page, '/device/decision', { decision: 'allow' })
    expect(done).toMatchObject({ status: 303, location: '/device' })
    const shown = await client.get('/device')
    expect(shown.body).toContain(t.device.allowed('Living Room'))
    expect(shown.body).not.toContain('name="user_code"')
    expect((await client.get('/device')).body).toContain('name="user_code"')

    const { status, body } = await poll(device_code)
    expect(status).toBe(200)
    expect(Object.keys(body).sort()).toEqual([
      'access_token',
      'expires_in',
      'id_token',
      'refresh_token',
      'scope',
      'token_type',
    ])
    const payload = claimsOf(body.id_token)
    expect(payload).toMatchObject({
      sub: String(person.id),
      aud: television.client_id,
      amr: ['pwd'],
      name: 'Alice Archer',
      sid: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
    })
    expect(payload).not.toHaveProperty('nonce')
    expect((await userinfo(test, body.access_token)).body.username).toBe(person.username)
    expect((await refresh(test, television, body.refresh_token)).status).toBe(200)
    expect(await polled(device_code)).toEqual([400, 'invalid_grant'])
    expect(await actsOn(television)).toMatchObject([
      { action: 'oauth_device.allowed', user_id: String(person.id), requested_from: '127.0.0.1' },
    ])
  })

  it('that its member denies gets access_denied, and no token', async () => {
    const person = await makePerson(test)
    const client = await person.signIn()
    const { device_code, user_code } = await codes()
    expect(await decide(client, user_code, 'deny')).toMatchObject({ status: 303 })
    expect((await client.get('/device')).body).toContain(t.device.denied('Living Room'))
    expect(await polled(device_code)).toEqual([403, 'access_denied'])
    expect(await actsOn(television)).toMatchObject([{ action: 'oauth_device.denied' }])
    // The code has been decided.
    expect((await enter(client, user_code)).status).toBe(400)
    let exported = ''
    for await (const piece of exportMember(test.deps, person.id)) exported += piece
    const { client_id } = television
    expect(JSON.parse(exported).device_decisions).toMatchObject([
      { client_id, program: 'Television/4.2 (webOS)', allowed_at: null, denied_at: expect.any(String) },
    ])
  })

  it('waits for ten minutes', async () => {
    const client = await signedIn()
    const late = await codes()
    const allowed = await codes()
    await decide(client, allowed.user_code, 'allow')
    test.clock.advance(DEVICE_CODE_SECONDS * 1000 - 1)
    expect((await enter(client, late.user_code)).status).toBe(200)
    expect(await polled(late.device_code)).toEqual([400, 'authorization_pending'])
    test.clock.advance(1)
    expect((await enter(client, late.user_code)).status).toBe(400)
    expect(await polled(late.device_code)).toEqual([400, 'expired_token'])
    expect(await polled(allowed.device_code)).toEqual([400, 'expired_token'])
  })

  it('that polls too often has to wait longer each time, up to a minute', async () => {
    const { device_code } = await codes()
    expect(await polled(device_code)).toEqual([400, 'authorization_pending'])
    const intervals = Array.from({ length: 11 }, (_, i) => 10 + 5 * i)
    for (const interval of [...intervals, 60]) {
      expect(await polled(device_code)).toEqual([400, 'slow_down'])
      const { poll_interval } = await rowOf(test, 'device_codes', { app_id: television.id })
      expect(poll_interval).toBe(interval)
    }
    test.clock.advance(60_000 - 1)
    expect(await polled(device_code)).toEqual([400, 'slow_down'])
    test.clock.advance(60_000)
    expect(await polled(device_code)).toEqual([400, 'authorization_pending'])
  })

  it('that polls every five seconds is never told to slow down, nor counted as failing', async () => {
    await setSetting(test, 'limit_token_failures', '3')
    const { device_code } = await codes()
    for (let i = 0; i < 20; i += 1) {
      expect(await polled(device_code)).toEqual([400, 'authorization_pending'])
      test.clock.advance(5_000)
    }
    await setSetting(test, 'limit_token_failures', '60')
  })

  it('redeems a code once, also when it asks twice at once', async () => {
    const client = await signedIn()
    const { device_code, user_code } = await codes()
    await decide(client, user_code, 'allow')
    const answers = await Promise.all(Array.from({ length: 8 }, () => polled(device_code)))
    expect(answers.filter(([status]) => status === 200)).toHaveLength(1)
    expect(answers.filter(([, error]) => error === 'invalid_grant')).toHaveLength(7)
    expect(await rowsOf(test, 'grants', { app_id: television.id })).toHaveLength(1)
  })

  it('of another application gets nothing from its code, and the code stays good', async () => {
    const client = await signedIn()
    const other = await makeParty(test, { grant_types: [...GRANT_TYPES] })
    const { device_code, user_code } = await codes()
    // It learns nothing, and does not make the device slower.
    expect(await polled(device_code, other)).toEqual([400, 'invalid_grant'])
    expect(await polled(device_code)).toEqual([400, 'authorization_pending'])
    await decide(client, user_code, 'allow')
    expect(await polled(device_code, other)).toEqual([400, 'invalid_grant'])
    expect(await polled('x')).toEqual([400, 'invalid_grant'])
    expect(await polled(device_code)).toEqual([200, 'tokens'])
  })

  it('needs an application that is switched on for devices', async () => {
    const plain = await makeParty(test)
    expect(await begin({}, plain)).toMatchObject({ status: 400, body: { error: 'unauthorized_client' } })
    expect(await polled('x', plain)).toEqual([400, 'unauthorized_client'])
    const { device_code, user_code } = await codes()
    await decide(await signedIn(), user_code, 'allow')
    await changeApp(test, television, { grant_types: ['authorization_code', 'refresh_token'] })
    expect(await polled(device_code)).toEqual([400, 'unauthorized_client'])
  })

  it('of a public application sends its client_id only', async () => {
    const app = await makeParty(test, { token_endpoint_auth_method: 'none', grant_types: [...GRANT_TYPES] })
    const { client_id } = app
    const { body } = await postForm(test, ENDPOINT, { client_id })
    await decide(await signedIn(), String(body.user_code), 'allow')
    const fields = { grant_type: DEVICE_GRANT, device_code: String(body.device_code), client_id }
    expect((await postForm(test, '/oauth2/token', fields)).status).toBe(200)
  })

  it('sends a form, with the credentials of the application, and a scope of bounded length', async () => {
    const { client_id, client_secret } = television
    expect(await postForm(test, ENDPOINT, { client_id, client_secret: 'wrong' })).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    })
    const repeated = `client_id=${client_id}&client_secret=${client_secret}&scope=a&scope=b`
    expect(await postForm(test, ENDPOINT, repeated)).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    })
    expect(await begin({ scope: 'x'.repeat(5_000) })).toMatchObject({
      status: 400,
      body: { error: 'invalid_scope' },
    })
    expect(await redeem(test, television, { grant_type: DEVICE_GRANT })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request', error_description: 'device_code is missing' },
    })
    const response = await test.app.inject({ method: 'GET', url: ENDPOINT })
    expect([response.statusCode, response.headers.allow]).toEqual([405, 'POST'])
  })
})

describe('limits', () => {
  it('bound the codes of an application and a network in a minute', async () => {
    await setSetting(test, 'limit_device_requests', '3')
    for (let i = 0; i < 3; i += 1) await codes()
    const { status, body, headers } = await begin()
    expect([status, body.error]).toEqual([429, 'temporarily_unavailable'])
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    test.clock.advance(60_000)
    await codes()
    await setSetting(test, 'limit_device_requests', '60')
  })

  it('bound the codes that wait, and decided ones make room', async () => {
    const { device_code, user_code } = await codes()
    await sql`
      insert into device_codes (device_code_hash, user_code_tag, app_id, scopes, ip, expires_at, created_at)
      select sha256(n::text::bytea), 'filled ' || n || ${television.client_id}, app_id, scopes, ip, expires_at, created_at
      from device_codes, generate_series(2, ${WAITING_MAX}) as n where app_id = ${television.id}`.execute(
      test.db,
    )
    expect(await begin()).toMatchObject({ status: 429, body: { error: 'temporarily_unavailable' } })
    expect(await polled(device_code)).toEqual([400, 'authorization_pending'])
    await decide(await signedIn(), user_code, 'deny')
    await codes()
  })

  it('stop a member who guesses codes, also in a browser that is known', async () => {
    await setSetting(test, 'limit_sign_in_failures_per_account', '4')
    const client = await signedIn()
    const { user_code } = await codes()
    for (let i = 0; i < 4; i += 1) {
      const page = await enter(client, 'BBBB-BBBB')
      expect(page.status).toBe(400)
      expect(page.body).toContain(t.device.unknown)
    }
    // Even the right code has to wait.
    expect((await enter(client, user_code)).status).toBe(429)
    const page = await client.get('/device')
    const { form_token = '' } = page.form('/device')
    const fields = { form_token, user_code, decision: 'allow' }
    expect((await client.post('/device/decision', fields)).status).toBe(429)
    test.clock.advance(15 * 60_000)
    expect((await enter(client, 'BBBB-BBBB')).status).toBe(400)
    await setSetting(test, 'limit_sign_in_failures_per_account', '10')
  })

  it('do not count a right code', async () => {
    await setSetting(test, 'limit_sign_in_failures_per_account', '2')
    const client = await signedIn()
    for (let i = 0; i < 5; i += 1) expect((await enter(client, (await codes()).user_code)).status).toBe(200)
    await setSetting(test, 'limit_sign_in_failures_per_account', '10')
  })
})

describe('a code or a link that a stranger sent', () => {
  it('only fills in the field: nothing happens before the member sends both forms', async () => {
    const client = await signedIn()
    const { device_code, verification_uri_complete } = await codes()
    const { pathname, search } = new URL(verification_uri_complete)
    const page = await withoutWriting(test, () => client.get(pathname + search))
    expect(page.status).toBe(200)
    expect(page.body).toContain(`value="${new URLSearchParams(search).get('user_code')}"`)
    expect(page.body).toContain(t.device.warningText)
    expect(page.body).not.toContain('Living Room')
    const shown = await withoutWriting(test, () => client.submit(page, '/device', codeIn(search)))
    expect(shown.body).toContain(t.device.warningText)
    expect(await polled(device_code)).toEqual([400, 'authorization_pending'])
  })

  it('asks each time, also an application that the member has allowed', async () => {
    const client = await signedIn()
    for (let i = 0; i < 2; i += 1) {
      const { device_code, user_code } = await codes()
      expect((await enter(client, user_code)).body).toContain('value="allow"')
      await decide(client, user_code, 'allow')
      expect((await poll(device_code)).status).toBe(200)
    }
    expect(await rowsOf(test, 'consents', { app_id: television.id })).toEqual([])
  })

  it('is allowed after a recent sign-in only, and denied at any time', async () => {
    const client = await signedIn()
    const { reauthenticate_minutes } = await test.deps.settings.read()
    test.clock.advance((reauthenticate_minutes + 1) * 60_000)
    const { device_code, user_code } = await codes()
    const page = await decide(client, user_code, 'allow')
    expect(page.status).toBe(409)
    expect(page.body).toContain(encodeURIComponent(`/device?user_code=${encodeURIComponent(user_code)}`))
    expect(await polled(device_code)).toEqual([400, 'authorization_pending'])
    expect(await decide(client, user_code, 'deny')).toMatchObject({ status: 303 })
    expect(await polled(device_code)).toEqual([403, 'access_denied'])
  })

  it('leads a visitor to the sign-in page and back', async () => {
    const { user_code } = await codes()
    const visitor = await test.app.inject({
      url: `/device?user_code=${user_code}`,
      headers: { accept: 'text/html' },
    })
    expect(visitor.statusCode).toBe(303)
    expect(visitor.headers.location).toBe(
      `/sign-in?return_to=${encodeURIComponent(`/device?user_code=${user_code}`)}`,
    )
  })
})

const codeIn = (search: string) => ({ user_code: new URLSearchParams(search).get('user_code')! })

describe('who may not use the application', () => {
  it('learns it on the page, and the device when the member allows nevertheless', async () => {
    await changeApp(test, television, { deny_groups: ['rascals'] })
    const rascal = await makePerson(test, { groups: ['rascals'] })
    const client = await rascal.signIn()
    const { device_code, user_code } = await codes()
    const page = await enter(client, user_code)
    expect(page.status).toBe(403)
    expect(page.body).toContain(t.refused.title('Living Room'))
    expect(await polled(device_code)).toEqual([400, 'authorization_pending'])
    await openForm(client)
    const { form_token = '' } = (await client.get('/device')).form('/device')
    const allowed = await client.post('/device/decision', { form_token, user_code, decision: 'allow' })
    expect(allowed.status).toBe(403)
    expect(await polled(device_code)).toEqual([403, 'access_denied'])
  })

  it('is judged again when the device asks for the tokens', async () => {
    const { id: actor_id } = await makePerson(test, { is_admin: true })
    const acts: ((person: Person) => Promise<unknown>)[] = [
      ({ id: user_id }) => banMember(test.deps, { user_id, actor_id, reason: 'Spam', ip: 'command line' }),
      () => changeApp(test, television, { deny_groups: ['trust_level_0'] }),
    ]
    for (const act of acts) {
      const person = await makePerson(test)
      const { device_code, user_code } = await codes()
      await decide(await person.signIn(), user_code, 'allow')
      await act(person)
      expect(await polled(device_code)).toEqual([403, 'access_denied'])
    }
  })

  it('sees that an application is suspended, and its device does not get in', async () => {
    const client = await signedIn()
    const { device_code, user_code } = await codes()
    await suspendApp(test, television)
    const page = await enter(client, user_code)
    expect(page.status).toBe(403)
    expect(page.body).toContain(t.suspended.title('Living Room'))
    expect(await polled(device_code)).toEqual([401, 'invalid_client'])
  })

  it('includes other members while an unconfirmed application waits for its owner', async () => {
    await changeApp(test, television, { confirmed_at: null })
    await setSetting(test, 'apps_by_any_token', 'draft')
    const { user_code } = await codes()
    const page = await enter(await signedIn(), user_code)
    expect(page.status).toBe(403)
    expect(page.body).toContain(t.unconfirmed.title('Living Room'))
    await setSetting(test, 'apps_by_any_token', 'open')
    expect((await enter(await signedIn(), user_code)).body).toContain(
      t.consent.unconfirmed(television.owner, ''),
    )
  })
})

describe('a sign-in on a device', () => {
  async function signInDevice(scope = 'openid profile') {
    const person = await makePerson(test)
    const client = await person.signIn()
    const { device_code, user_code } = await codes({ scope })
    await decide(client, user_code, 'allow')
    const { body } = await poll(device_code)
    return { person, client, tokens: body }
  }

  it('is listed as such, and ends there', async () => {
    const { client, tokens } = await signInDevice()
    const page = await client.get('/account/applications')
    expect(page.body).toContain(messages.en.authorised.onDevice)
    const action = /\/account\/applications\/sign-ins\/\d+\/end/.exec(page.body)![0]
    const mallory = await signedIn()
    const { form_token = '' } = (await mallory.get('/device')).form('/device')
    expect((await mallory.post(action, { form_token })).status).toBe(404)
    expect((await userinfo(test, tokens.access_token)).status).toBe(200)
    expect(await client.submit(page, action)).toMatchObject({
      status: 303,
      location: '/account/applications',
    })
    expect((await client.get('/account/applications')).body).toContain(
      messages.en.authorised.signInEnded('Living Room'),
    )
    expect((await userinfo(test, tokens.access_token)).status).toBe(401)
    expect((await refresh(test, television, tokens.refresh_token)).status).toBe(400)
    expect((await client.submit(page, action)).status).toBe(404)
    const nonsense = await client.post('/account/applications/sign-ins/x/end', {
      form_token: page.form(action).form_token ?? '',
    })
    expect(nonsense.status).toBe(404)
  })

  it('registers and lists applications with the scope apps only', async () => {
    const plain = (await signInDevice()).tokens.access_token
    const refused = await registerByApi(test, plain)
    expect([refused.status, refused.body.error]).toEqual([403, 'insufficient_scope'])
    expect(refused.headers['www-authenticate']).toContain('scope="apps"')
    expect(await getJson(test, '/api/apps', { authorization: `Bearer ${plain}` })).toMatchObject({
      status: 403,
      body: { error: 'insufficient_scope' },
    })
    const wide = (await signInDevice('openid apps')).tokens.access_token
    expect((await registerByApi(test, wide)).status).toBe(201)
    expect((await getJson(test, '/api/apps', { authorization: `Bearer ${wide}` })).status).toBe(200)
  })

  it('does not begin when its member signs out everywhere first, or the account is anonymised', async () => {
    const acts: ((person: Person) => Promise<unknown>)[] = [
      ({ id: user_id }) =>
        signOutEverywhere(test.deps, { user_id, actor_id: user_id, reason: 'x', ip: '127.0.0.1' }),
      ({ id: user_id }) =>
        anonymise(test.deps, { user_id, actor_id: null, give_up: 0n, ip: null, reason: 'asked' }),
    ]
    const outcomes = [
      [403, 'access_denied'],
      [400, 'invalid_grant'],
    ]
    for (const [i, act] of acts.entries()) {
      const person = await makePerson(test)
      const { device_code, user_code } = await codes()
      await decide(await person.signIn(), user_code, 'allow')
      await act(person)
      expect(await polled(device_code)).toEqual(outcomes[i])
    }
  })

  it('goes on for 30 days, after the session of its member has ended', async () => {
    const { client, tokens } = await signInDevice()
    await client.submit(await client.get('/'), '/sign-out')
    test.clock.advance(DAY_MS)
    expect((await refresh(test, television, tokens.refresh_token)).status).toBe(200)
  })
})

describe('the switch', () => {
  it('is a box on the page of the application, and takes the staff’s mark away', async () => {
    const { owner, client, party: app, settings } = await makeOwnedApp(test)
    await changeApp(test, app, { reviewed_at: new Date(), reviewed_by: owner.id })
    const fields = {
      name: 'Reading Club',
      description: 'Books, every Thursday',
      redirect_uris: 'https://app.example/callback',
      id_token_signed_response_alg: 'RS256',
    }
    const saved = await client.submit(await client.get(settings), settings, {
      ...fields,
      grant_types: DEVICE_GRANT,
    })
    expect(saved.status).toBe(303)
    const page = await client.get(settings)
    expect(page.body).toContain(messages.en.registry.fields.grant_types)
    expect(page.body).toMatch(/name="grant_types"[^>]* checked/)
    expect(await begin({}, app)).toMatchObject({ status: 200 })
    const { reviewed_at } = await rowOf(test, 'oauth_apps', { id: app.id })
    expect(reviewed_at).toBeNull()
    await client.submit(page, settings, fields)
    expect(await begin({}, app)).toMatchObject({ status: 400, body: { error: 'unauthorized_client' } })
  })

  it('is grant_types in the registration by a program; unknown ones are left out', async () => {
    const person = await makePerson(test)
    const client = await person.signIn()
    const { device_code, user_code } = await codes({ scope: 'openid apps' })
    await decide(client, user_code, 'allow')
    const { access_token } = (await poll(device_code)).body
    const registered = []
    for (const grant_types of [undefined, [DEVICE_GRANT, 'implicit'], ['authorization_code']]) {
      const response = await registerByApi(test, access_token, {
        name: 'x',
        redirect_uris: ['https://x.example/'],
        grant_types,
      })
      registered.push(response.body.grant_types)
    }
    const usual = ['authorization_code', 'refresh_token']
    expect(registered).toEqual([usual, [...usual, DEVICE_GRANT], usual])
  })
})

describe('the page of a device', () => {
  it.each([
    ['allowed by staff', undefined],
    ['allowed by staff/1.0', undefined],
    ['kodi/21.1 (allowed by staff)', 'kodi/21.1'],
    ['<b>x</b>/1', undefined],
  ])('says that the program calls itself so: %s', async (agent, shown) => {
    const { client_id, client_secret } = television
    const { body } = await postForm(test, ENDPOINT, { client_id, client_secret }, { 'user-agent': agent })
    const page = await enter(await signedIn(), String(body.user_code))
    const label = messages.en.identity.device.program
    expect(page.body.includes(`<dt>${label}</dt><dd><bdi>${shown}</bdi></dd>`)).toBe(shown !== undefined)
    expect(page.body.includes(label)).toBe(shown !== undefined)
    expect(page.body).not.toContain(messages.en.common.reviewed)
  })

  it('decides once, in any order', async () => {
    const [first, second] = [await makePerson(test), await makePerson(test)]
    const { device_code, user_code } = await codes()
    const device = (await findDevice(test.deps, user_code, test.clock.now()))!
    const decision = ({ id }: Person, isAllowed: boolean) => {
      const session = { id: 0n, auth_time: test.clock.now(), amr: ['pwd'], user: { id } }
      return decideDevice(test.db, { device, session, isAllowed, ip: '127.0.0.1', now: test.clock.now() })
    }
    await decision(first, false)
    for (const isAllowed of [true, false])
      await expect(decision(second, isAllowed)).rejects.toMatchObject({ code: 'conflict' })
    expect(await polled(device_code)).toEqual([403, 'access_denied'])
    expect(await actsOn(television)).toMatchObject([{ user_id: String(first.id) }])
  })
})
