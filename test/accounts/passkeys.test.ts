/** A member's passkeys: adding, the list, names and removal. */
import { describe, expect, it } from 'vitest'
import { type Algorithm, type Forgery, makeAuthenticator } from '../harness/authenticator.ts'
import { cookieHeader } from '../harness/browser.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { authenticatorCertificate } from '../harness/certificate.ts'
import { anotherProcess, browser, startTestApp, useTestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { rowOf, rowsOf } from '../harness/rows.ts'
import { answer, giveKey, optionsOn, PASSKEYS, register, WITH_DOMAIN } from './passkey-holder.ts'

const t = messages.en.security.passkeys

const MINUTE_MS = 60_000

const test = await useTestApp(WITH_DOMAIN)

const keysOf = ({ id }: Person) =>
  test.db.selectFrom('passkeys').where('user_id', '=', id).orderBy('id').selectAll().execute()
const actsOf = async ({ id }: Person) => {
  const rows = await rowsOf(test, 'audit_log', { subject: `user:${id}` }, ['action'])
  return rows.map(({ action }) => action)
}
const refusalsOf = ({ id }: Person) =>
  test.db.selectFrom('security_events').where('user_id', '=', id).select(['kind', 'detail']).execute()

describe('adding a passkey', () => {
  it.each([
    ['ES256', -7],
    ['EdDSA', -8],
    ['RS256', -257],
  ] as [string, Algorithm][])('stores the %s key that the browser made', async (_name, alg) => {
    const alice = await makePerson(test)
    const client = await alice.signIn()
    const authenticator = makeAuthenticator(test.url, { alg, isSynced: true, counter: 4 })
    const page = await client.get(PASSKEYS)
    const options = JSON.parse(optionsOn(page, PASSKEYS))
    expect(options).toMatchObject({
      rp: { id: 'localhost' },
      user: { name: alice.username },
      attestation: 'none',
      excludeCredentials: [],
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
    })
    expect(options.pubKeyCredParams.map((each: { alg: number }) => each.alg)).toEqual([-8, -7, -257])
    expect(Buffer.from(options.challenge, 'base64url').length).toBeGreaterThanOrEqual(16)

    const credential = authenticator.create(JSON.stringify(options))
    const added = await client.submit(page, PASSKEYS, { name: '  Work laptop ', credential })
    expect(added).toMatchObject({ status: 303, location: PASSKEYS })
    const [key] = await keysOf(alice)
    expect(key).toMatchObject({
      name: 'Work laptop',
      rp_id: 'localhost',
      sign_count: 5n,
      is_backup_eligible: true,
      is_backed_up: true,
      is_user_verified: true,
      is_discoverable: true,
      transports: ['internal', 'hybrid'],
      last_used_at: null,
    })
    expect(key!.credential_id).toEqual(authenticator.credential_id)
    const { passkey_handle } = await rowOf(test, 'users', { id: alice.id })
    expect(passkey_handle!.toString('base64url')).toBe(options.user.id)
    expect(await actsOf(alice)).toEqual(['account.passkey_added'])
    const list = await client.get(added.location!)
    expect(list.body).toContain(t.added('Work laptop'))
    expect(list.body).toContain('Synced')
    // The next key gets the same handle, and the browser is told of the first one.
    const next = JSON.parse(optionsOn(list, PASSKEYS))
    expect(next.user.id).toBe(options.user.id)
    expect(next.excludeCredentials).toEqual([
      {
        type: 'public-key',
        id: key!.credential_id.toString('base64url'),
        transports: ['internal', 'hybrid'],
      },
    ])
  })

  it('stores nothing when the page is only shown', async () => {
    const alice = await makePerson(test)
    const client = await alice.signIn()
    const handles = await Promise.all(
      [1, 2].map(async () => (await client.get(PASSKEYS)).form(PASSKEYS).handle),
    )
    expect(new Set(handles).size).toBe(2)
    const { passkey_handle } = await rowOf(test, 'users', { id: alice.id })
    expect(passkey_handle).toBeNull()
  })

  it('accepts a statement that the key itself signed', async () => {
    const alice = await makePerson(test)
    const client = await alice.signIn()
    expect((await register(client, makeAuthenticator(test.url), { fmt: 'packed' })).status).toBe(303)
    expect(await keysOf(alice)).toHaveLength(1)
  })

  const forgeries: [string, Forgery][] = [
    ['the origin of another site', { origin: 'https://evil.example' }],
    ['another relying party', { rp_id: 'evil.example' }],
    ['the type of a sign-in', { type: 'webauthn.get' }],
    ['a challenge of its own', { challenge: Buffer.alloc(54).toString('base64url') }],
    ['a frame of another site', { crossOrigin: true }],
    ['a frame that names its top site', { crossOrigin: true, topOrigin: 'https://evil.example' }],
    ['no presence of the member', { flags: 0x04 }],
    ['a backup of a key that has none', { flags: 0x15 }],
    ['a credential ID of 1,024 bytes', { credential_id: Buffer.alloc(1_024, 1) }],
    ['a format that carries certificates', { fmt: 'fido-u2f' }],
    ['a statement of Apple', { fmt: 'apple' }],
    ['an unknown format', { fmt: 'homemade' }],
    ['a certificate that attests the key', { fmt: 'packed', attestedBy: authenticatorCertificate() }],
    ['a statement without a format for it', { attStmt: new Map([['alg', -7]]) }],
    [
      'a wrong signature of its own',
      {
        fmt: 'packed',
        attStmt: new Map<string, unknown>([
          ['alg', -7],
          ['sig', Buffer.alloc(70)],
        ]),
      },
    ],
  ]
  it.each(forgeries)('refuses %s, and stores nothing', async (_what, forgery) => {
    const alice = await makePerson(test)
    const client = await alice.signIn()
    const refused = await register(client, makeAuthenticator(test.url), forgery)
    expect(refused.status).toBe(400)
    expect(refused.body).toContain(t.problems.unverified)
    expect(await keysOf(alice)).toEqual([])
    expect(await refusalsOf(alice)).toEqual([{ kind: 'passkey_refused', detail: { page: 'register' } }])
  })

  it('stores the longest credential ID with an RSA key', async () => {
    const alice = await makePerson(test)
    const client = await alice.signIn()
    const authenticator = makeAuthenticator(test.url, { alg: -257 })
    const longest = { credential_id: Buffer.alloc(1_023, 1), fmt: 'packed' }
    expect((await register(client, authenticator, longest)).status).toBe(303)
    const page = await browser(test).get('/sign-in')
    expect(authenticator.get(optionsOn(page, '/sign-in/passkey'), longest).length).toBeLessThan(8_192)
    expect((await keysOf(alice))[0]!.credential_id).toHaveLength(1_023)
  })

  it('refuses algorithms that it did not name', async () => {
    const alice = await makePerson(test)
    const client = await alice.signIn()
    expect((await register(client, makeAuthenticator(test.url, { alg: -35 }))).status).toBe(400)
    expect(await keysOf(alice)).toEqual([])
  })

  it.each([
    ['text', 'not JSON'],
    ['null', 'null'],
    ['an empty answer', '{}'],
    ['a list', '[]'],
    [
      'broken client data',
      '{"id":"AA","rawId":"AA","type":"public-key","response":{"clientDataJSON":"AA","attestationObject":"AA"}}',
    ],
    ['too much', JSON.stringify('x'.repeat(8_100))],
  ])('answers 400 to %s', async (_what, credential) => {
    const client = await (await makePerson(test)).signIn()
    const page = await client.get(PASSKEYS)
    expect((await client.submit(page, PASSKEYS, { name: 'x', credential })).status).toBe(400)
    expect((await client.submit(page, PASSKEYS, { name: 'x' })).status).toBe(400)
  })

  it('refuses the challenge of another browser, of a sign-in and of another member', async () => {
    const [alice, mallory] = [await makePerson(test), await makePerson(test)]
    const [client, other, stranger] = [await alice.signIn(), await alice.signIn(), await mallory.signIn()]
    const authenticator = makeAuthenticator(test.url)
    for (const from of [other, stranger]) {
      const options = optionsOn(await from.get(PASSKEYS), PASSKEYS)
      const credential = authenticator.create(options)
      const page = await client.get(PASSKEYS)
      expect((await client.submit(page, PASSKEYS, { name: 'x', credential })).status).toBe(400)
    }
    expect(await keysOf(alice)).toEqual([])
  })

  it('asks again after 10 minutes, with a new challenge', async () => {
    const alice = await makePerson(test)
    const client = await alice.signIn()
    const page = await client.get(PASSKEYS)
    const credential = makeAuthenticator(test.url).create(optionsOn(page, PASSKEYS))
    test.clock.advance(10 * MINUTE_MS)
    const late = await client.submit(page, PASSKEYS, { name: 'x', credential })
    expect(late.status).toBe(401)
    expect(late.body).toContain(t.problems.expired)
    expect(optionsOn(late, PASSKEYS)).not.toBe(optionsOn(page, PASSKEYS))
    const again = makeAuthenticator(test.url).create(optionsOn(late, PASSKEYS))
    expect((await client.submit(late, PASSKEYS, { name: 'x', credential: again })).status).toBe(303)
  })

  it('accepts one of two handles that were shown at once', async () => {
    const alice = await makePerson(test)
    const client = await alice.signIn()
    const [first, second] = [await client.get(PASSKEYS), await client.get(PASSKEYS)]
    const add = (page: typeof first) =>
      client.submit(page, PASSKEYS, {
        name: 'x',
        credential: makeAuthenticator(test.url).create(optionsOn(page, PASSKEYS)),
      })
    expect((await add(first)).status).toBe(303)
    expect((await add(second)).status).toBe(401)
    expect(await keysOf(alice)).toHaveLength(1)
  })

  it('adds one passkey for one answer in two processes', async () => {
    const alice = await makePerson(test)
    const client = await alice.signIn()
    const second = await anotherProcess(test)
    const page = await client.get(PASSKEYS)
    const credential = makeAuthenticator(test.url).create(optionsOn(page, PASSKEYS))
    const cookie = cookieHeader(client)
    const payload = new URLSearchParams({ ...page.form(PASSKEYS), name: 'x', credential }).toString()
    const headers = {
      cookie,
      accept: 'text/html',
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
    }
    const sent = await Promise.all(
      [test, second].map(({ app }) => app.inject({ method: 'POST', url: PASSKEYS, headers, payload })),
    )
    expect(sent.map(({ statusCode }) => statusCode).sort()).toEqual([303, 400])
    expect(await keysOf(alice)).toHaveLength(1)
    await second.close()
  })

  it('refuses a known credential and an eleventh one', async () => {
    const alice = await makePerson(test)
    const { client, authenticator } = await giveKey(test, alice)
    const known = await register(client, authenticator)
    expect([known.status, known.body.includes(t.problems.known)]).toEqual([409, true])
    const bob = await makePerson(test)
    expect((await register(await bob.signIn(), authenticator)).status).toBe(409)

    for (let n = 2; n < 10; n += 1) await register(client, makeAuthenticator(test.url))
    const page = await client.get(PASSKEYS)
    expect((await register(client, makeAuthenticator(test.url))).status).toBe(303)
    const credential = makeAuthenticator(test.url).create(optionsOn(page, PASSKEYS))
    const eleventh = await client.submit(page, PASSKEYS, { name: 'x', credential })
    expect([eleventh.status, eleventh.body.includes(t.problems.full)]).toEqual([409, true])
    expect(await keysOf(alice)).toHaveLength(10)
  })

  it('counts simultaneous registrations together', async () => {
    const alice = await makePerson(test)
    const { client } = await giveKey(test, alice)
    for (let n = 2; n < 10; n += 1) await register(client, makeAuthenticator(test.url))
    const pages = await Promise.all([1, 2, 3].map(() => client.get(PASSKEYS)))
    const answers = await Promise.all(
      pages.map((page) =>
        client.submit(page, PASSKEYS, {
          name: 'x',
          credential: makeAuthenticator(test.url).create(optionsOn(page, PASSKEYS)),
        }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409, 409])
    expect(await keysOf(alice)).toHaveLength(10)
  })

  it('needs a fresh sign-in', async () => {
    const client = await (await makePerson(test)).signIn()
    const page = await client.get(PASSKEYS)
    test.clock.advance(16 * MINUTE_MS)
    const credential = makeAuthenticator(test.url).create(optionsOn(page, PASSKEYS))
    expect((await client.submit(page, PASSKEYS, { name: 'x', credential })).status).toBe(409)
    expect((await client.get(PASSKEYS)).location).toMatch(/^\/sign-in\?/)
  })
})

describe('the list', () => {
  it('renames and removes, and asks before the removal', async () => {
    const alice = await makePerson(test)
    const { client } = await giveKey(test, alice)
    const { id } = (await keysOf(alice))[0]!
    const page = await client.get(PASSKEYS)
    expect(page.body).toContain(t.thisDevice)
    const renamed = await client.submit(page, `${PASSKEYS}/${id}/name`, { name: 'Old phone' })
    expect(renamed).toMatchObject({ status: 303, location: PASSKEYS })
    const list = await client.get(PASSKEYS)
    expect(list.body).toContain(t.renamed('Old phone'))
    const long = await client.submit(list, `${PASSKEYS}/${id}/name`, { name: 'x'.repeat(61) })
    expect(long.status).toBe(400)
    expect((await keysOf(alice))[0]!.name).toBe('Old phone')

    const asked = await client.submit(list, `${PASSKEYS}/${id}/remove`)
    expect([asked.status, asked.body.includes(t.sureTitle('Old phone'))]).toEqual([200, true])
    expect(await keysOf(alice)).toHaveLength(1)
    const removed = await client.submit(asked, `${PASSKEYS}/${id}/remove`)
    expect(removed).toMatchObject({ status: 303, location: PASSKEYS })
    expect((await client.get(PASSKEYS)).body).toContain('“Old phone” was removed')
    expect(await keysOf(alice)).toEqual([])
    expect(await actsOf(alice)).toEqual([
      'account.passkey_added',
      'account.passkey_renamed',
      'account.passkey_removed',
    ])
  })

  it('answers 404 for the passkey of another member', async () => {
    const alice = await makePerson(test)
    await giveKey(test, alice)
    const { id } = (await keysOf(alice))[0]!
    const { client } = await giveKey(test, await makePerson(test))
    const page = await client.get(PASSKEYS)
    const form = page.form(PASSKEYS)
    for (const path of [`${id}/name`, `${id}/remove`, '0/name', 'x/remove', `${'9'.repeat(30)}/remove`])
      expect((await client.post(`${PASSKEYS}/${path}`, { ...form, name: 'Mine', sure: '1' })).status).toBe(
        404,
      )
    expect((await keysOf(alice))[0]!.name).toBe('My key')
  })

  it('names the passkeys of a former address', async () => {
    const alice = await makePerson(test)
    const { client } = await giveKey(test, alice)
    const { id } = (await keysOf(alice))[0]!
    const row = await test.db
      .deleteFrom('passkeys')
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    const { id: _, ...moved } = row
    await test.db
      .insertInto('passkeys')
      .values({ ...moved, rp_id: 'old.example' })
      .execute()
    const page = await client.get(PASSKEYS)
    expect(page.body).toContain(t.elsewhere('old.example'))
    expect(JSON.parse(optionsOn(page, PASSKEYS)).excludeCredentials).toEqual([])
  })

  it('mails a member who has a confirmed address, also of a copied passkey', async () => {
    const mailed = await startTestApp({
      ...WITH_DOMAIN,
      SMTP_URL: 'smtp://127.0.0.1:9',
      SMTP_FROM: 'a@b.example',
    })
    const alice = await makePerson(mailed, { email: 'alice@example.org' })
    await mailed.db.updateTable('users').set({ email_verified: true }).where('id', '=', alice.id).execute()
    const { client, authenticator } = await giveKey(mailed, alice, { counter: 5 })
    const other = browser(mailed)
    const page = await other.get('/sign-in')
    const copied = authenticator.get(optionsOn(page, '/sign-in/passkey'), { counter: 3 })
    expect((await answer(other, page, '/sign-in/passkey', copied)).status).toBe(401)
    const list = await client.get(PASSKEYS)
    const { id } = await mailed.db.selectFrom('passkeys').select('id').executeTakeFirstOrThrow()
    await client.submit(list, `${PASSKEYS}/${id}/name`, { name: 'Phone' })
    await client.submit(list, `${PASSKEYS}/${id}/remove`, { sure: '1' })
    const mails = await rowsOf(mailed, 'outgoing_mails', {}, ['kind', 'recipient'])
    expect(mails).toEqual(
      ['passkey_added', 'passkey_counter', 'passkey_removed'].map((kind) => ({
        kind,
        recipient: 'alice@example.org',
      })),
    )
    await mailed.close()
  })
})

describe('the database', () => {
  it('refuses another key in a row, and a counter that does not grow', async () => {
    const alice = await makePerson(test)
    await giveKey(test, alice, { counter: 6 })
    const of = test.db.updateTable('passkeys').where('user_id', '=', alice.id)
    await expect(of.set({ public_key: Buffer.from([1]) }).execute()).rejects.toThrow('cannot become another')
    await expect(of.set({ is_backup_eligible: true }).execute()).rejects.toThrow('cannot become another')
    await expect(of.set({ sign_count: 7n }).execute()).rejects.toThrow('cannot become another')
    await expect(of.set({ sign_count: 0n }).execute()).rejects.toThrow('cannot become another')
    await of.set({ sign_count: 8n }).execute()
  })
})

describe('an address without a domain name', () => {
  it('has no passkeys, and says why on their page only', async () => {
    const bare = await startTestApp()
    const alice = await makePerson(bare)
    const client = await alice.signIn()
    expect((await client.get('/account/profile')).body).not.toContain('asskey')
    expect((await client.get('/sign-in')).body).not.toContain('asskey')
    const page = await client.get(PASSKEYS)
    expect([page.status, page.body.includes(t.noDomain)]).toEqual([200, true])
    expect(page.body).not.toContain('data-passkey')
    const handle = Buffer.alloc(32).toString('base64url')
    const sent = { ...page.form('/sign-out'), name: 'x', handle, credential: '{}' }
    expect((await client.post(PASSKEYS, sent)).status).toBe(400)
    await bare.close()
  })

  it('adds passkeys at the public address only', async () => {
    const two = await startTestApp({
      PUBLIC_URL: 'https://id.example.org',
      PAYMENT_PUBLIC_URL: 'https://pay.example.net',
      APP_SECRET: 'x'.repeat(40),
      TRUST_PROXY: '127.0.0.1',
    })
    const client = await (await makePerson(two)).signIn()
    const page = await client.get(PASSKEYS, { host: 'pay.example.net' })
    expect(page.body).toContain('href="https://id.example.org/account/passkeys"')
    await two.close()
  })
})
