/** Local accounts: sign-in and sign-out, throttled guesses, sessions, forms and redirects. spec/accounts 2.1. */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { createUser, groupsOf } from '../../src/accounts/people/users.ts'
import { hashPassword, verifyPassword } from '../../src/accounts/security/password.ts'
import { sha256 } from '../../src/platform/secrets.ts'
import { safeBack } from '../../src/web/back.ts'
import { untilBlocked } from '../harness/blocked.ts'
import { STALE_TOKEN } from '../harness/browser.ts'
import { changePerson, makePerson } from '../harness/cast.ts'
import { type Browser, browser, useTestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { rowsOf } from '../harness/rows.ts'
import { itCounts, statementsOf } from '../harness/statements.ts'

const test = await useTestApp({ TRUST_PROXY: '127.0.0.1' })

const sessions = () => test.db.selectFrom('sessions').selectAll().execute()
let addresses = 0
/** Tries to sign in, from a new address unless the test passes one. */
async function trySignIn(username: string, password: string, { client = browser(test), address = '' } = {}) {
  const from = address || `198.51.${Math.floor(addresses / 250)}.${++addresses % 250}`
  const page = await client.get('/sign-in')
  return client.post(
    '/sign-in',
    { ...page.form('/sign-in'), username, password },
    { 'x-forwarded-for': from },
  )
}

describe('signing in', () => {
  it('ignores the case of the name, and stores only the cookie’s hash', async () => {
    const alice = await makePerson(test)
    const client = browser(test)
    const answer = await trySignIn(alice.username.toUpperCase(), alice.password, { client })
    expect(answer).toMatchObject({ status: 303, location: '/' })
    const token = client.cookies.get('tessera_session')!
    const own = (await sessions()).filter((row) => row.user_id === alice.id)
    expect(own).toHaveLength(1)
    expect(own[0]!.token_hash).toEqual(sha256(token))
    expect(String(answer.headers['set-cookie'])).toMatch(
      /tessera_session=[^;]+; Max-Age=1209600; Path=\/; HttpOnly; SameSite=Lax/,
    )
    expect((await client.get('/')).body).toContain(alice.username)
  })

  it('answers a wrong password and an unknown name alike', async () => {
    const alice = await makePerson(test)
    const before = (await sessions()).length
    const wrong = await trySignIn(alice.username, 'not it at all')
    const unknown = await trySignIn('nobody-here', 'not it at all')
    for (const answer of [wrong, unknown]) {
      expect(answer.status).toBe(401)
      expect(answer.body).toContain(messages.en.signIn.wrong_credentials)
    }
    const neutral = (body: string) => body.replace(/value="[^"]*"/g, '')
    expect(neutral(wrong.body)).toBe(neutral(unknown.body))
    expect((await sessions()).length).toBe(before)
  })

  it('refuses banned and suspended members, whose open sessions stop', async () => {
    const banned = await makePerson(test, { username: 'mallory' })
    const suspended = await makePerson(test, { username: 'sid' })
    const [first, second] = await Promise.all([banned.signIn(), suspended.signIn()])
    await test.db.updateTable('users').set({ is_banned: true }).where('id', '=', banned.id).execute()
    const until = new Date(test.clock.now().getTime() + 60_000)
    await test.db.updateTable('users').set({ suspended_till: until }).where('id', '=', suspended.id).execute()
    for (const client of [first, second]) expect(await client.get('/account')).toMatchObject({ status: 303 })
    expect((await trySignIn(banned.username, banned.password)).body).toContain('suspended')
    expect((await trySignIn(suspended.username, suspended.password)).status).toBe(401)
    test.clock.advance(60_001)
    expect((await trySignIn(suspended.username, suspended.password)).status).toBe(303)
    expect((await trySignIn(banned.username, banned.password)).status).toBe(401)
  })

  it('gives a new session each time, so a planted cookie is worthless', async () => {
    const alice = await makePerson(test)
    const client = await alice.signIn()
    const first = client.cookies.get('tessera_session')
    await trySignIn(alice.username, alice.password, { client })
    expect(client.cookies.get('tessera_session')).not.toBe(first)
    const old = browser(test)
    old.cookies.set('tessera_session', first!)
    expect((await old.get('/account')).status).toBe(303)
    const fixed = browser(test)
    fixed.cookies.set('tessera_session', 'chosen-by-an-attacker')
    await trySignIn(alice.username, alice.password, { client: fixed })
    expect(fixed.cookies.get('tessera_session')).not.toBe('chosen-by-an-attacker')
  })

  it('is optional for a member who opened the page to switch accounts', async () => {
    const alice = await makePerson(test)
    const client = await alice.signIn()
    const { continueAs } = messages.en.signIn
    const linkAt = async (back: string) => {
      const { body } = await client.get(`/sign-in?return_to=${encodeURIComponent(back)}`)
      return body.includes(`>${continueAs(alice.username)}</a>`)
    }
    expect(await linkAt('/oauth2/auth?client_id=x&scope=openid')).toBe(true)
    // Such a request leads back to this page until there is a new sign-in.
    for (const demand of ['prompt=login', 'max_age=0', 'acr_values=mfa'])
      expect(await linkAt(`/oauth2/auth?client_id=x&${demand}`), demand).toBe(false)
  })

  it('ends after 14 days, and with sign-out', async () => {
    const alice = await makePerson(test)
    const client = await alice.signIn()
    const page = await client.get('/account')
    expect(page.status).toBe(200)
    const out = await client.submit(page, '/sign-out')
    expect(out).toMatchObject({ status: 303, location: '/' })
    expect((await client.get('/account')).status).toBe(303)
    expect((await sessions()).filter((row) => row.user_id === alice.id)).toEqual([])
    const lasting = await alice.signIn()
    test.clock.advance(14 * 86_400_000)
    expect((await lasting.get('/account')).status).toBe(303)
  })

  it('gives a visitor a cookie with a form, and with nothing else', async () => {
    const visitor = browser(test)
    expect((await visitor.get('/account')).status).toBe(303)
    expect((await visitor.post('/sign-in', {}, { accept: 'application/json' })).status).toBe(403)
    expect(visitor.cookies.size).toBe(0)
    await visitor.get('/sign-in')
    expect([...visitor.cookies.keys()]).toEqual(['tessera_visitor'])
    const given = visitor.cookies.get('tessera_visitor')
    const page = await visitor.get('/sign-in')
    expect([visitor.cookies.get('tessera_visitor'), page.headers['set-cookie']]).toEqual([given, undefined])
  })

  it('refuses a form without token, from another site, or without cookie', async () => {
    const alice = await makePerson(test)
    const fields = { username: alice.username, password: alice.password }
    const client = browser(test)
    const form = (await client.get('/sign-in')).form('/sign-in')
    const tries: [Browser, Record<string, string>, Record<string, string>?][] = [
      [client, fields],
      [client, { ...form, ...fields, form_token: STALE_TOKEN }],
      [client, { ...form, ...fields }, { 'sec-fetch-site': 'cross-site' }],
      [browser(test), { ...form, ...fields }],
    ]
    const before = (await sessions()).length
    for (const [from, body, headers] of tries) {
      expect((await from.post('/sign-in', body, headers)).status).toBe(403)
    }
    const response = await test.app.inject({
      method: 'POST',
      url: '/sign-in',
      headers: {
        origin: 'https://evil.example',
        cookie: `tessera_visitor=${client.cookies.get('tessera_visitor')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      payload: new URLSearchParams({ ...form, ...fields }).toString(),
    })
    expect(response.statusCode).toBe(403)
    expect((await sessions()).length).toBe(before)
  })
})

describe('signing in by the confirmed e-mail address', () => {
  const address = (name: string) => `${name}@mail.example`
  const confirm = (id: bigint, email: string, email_verified = true) =>
    changePerson(test, { id }, { email, email_verified })

  it('works as by the name, in any case', async () => {
    const alice = await makePerson(test)
    await confirm(alice.id, address(alice.username))
    for (const typed of [address(alice.username), ` ${address(alice.username).toUpperCase()} `]) {
      const client = browser(test)
      expect((await trySignIn(typed, alice.password, { client })).status).toBe(303)
      expect((await client.get('/')).body).toContain(alice.username)
    }
  })

  it('shares the count of the name, and refuses the eleventh guess', async () => {
    const alice = await makePerson(test)
    await confirm(alice.id, address(alice.username))
    const guess = (i: number) => trySignIn(i % 2 === 0 ? alice.username : address(alice.username), 'a guess')
    const guesses = await Promise.all(Array.from({ length: 16 }, (_, i) => guess(i)))
    expect(guesses.filter(({ status }) => status === 401)).toHaveLength(10)
    expect((await trySignIn(address(alice.username), alice.password)).status).toBe(429)
    expect((await trySignIn(alice.username, alice.password)).status).toBe(429)
  })

  it('refuses an unconfirmed address, one of several accounts, and an unknown one alike', async () => {
    const [alice, bob, carol] = await Promise.all([makePerson(test), makePerson(test), makePerson(test)])
    await confirm(alice.id, address('unconfirmed'), false)
    await Promise.all([bob, carol].map(({ id }) => confirm(id, address('shared'))))
    const neutral = (body: string) => body.replace(/value="[^"]*"/g, '')
    const answers = await Promise.all(
      ['unconfirmed', 'shared', 'unknown'].map((name) => trySignIn(address(name), alice.password)),
    )
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401])
    expect(new Set(answers.map(({ body }) => neutral(body))).size).toBe(1)
  })

  it('lets nobody take a name by an address that reads the same', async () => {
    const alice = await makePerson(test)
    const mallory = await makePerson(test, { username: 'mallory' })
    await confirm(mallory.id, alice.username)
    const client = browser(test)
    await trySignIn(alice.username, alice.password, { client })
    expect((await client.get('/')).body).toContain(alice.username)
  })

  itCounts('costs the same for a name, an address and neither', async () => {
    const alice = await makePerson(test)
    await confirm(alice.id, address(alice.username))
    const costs: string[][] = []
    for (const name of [alice.username, address(alice.username), 'no-one', address('no-one')]) {
      const [, statements] = await statementsOf(() => trySignIn(name, 'not it at all'))
      costs.push(statements)
    }
    expect(costs[0]!.length).toBeGreaterThan(1)
    for (const cost of costs) expect(cost).toEqual(costs[0])
  })
})

describe('throttling', () => {
  it('refuses an account’s eleventh guess, also at once, until time passes', async () => {
    const alice = await makePerson(test)
    const guesses = await Promise.all(Array.from({ length: 25 }, () => trySignIn(alice.username, 'a guess')))
    expect(guesses.filter((answer) => answer.status === 401)).toHaveLength(10)
    expect(guesses.filter((answer) => answer.status === 429)).toHaveLength(15)
    const blocked = await trySignIn(alice.username, alice.password)
    expect(blocked.status).toBe(429)
    expect(blocked.headers['retry-after']).toBe('30')
    // No button leads on before then.
    expect(blocked.body).not.toContain('class="primary big block"')
    expect(guesses.find(({ status }) => status === 401)?.body).toContain('class="primary big block"')
    test.clock.advance(30_000)
    expect((await trySignIn(alice.username, 'one more guess')).status).toBe(401)
    expect((await trySignIn(alice.username, alice.password)).headers['retry-after']).toBe('60')
    test.clock.advance(60_000)
    expect((await trySignIn(alice.username, alice.password)).status).toBe(303)
    expect((await trySignIn(alice.username, 'a typo')).status).toBe(401)
  })

  it('refuses guesses from one address at many accounts, and nobody else’s', async () => {
    const address = '203.0.113.9'
    const alice = await makePerson(test)
    // Members, because a guess at an unknown name takes a whole hash.
    const victims = await Promise.all(Array.from({ length: 30 }, () => makePerson(test)))
    for (const { username } of victims)
      expect((await trySignIn(username, 'a guess', { address })).status).toBe(401)
    expect((await trySignIn(alice.username, alice.password, { address })).status).toBe(429)
    expect((await trySignIn(alice.username, alice.password)).status).toBe(303)
    test.clock.advance(15 * 60_000)
    expect((await trySignIn(alice.username, alice.password, { address })).status).toBe(303)
  })
})

describe('passwords', () => {
  it('are argon2id, salted, and equal however the keyboard composed them', async () => {
    const hash = await hashPassword('pässwörd-123')
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=47104,t=1,p=1\$/)
    expect(await hashPassword('pässwörd-123')).not.toBe(hash)
    expect(await verifyPassword('pässwörd-123'.normalize('NFD'), hash)).toBe(true)
    expect(await verifyPassword('passwörd-123', hash)).toBe(false)
    expect(await verifyPassword('', null)).toBe(false)
  })

  it('match a hash made by another implementation', async () => {
    // Made by the argon2 reference command line: `echo -n "password" | argon2 somesalt -id -t 2 -m 16 -p 1 -l 32`
    const reference = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
    expect(await verifyPassword('password', reference)).toBe(true)
  })

  it('change with the current one, and end every other session', async () => {
    const alice = await makePerson(test)
    const [client, elsewhere] = await Promise.all([alice.signIn(), alice.signIn()])
    const page = await client.get('/account/password')
    expect(page.body).toContain(`${messages.en.password.ends} <a href="/account/applications">`)
    const change = (fields: Record<string, string>) => client.submit(page, '/account/password', fields)
    expect((await change({ current_password: 'wrong', new_password: 'a new password' })).status).toBe(400)
    expect((await change({ current_password: alice.password, new_password: 'short' })).status).toBe(400)
    expect((await change({ current_password: alice.password, new_password: alice.password })).status).toBe(
      400,
    )
    expect((await elsewhere.get('/account')).status).toBe(200)
    expect((await change({ current_password: alice.password, new_password: 'a new password' })).status).toBe(
      303,
    )
    expect((await client.get('/account')).status).toBe(200)
    expect((await elsewhere.get('/account')).status).toBe(303)
    expect((await trySignIn(alice.username, alice.password)).status).toBe(401)
    expect((await trySignIn(alice.username, 'a new password')).status).toBe(303)
  })

  it('given once must be changed before anything else', async () => {
    const id = await createUser(test.db, {
      username: 'fresh',
      password_hash: await hashPassword('a one-time word'),
      must_change_password: true,
    })
    const client = browser(test)
    await trySignIn('fresh', 'a one-time word', { client })
    expect(await client.get('/account')).toMatchObject({
      status: 303,
      location: '/account/password?return_to=%2Faccount',
    })
    expect((await client.get('/')).location).toBe('/account/password?return_to=%2F')
    const page = await client.get('/account/password?return_to=%2Faccount')
    expect(page.body).toContain(messages.en.password.once)
    // It was just typed, so it is not asked for. It cannot be chosen again.
    expect(page.body).not.toContain('name="current_password"')
    const same = await client.submit(page, '/account/password', { new_password: 'a one-time word' })
    expect(same.body).toContain(messages.en.password.same_password)
    const changed = await client.submit(page, '/account/password', { new_password: 'my own password' })
    expect(changed).toMatchObject({ status: 303, location: '/account' })
    expect((await client.get('/account')).status).toBe(200)
    const row = await test.db
      .selectFrom('users')
      .where('id', '=', id)
      .select('must_change_password')
      .executeTakeFirst()
    expect(row?.must_change_password).toBe(false)
    const own = await client.get('/account/password')
    const again = await client.submit(own, '/account/password', { new_password: 'chosen by a thief' })
    expect(again.body).toContain(messages.en.password.wrong_password)
  })

  it('given once is asked for again when the sign-in is no longer recent', async () => {
    const person = await makePerson(test, { must_change_password: true })
    const client = await person.signIn()
    const page = await client.get('/account/password')
    test.clock.advance(10 * 60_000 + 1)
    const late = await client.submit(page, '/account/password', { new_password: 'my own password' })
    expect(late.status).toBe(400)
    const fields = { current_password: person.password, new_password: 'my own password' }
    expect(late.body).toContain('name="current_password"')
    expect((await client.submit(late, '/account/password', fields)).status).toBe(303)
  })

  it('given once is replaced by one of two browsers at once', async () => {
    const person = await makePerson(test, { must_change_password: true })
    const clients = [await person.signIn(), await person.signIn()]
    const pages = await Promise.all(clients.map((client) => client.get('/account/password')))
    const chosen = ['chosen by the one', 'chosen by the other']
    // Both read that the password is one-time before either replaces it.
    const sent = await test.db.transaction().execute(async (tx) => {
      await sql`select from users where id = ${person.id} for no key update`.execute(tx)
      const sent = clients.map((client, i) =>
        client.submit(pages[i]!, '/account/password', { new_password: chosen[i]! }),
      )
      await untilBlocked(tx, 2)
      return sent
    })
    const statuses = (await Promise.all(sent)).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([303, 409])
    const [own, others] = statuses[0] === 303 ? chosen : chosen.toReversed()
    expect((await trySignIn(person.username, own!)).status).toBe(303)
    expect((await trySignIn(person.username, others!)).status).toBe(401)
    expect((await clients[statuses.indexOf(303)]!.get('/account')).status).toBe(200)
    expect(
      await rowsOf(test, 'audit_log', { action: 'account.password.changed', subject: `user:${person.id}` }),
    ).toHaveLength(1)
  })
})

describe('usernames', () => {
  it('are unique in any case', async () => {
    const password_hash = await hashPassword('does not matter')
    await createUser(test.db, { username: 'Zoë', password_hash })
    await expect(createUser(test.db, { username: 'zoË', password_hash })).rejects.toMatchObject({
      code: 'conflict',
    })
  })
})

describe('groups', () => {
  it('are cumulative trust levels, then roles, then custom groups', () => {
    expect(
      groupsOf({ trust_level: 2, is_admin: true, is_moderator: true, custom_groups: ['developers'] }),
    ).toEqual(['trust_level_0', 'trust_level_1', 'trust_level_2', 'admins', 'moderators', 'developers'])
    expect(groupsOf({ trust_level: 0, is_admin: false, is_moderator: false, custom_groups: [] })).toEqual([
      'trust_level_0',
    ])
  })
})

describe('return_to', () => {
  it.each([
    ['/account', '/account'],
    ['/oauth2/auth?a=1&b=%2F', '/oauth2/auth?a=1&b=%2F'],
    ['/a/../account', '/account'],
    ['//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['\\\\evil.example', '/'],
    ['/.//evil.example', '/'],
    ['/..//evil.example', '/'],
    ['/%09/evil.example', '/%09/evil.example'],
    ['/\t/evil.example', '/'],
    ['https://evil.example/', '/'],
    ['javascript:alert(1)', '/'],
    ['', '/'],
    [undefined, '/'],
    [['/a', '/b'], '/'],
  ])('%j leads to %s', (given, expected) => {
    expect(safeBack(given)).toBe(expected)
  })

  it('is where sign-in leads, if it is ours', async () => {
    const alice = await makePerson(test)
    for (const [wish, expected] of [
      ['/account', '/account'],
      ['//evil.example', '/'],
      ['https://evil.example', '/'],
    ]) {
      const client = browser(test)
      const page = await client.get(`/sign-in?return_to=${encodeURIComponent(wish!)}`)
      const answer = await client.submit(page, '/sign-in', {
        username: alice.username,
        password: alice.password,
      })
      expect(answer.location).toBe(expected)
    }
  })
})
