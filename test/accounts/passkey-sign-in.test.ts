/**
 * Passkeys in use: the sign-in, the step after the password, a fresh sign-in, and every forgery.
 * spec/accounts 2.3.
 */
import { describe, expect, it } from 'vitest'
import { makeSignInLink } from '../../src/accounts/operator.ts'
import { issueLink } from '../../src/accounts/security/account-links.ts'
import { recoverPassword } from '../../src/accounts/security/recovery.ts'
import { resetSecondFactor } from '../../src/accounts/security/second-factor.ts'
import { type Forgery, makeAuthenticator, type Traits } from '../harness/authenticator.ts'
import { cookieHeader } from '../harness/browser.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import {
  anotherProcess,
  type Browser,
  browser,
  setSetting,
  startTestApp,
  useTestApp,
} from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { rowOf, rowsOf, setRows } from '../harness/rows.ts'
import {
  answerOf,
  authorizationUrl,
  exchange,
  makeParty,
  obtainTokens,
  type Tokens,
} from '../identity/relying-party.ts'
import { answer, giveKey, type Holder, optionsOn, PASSKEYS, register, WITH_DOMAIN } from './passkey-holder.ts'

const t = messages.en

const MINUTE_MS = 60_000
const SIGN_IN = '/sign-in/passkey'
const AGAIN = '/sign-in/again'
const SECOND_STEP = '/sign-in/second-factor'
const FACTOR = '/account/second-factor'

const test = await useTestApp(WITH_DOMAIN)
await setSetting(test, 'limit_sign_in_failures_per_address', '0')

/** Signs in by passkey in a new browser. */
async function signIn({ authenticator }: Pick<Holder, 'authenticator'>, forgery: Forgery = {}) {
  const client = browser(test)
  const page = await client.get('/sign-in')
  const credential = authenticator.get(optionsOn(page, SIGN_IN), forgery)
  return { client, page: await answer(client, page, SIGN_IN, credential) }
}

const isSignedIn = async (client: Browser) => (await client.get('/account/profile')).status === 200

async function methodsOf({ id }: Person): Promise<string[]> {
  const { amr } = await test.db
    .selectFrom('sessions')
    .where('user_id', '=', id)
    .orderBy('id', 'desc')
    .select('amr')
    .executeTakeFirstOrThrow()
  return amr
}

const keyOf = ({ id }: Person) =>
  test.db.selectFrom('passkeys').where('user_id', '=', id).selectAll().executeTakeFirstOrThrow()

async function holder(traits: Traits = {}) {
  const person = await makePerson(test)
  return { person, ...(await giveKey(test, person, traits)) }
}

/** Turns two-step verification on with passkeys alone, and returns the recovery codes. */
async function requireKey(client: Browser): Promise<string[]> {
  const page = await client.submit(await client.get(FACTOR), `${FACTOR}/passkeys`)
  expect(page.status).toBe(200)
  return [...new Set([...page.body.matchAll(/[a-z0-9]{4}(?:-[a-z0-9]{4}){3}/g)].map(([code]) => code))]
}

/** The first step by the password, to the page of the second. */
async function passPassword({ username, password }: Person) {
  const client = browser(test)
  const first = await client.submit(await client.get('/sign-in'), '/sign-in', { username, password })
  expect(first).toMatchObject({ status: 303, location: SECOND_STEP })
  return { client, page: await client.get(SECOND_STEP) }
}

describe('signing in', () => {
  it.each([
    ['a key of this device', {}, ['hwk', 'user', 'mfa']],
    ['a synced key', { isSynced: true }, ['swk', 'user', 'mfa']],
    ['a counting key', { counter: 1 }, ['hwk', 'user', 'mfa']],
  ] as [string, Traits, string[]][])('needs no password with %s', async (_, traits, methods) => {
    const { person, authenticator } = await holder(traits)
    for (let i = 0; i < 2; i += 1) {
      const { client, page } = await signIn({ authenticator })
      expect(page).toMatchObject({ status: 303, location: '/' })
      expect(await isSignedIn(client)).toBe(true)
      expect(await methodsOf(person)).toEqual(methods)
    }
    expect((await keyOf(person)).last_used_at).toEqual(test.clock.now())
  })

  it('returns to where it began, on this site only', async () => {
    const { authenticator } = await holder()
    for (const [wanted, location] of [
      ['/wallet', '/wallet'],
      ['https://evil.example/', '/'],
    ] as const) {
      const client = browser(test)
      const page = await client.get(`/sign-in?return_to=${encodeURIComponent(wanted)}`)
      const credential = authenticator.get(optionsOn(page, SIGN_IN))
      expect((await answer(client, page, SIGN_IN, credential)).location).toBe(location)
    }
  })

  it('passes over the second step, and tells applications phr', async () => {
    const { person, client, authenticator } = await holder()
    await requireKey(client)
    const { client: fresh, page } = await signIn({ authenticator })
    expect(page.location).toBe('/')
    const { id_token } = await obtainTokens(test, fresh, await makeParty(test))
    const claims = JSON.parse(Buffer.from(id_token.split('.')[1]!, 'base64url').toString())
    expect(claims).toMatchObject({ sub: String(person.id), amr: ['hwk', 'user', 'mfa'], acr: 'phr' })
  })

  const forgeries: [string, Forgery][] = [
    ['the origin of another site', { origin: 'https://evil.example' }],
    ['another relying party', { rp_id: 'evil.example' }],
    ['the type of a registration', { type: 'webauthn.create' }],
    ['a challenge of its own', { challenge: Buffer.alloc(54).toString('base64url') }],
    ['a wrong signature', { signature: Buffer.alloc(70, 1) }],
    ['no verified member', { flags: 0x01 }],
    ['no presence', { flags: 0x04 }],
    ['a key that may be synced now', { flags: 0x0d }],
    ['a frame of another site', { crossOrigin: true }],
    ['a frame that names its top site', { crossOrigin: true, topOrigin: 'https://evil.example' }],
    ['the handle of nobody', { userHandle: Buffer.alloc(32).toString('base64url') }],
    ['no handle', { userHandle: null }],
  ]
  it.each(forgeries)('refuses %s', async (_, forgery) => {
    const { person, authenticator } = await holder()
    const { client, page } = await signIn({ authenticator }, forgery)
    expect(page.status).toBe(401)
    expect(page.body).toContain(t.signIn.passkeyUnverified)
    expect(await isSignedIn(client)).toBe(false)
    const events = await rowsOf(test, 'security_events', { user_id: person.id }, ['kind', 'detail'])
    // An answer from a frame is not read, so it names no member.
    const refused = [{ kind: 'passkey_refused', detail: { page: 'sign_in' } }]
    expect(events).toEqual(forgery.crossOrigin ? [] : refused)
    expect((await keyOf(person)).last_used_at).toBeNull()
  })

  it('refuses the handle of another member', async () => {
    const [mine, theirs] = [await holder(), await holder()]
    const other = await rowOf(test, 'users', { id: theirs.person.id }, ['passkey_handle'])
    const userHandle = other.passkey_handle!.toString('base64url')
    expect((await signIn(mine, { userHandle })).page.status).toBe(401)
  })

  it('says that a removed passkey is not known, and tells the browser so', async () => {
    const { person, authenticator } = await holder()
    await test.db.deleteFrom('passkeys').where('user_id', '=', person.id).execute()
    const { page } = await signIn({ authenticator })
    expect(page.status).toBe(401)
    expect(page.body).toContain(t.signIn.passkeyUnknown)
    expect(page.body).toMatch(/data-unknown-passkey="[^"]*localhost/)
  })

  it('refuses an answer a second time, in another browser, on another page, and an hour later', async () => {
    const { person, authenticator } = await holder()
    const client = browser(test)
    const page = await client.get('/sign-in')
    const credential = authenticator.get(optionsOn(page, SIGN_IN))
    const other = browser(test)
    expect((await answer(other, await other.get('/sign-in'), SIGN_IN, credential)).status).toBe(401)
    expect((await answer(client, page, SIGN_IN, credential)).status).toBe(303)
    await client.submit(await client.get('/'), '/sign-out')
    const replay = await answer(client, await client.get('/sign-in'), SIGN_IN, credential)
    expect(replay.status).toBe(401)

    const signedIn = await person.signIn()
    const again = await signedIn.get(`/sign-in?return_to=/wallet&reason=again`)
    const wrongPage = authenticator.get(optionsOn(await client.get('/sign-in'), SIGN_IN))
    expect((await answer(signedIn, again, AGAIN, wrongPage)).status).toBe(401)

    const late = await client.get('/sign-in')
    const stale = authenticator.get(optionsOn(late, SIGN_IN))
    test.clock.advance(60 * MINUTE_MS)
    const expired = await answer(client, late, SIGN_IN, stale)
    expect([expired.status, expired.body.includes(t.signIn.passkeyExpired)]).toEqual([401, true])
    const renewed = authenticator.get(optionsOn(expired, SIGN_IN))
    expect((await answer(client, expired, SIGN_IN, renewed)).status).toBe(303)
  })

  it('makes one session of one answer in two processes', async () => {
    const { person, authenticator } = await holder()
    const second = await anotherProcess(test)
    const client = browser(test)
    const page = await client.get('/sign-in')
    const credential = authenticator.get(optionsOn(page, SIGN_IN))
    const payload = new URLSearchParams({ ...page.form(SIGN_IN), credential }).toString()
    const headers = {
      cookie: cookieHeader(client),
      accept: 'text/html',
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
    }
    await test.db.deleteFrom('sessions').where('user_id', '=', person.id).execute()
    const sent = await Promise.all(
      [test, second, test, second].map(({ app }) =>
        app.inject({ method: 'POST', url: SIGN_IN, headers, payload }),
      ),
    )
    expect(sent.filter(({ statusCode }) => statusCode === 303)).toHaveLength(1)
    const sessions = await rowsOf(test, 'sessions', { user_id: person.id }, ['id'])
    expect(sessions).toHaveLength(1)
    await second.close()
  })

  it('refuses a counter that does not grow, records and mails it, and keeps the passkey', async () => {
    const { person, authenticator } = await holder({ counter: 5 })
    expect((await signIn({ authenticator })).page.status).toBe(303)
    for (const counter of [7, 6, 0]) {
      expect((await signIn({ authenticator }, { counter })).page.status).toBe(401)
    }
    const audited = await rowsOf(
      test,
      'audit_log',
      { subject: `user:${person.id}`, action: 'account.passkey_counter' },
      ['actor_id'],
    )
    expect(audited).toEqual([{ actor_id: null }, { actor_id: null }, { actor_id: null }])
    expect((await signIn({ authenticator }, { counter: 100 })).page.status).toBe(303)
  })

  it('updates whether the key is synced', async () => {
    const { person, authenticator } = await holder({ isSynced: true })
    await signIn({ authenticator }, { flags: 0x0d })
    expect((await keyOf(person)).is_backed_up).toBe(false)
    await signIn({ authenticator })
    expect((await keyOf(person)).is_backed_up).toBe(true)
  })

  it('needs a key that has verified its member', async () => {
    const { authenticator } = await holder({ verifies: false })
    authenticator.traits.verifies = true
    expect((await signIn({ authenticator })).page.status).toBe(401)
  })

  it('refuses a banned member, and counts failures like wrong passwords', async () => {
    const { person, authenticator } = await holder()
    for (let i = 0; i < 10; i += 1) {
      expect((await signIn({ authenticator }, { signature: Buffer.alloc(70) })).page.status).toBe(401)
    }
    expect((await signIn({ authenticator })).page.status).toBe(429)
    const client = browser(test)
    const { username, password } = person
    const byPassword = await client.submit(await client.get('/sign-in'), '/sign-in', { username, password })
    expect(byPassword.status).toBe(429)

    const barred = await holder()
    await test.db.updateTable('users').set({ is_banned: true }).where('id', '=', barred.person.id).execute()
    const { client: outside, page } = await signIn(barred)
    expect(page.status).toBe(401)
    expect(await isSignedIn(outside)).toBe(false)
  })

  it.each(['not JSON', 'null', '{}', '[]', JSON.stringify('x'.repeat(8_100))])(
    'answers 401 to %.12s',
    async (credential) => {
      const client = browser(test)
      const page = await client.get('/sign-in')
      expect((await answer(client, page, SIGN_IN, credential)).status).toBe(401)
    },
  )
})

describe('the step after the password', () => {
  it('is a passkey where that is the second factor, and gives recovery codes', async () => {
    const { person, client, authenticator } = await holder()
    const codes = await requireKey(client)
    expect(codes).toHaveLength(10)
    expect((await client.get('/account/profile')).status).toBe(200)
    const { client: fresh, page } = await passPassword(person)
    expect(page.body).not.toContain('name="code"')
    const options = JSON.parse(optionsOn(page, SECOND_STEP))
    expect(options).toMatchObject({ userVerification: 'preferred' })
    expect(options.allowCredentials).toHaveLength(1)
    const credential = authenticator.get(JSON.stringify(options))
    expect((await answer(fresh, page, SECOND_STEP, credential)).location).toBe('/')
    expect(await methodsOf(person)).toEqual(['pwd', 'hwk', 'user', 'mfa'])

    const lost = await passPassword(person)
    const recovered = await lost.client.submit(lost.page, SECOND_STEP, { recovery_code: codes[0]! })
    expect(recovered.location).toBe('/')
    const used = await passPassword(person)
    expect((await used.client.submit(used.page, SECOND_STEP, { recovery_code: codes[0]! })).status).toBe(401)
  })

  it('takes a key without verification, and keeps the first one that verifies its member', async () => {
    const { person, client, authenticator } = await holder({ verifies: false })
    await requireKey(client)
    for (const verifies of [false, true]) {
      authenticator.traits.verifies = verifies
      const { client: fresh, page } = await passPassword(person)
      const credential = authenticator.get(optionsOn(page, SECOND_STEP))
      expect((await answer(fresh, page, SECOND_STEP, credential)).status).toBe(303)
      expect((await keyOf(person)).is_user_verified).toBe(verifies)
    }
    expect((await signIn({ authenticator })).page.status).toBe(303)
  })

  it('refuses the passkey of another member, and forgeries', async () => {
    const { person, client, authenticator } = await holder()
    const mallory = await holder()
    await requireKey(client)
    const { client: fresh, page } = await passPassword(person)
    const options = optionsOn(page, SECOND_STEP)
    for (const credential of [
      mallory.authenticator.get(options),
      authenticator.get(options, { origin: 'https://evil.example' }),
      authenticator.get(options, { signature: Buffer.alloc(70) }),
    ])
      expect((await answer(fresh, page, SECOND_STEP, credential)).status).toBe(401)
    expect(await isSignedIn(fresh)).toBe(false)
  })

  it('needs a passkey to be turned on with, keeps the last one, and goes by a reset', async () => {
    const plain = await (await makePerson(test)).signIn()
    const setUp = await plain.get(FACTOR)
    expect(setUp.body).toContain(t.security.setUp.addPasskey)
    const { form_token = '' } = setUp.form(FACTOR)
    expect((await plain.post(`${FACTOR}/passkeys`, { form_token })).status).toBe(409)

    const { person, client } = await holder()
    await register(client, makeAuthenticator(test.url))
    await requireKey(client)
    const ids = (
      await test.db.selectFrom('passkeys').where('user_id', '=', person.id).select('id').execute()
    ).map(({ id }) => id)
    const { form_token: token = '' } = (await client.get('/account/profile')).form('/sign-out')
    // The session began without the second factor, so it is no longer fresh.
    const stale = await client.post(`${PASSKEYS}/${ids[0]}/remove`, { form_token: token, sure: '1' })
    expect(stale.status).toBe(409)
    await setRows(test, 'sessions', { user_id: person.id }, { amr: ['pwd', 'hwk', 'user', 'mfa'] })
    const remove = async (id: bigint) =>
      client.post(`${PASSKEYS}/${id}/remove`, { form_token: token, sure: '1' })
    const removals = await Promise.all(ids.map(remove))
    expect(removals.map(({ status }) => status).sort()).toEqual([303, 409])
    expect(removals.find(({ status }) => status === 409)!.body).toContain(t.security.passkeys.problems.needed)

    await resetSecondFactor(test.deps, { user_id: person.id, admin_id: null, reason: 'lost', ip: null })
    expect(
      await test.db.selectFrom('passkeys').where('user_id', '=', person.id).select('id').execute(),
    ).toEqual([])
    const { username, password } = person
    const again = browser(test)
    const page = await again.submit(await again.get('/sign-in'), '/sign-in', { username, password })
    expect(page.location).toBe('/')
    const reset = { user_id: person.id, admin_id: null, reason: 'lost', ip: null }
    await expect(resetSecondFactor(test.deps, reset)).rejects.toMatchObject({ code: 'conflict' })
  })

  it('satisfies the rule that administrators need one, and makes a sign-in fresh', async () => {
    await setSetting(test, 'admins_need_second_factor', 'on')
    const person = await makePerson(test, { is_admin: true })
    const { client, authenticator } = await giveKey(test, person)
    expect((await client.get('/admin')).location).toMatch(/^\/account\/second-factor/)
    await requireKey(client)
    const { client: fresh, page } = await passPassword(person)
    await answer(fresh, page, SECOND_STEP, authenticator.get(optionsOn(page, SECOND_STEP)))
    expect((await fresh.get('/admin')).status).toBe(200)
    expect((await fresh.get(PASSKEYS)).status).toBe(200)
    await setSetting(test, 'admins_need_second_factor', 'off')
  })

  it('is asked after a recovery by mail, which removes no passkey', async () => {
    const { person, client, authenticator } = await holder()
    await requireKey(client)
    const email = `${person.username}@example.org`
    await setRows(test, 'users', { id: person.id }, { email, email_verified: true })
    const expires_at = new Date(test.clock.now().getTime() + MINUTE_MS)
    const token = await test.db
      .transaction()
      .execute((tx) => issueLink(tx, { user_id: person.id, purpose: 'recover_password', email, expires_at }))
    const new_password = 'a new one after the recovery'
    expect(await recoverPassword(test.deps, { token, new_password, ip: '127.0.0.1' })).toMatchObject({
      return_to: '/',
    })
    const { client: fresh, page } = await passPassword({ ...person, password: new_password })
    const credential = authenticator.get(optionsOn(page, SECOND_STEP))
    expect((await answer(fresh, page, SECOND_STEP, credential)).location).toBe('/')
  })

  it('is asked after the operator’s link too', async () => {
    const { person, client, authenticator } = await holder()
    await requireKey(client)
    const { url } = await makeSignInLink(test.deps, person.username)
    const fresh = browser(test)
    const { pathname, search } = new URL(url)
    const page = await fresh.get(pathname + search)
    const step = await fresh.submit(page, pathname)
    expect(step.location).toBe(SECOND_STEP)
    const second = await fresh.get(SECOND_STEP)
    const credential = authenticator.get(optionsOn(second, SECOND_STEP))
    expect((await answer(fresh, second, SECOND_STEP, credential)).status).toBe(303)
  })
})

describe('a fresh sign-in', () => {
  it('renews the session: the same row, a new cookie, a new time', async () => {
    const { person, client, authenticator } = await holder()
    const before = await sessionRow(person)
    const cookie = client.cookies.get('tessera_session')
    test.clock.advance(20 * MINUTE_MS)
    const detour = await client.get(PASSKEYS)
    expect(detour.location).toMatch(/^\/sign-in\?.*reason=again/)
    const page = await client.get(detour.location!)
    expect(JSON.parse(optionsOn(page, AGAIN))).toMatchObject({ userVerification: 'required' })
    const credential = authenticator.get(optionsOn(page, AGAIN))
    const back = await answer(client, page, AGAIN, credential)
    expect(back).toMatchObject({ status: 303, location: PASSKEYS })
    expect((await client.get(PASSKEYS)).status).toBe(200)
    const after = await sessionRow(person)
    expect(after).toMatchObject({
      id: before.id,
      sid: before.sid,
      renewals: before.renewals + 1,
      auth_time: test.clock.now(),
      amr: ['hwk', 'user', 'mfa'],
    })
    expect(client.cookies.get('tessera_session')).not.toBe(cookie)
  })

  it('refuses a passkey that does not verify its member', async () => {
    const { client, authenticator } = await holder()
    const page = await client.get('/sign-in?return_to=/wallet&reason=again')
    const present = authenticator.get(optionsOn(page, AGAIN), { flags: 0x01 })
    expect((await answer(client, page, AGAIN, present)).status).toBe(401)
    // One that never verified its member is not offered.
    const { client: other } = await holder({ verifies: false })
    const { body } = await other.get('/sign-in?return_to=/wallet&reason=again')
    expect(body).not.toContain('data-passkey')
  })

  it('is what acr_values=phr asks a member with a passkey for, once', async () => {
    const { person, authenticator } = await holder()
    const party = await makeParty(test)
    const acrOf = ({ id_token }: { id_token: string }) =>
      JSON.parse(Buffer.from(id_token.split('.')[1]!, 'base64url').toString()).acr
    const wish = { acr_values: 'phr' }
    for (const uses of ['passkey', 'password']) {
      const client = await person.signIn()
      expect(acrOf(await obtainTokens(test, client, party))).toBe('urn:tessera:acr:1fa')
      const detour = await client.get(authorizationUrl(party, wish))
      expect(detour.location).toMatch(/^\/sign-in\?return_to=/)
      const page = await client.get(detour.location!)
      const { username, password } = person
      const back =
        uses === 'passkey'
          ? await answer(client, page, SIGN_IN, authenticator.get(optionsOn(page, SIGN_IN)))
          : await client.submit(page, '/sign-in', { username, password })
      const { code } = answerOf(await client.get(back.location!))
      const { body } = await exchange(test, party, code)
      expect(acrOf(body as Tokens)).toBe(uses === 'passkey' ? 'phr' : 'urn:tessera:acr:1fa')
    }
  })

  it('refuses the passkey of another member with 403, and leads a visitor to the sign-in page', async () => {
    const { client } = await holder()
    const mallory = await holder()
    const page = await client.get(`/sign-in?return_to=/wallet&reason=again`)
    const foreign = await answer(client, page, AGAIN, mallory.authenticator.get(optionsOn(page, AGAIN)))
    expect(foreign.status).toBe(403)
    await client.submit(await client.get('/'), '/sign-out')
    const credential = mallory.authenticator.get(optionsOn(page, AGAIN))
    expect((await answer(client, page, AGAIN, credential)).location).toBe('/sign-in?return_to=%2Fwallet')
  })

  it('confirms a member of the forum, whom no passkey signs in', async () => {
    const { person, client, authenticator } = await holder()
    // The account goes over to the forum and keeps its passkeys.
    await setRows(test, 'users', { id: person.id }, { password_hash: null, forum_id: 7_000n + person.id })
    await setRows(test, 'sessions', { user_id: person.id }, { amr: ['forum'] })
    const { client: outside, page: refused } = await signIn({ authenticator })
    expect([refused.status, refused.body.includes(t.signIn.passkeyAtForum)]).toEqual([401, true])
    expect(await isSignedIn(outside)).toBe(false)
    test.clock.advance(20 * MINUTE_MS)
    const page = await client.get((await client.get(PASSKEYS)).location!)
    const credential = authenticator.get(optionsOn(page, AGAIN))
    expect((await answer(client, page, AGAIN, credential)).location).toBe(PASSKEYS)
    expect(await methodsOf(person)).toEqual(['forum', 'hwk', 'user', 'mfa'])
  })
})

const sessionRow = ({ id }: Person) =>
  test.db.selectFrom('sessions').where('user_id', '=', id).selectAll().executeTakeFirstOrThrow()

describe('nobody is locked out', () => {
  it('by a passkey: the password goes on, also after all passkeys are gone', async () => {
    const { person, client } = await holder()
    const { username, password } = person
    const byPassword = async () => {
      const fresh = browser(test)
      return fresh.submit(await fresh.get('/sign-in'), '/sign-in', { username, password })
    }
    expect((await byPassword()).location).toBe('/')
    const { id } = await keyOf(person)
    const { form_token = '' } = (await client.get(PASSKEYS)).form(PASSKEYS)
    expect((await client.post(`${PASSKEYS}/${id}/remove`, { form_token, sure: '1' })).status).toBe(303)
    expect((await byPassword()).location).toBe('/')
  })

  it('without JavaScript: the sign-in page is that of the password', async () => {
    const page = await browser(test).get('/sign-in')
    const [form] = /<form[^>]*action="\/sign-in\/passkey"[^>]*>/.exec(page.body)!
    expect(form).toMatch(/ hidden>$/)
    expect(page.body).toContain('autocomplete="username webauthn"')
    expect(page.headers['permissions-policy']).toBe(
      'publickey-credentials-get=(self), publickey-credentials-create=(self)',
    )
  })
})

describe('the payment address on another domain', () => {
  it('takes our passkeys from browsers that know related origins, and only from its own pages', async () => {
    const pay = 'https://pay.example.net'
    const site = await startTestApp({
      TRUST_PROXY: '127.0.0.1',
      APP_SECRET: 'x'.repeat(40),
      PUBLIC_URL: 'https://id.example.org',
      PAYMENT_PUBLIC_URL: pay,
    })
    const { client, authenticator } = await giveKey(site, await makePerson(site))
    const open = async (host: string) => client.get('/sign-in?return_to=/wallet&reason=again', { host })
    const page = await open('pay.example.net')
    expect(page.body).toMatch(/<form[^>]* data-related/)
    expect(JSON.parse(optionsOn(page, AGAIN)).rpId).toBe('id.example.org')
    expect((await open('id.example.org')).body).not.toContain('data-related')
    for (const [origin, status] of [
      ['https://pay.example.net.evil.example', 401],
      [pay, 303],
    ] as const) {
      const credential = authenticator.get(optionsOn(page, AGAIN), { origin })
      const fields = { ...page.form(AGAIN), credential }
      const sent = await client.post(AGAIN, fields, { host: 'pay.example.net' })
      expect([origin, sent.status]).toEqual([origin, status])
    }
    await site.close()
  })

  it('is named at /.well-known/webauthn, and only there', async () => {
    const production = { TRUST_PROXY: '127.0.0.1', APP_SECRET: 'x'.repeat(40) }
    const cases: [string, string, object | undefined][] = [
      ['https://id.example.org', 'https://pay.example.net', { origins: ['https://pay.example.net'] }],
      ['https://example.org', 'https://pay.example.org', undefined],
      ['https://example.org', 'https://example.org', undefined],
    ]
    for (const [PUBLIC_URL, PAYMENT_PUBLIC_URL, expected] of cases) {
      const site = await startTestApp({ ...production, PUBLIC_URL, PAYMENT_PUBLIC_URL })
      const response = await site.app.inject({ url: '/.well-known/webauthn' })
      expect(response.statusCode, PUBLIC_URL).toBe(expected === undefined ? 404 : 200)
      if (expected !== undefined) {
        expect(response.json()).toEqual(expected)
        expect(response.headers).toMatchObject({
          'content-type': expect.stringContaining('application/json'),
          'cache-control': 'public, max-age=300',
        })
      }
      await site.close()
    }
  })
})
