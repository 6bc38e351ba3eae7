/**
 * The second factor: RFC 6238, its set-up, the second page of the sign-in, recovery codes, and a reset by an
 * administrator. spec/accounts 2.4.
 */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { resetSecondFactor } from '../../src/accounts/security/second-factor.ts'
import { base32, matchingStep, otpauthUri, stepAt, totpCode } from '../../src/accounts/security/totp.ts'
import { buildApp } from '../../src/app.ts'
import { openDatabase } from '../../src/database/connection.ts'
import { untilBlocked } from '../harness/blocked.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { sendSurely } from '../harness/confirming.ts'
import {
  type Browser,
  browser,
  type Page,
  startTestApp,
  type TestApp,
  useTestApp,
} from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { readQr } from '../harness/qr.ts'
import { rowsOf } from '../harness/rows.ts'

const t = messages.en

const PAGE = '/account/second-factor'
const SECOND_STEP = '/sign-in/second-factor'
const STEP_MS = 30_000

const test = await useTestApp()

const secretOn = (page: Page) => /<code>([A-Z2-7 ]+)<\/code>/.exec(page.body)![1]!.replaceAll(' ', '')
const codesOn = (page: Page) =>
  [...page.body.matchAll(/<li><code>([^<]+)<\/code>/g)].map((match) => match[1]!)
const codeNow = (secret: string, steps = 0) => totpCode(secret, stepAt(test.clock.now()) + BigInt(steps))
const sessionsOf = (person: Person) =>
  test.db.selectFrom('sessions').where('user_id', '=', person.id).selectAll().execute()
const factorOf = (person: Person) =>
  test.db.selectFrom('second_factors').where('user_id', '=', person.id).selectAll().executeTakeFirst()
const auditOf = async (person: Person) =>
  (
    await test.db
      .selectFrom('audit_log')
      .where('subject', '=', `user:${person.id}`)
      .where('action', 'like', 'account.%')
      // Each sign-in of a test is from a new browser.
      .where('action', '<>', 'account.sign_in.new_browser')
      .select(['action', 'actor_id'])
      .orderBy('id')
      .execute()
  ).map(({ action, actor_id }) => `${action} by ${actor_id}`)

type Protected = { person: Person; client: Browser; secret: string; codes: string[] }

/** Creates a member with a second factor. The clock is then at the next code. */
async function makeProtected(values: Parameters<typeof makePerson>[1] = {}): Promise<Protected> {
  const person = await makePerson(test, values)
  const client = await person.signIn()
  const page = await client.get(PAGE)
  const secret = secretOn(page)
  const on = await client.submit(page, PAGE, { code: codeNow(secret) })
  if (on.status !== 200) throw new Error(`The second factor was not turned on: ${on.status}`)
  test.clock.advance(STEP_MS)
  return { person, client, secret, codes: codesOn(on) }
}

/** Returns a browser that has sent the right password and shows the second page. */
async function givePassword(
  { person }: Protected,
  returnTo = '/',
  app: Pick<TestApp, 'app'> = test,
): Promise<Browser> {
  const client = browser(app)
  const page = await client.get(`/sign-in?return_to=${encodeURIComponent(returnTo)}`)
  const { username, password } = person
  expect(await client.submit(page, '/sign-in', { username, password })).toMatchObject({
    status: 303,
    location: returnTo === '/' ? SECOND_STEP : `${SECOND_STEP}?return_to=${encodeURIComponent(returnTo)}`,
  })
  return client
}

async function giveCode(client: Browser, fields: Record<string, string>): Promise<Page> {
  return client.submit(await client.get(SECOND_STEP), SECOND_STEP, fields)
}

describe('one-time passwords', () => {
  const secret = base32(Buffer.from('12345678901234567890'))

  it.each([
    // RFC 6238 appendix B, SHA-1. Our 6 digits are the last of its 8.
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ])('at second %i are those of RFC 6238', (seconds, code) => {
    expect(totpCode(secret, stepAt(new Date(seconds * 1000)))).toBe(code.slice(-6))
  })

  it('are written in the base32 of RFC 4648', () => {
    expect(base32(Buffer.from('fooba'))).toBe('MZXW6YTB')
    expect(secret).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ')
  })

  it('are accepted one step early or late, and no further', () => {
    const now = new Date('2026-01-01T00:00:10Z')
    const offsets = [-2, -1, 0, 1, 2].filter((offset) => {
      const code = totpCode(secret, stepAt(now) + BigInt(offset))
      return matchingStep(secret, code, now, 0n) !== undefined
    })
    expect(offsets).toEqual([-1, 0, 1])
    expect(matchingStep(secret, totpCode(secret, stepAt(now)), now, stepAt(now))).toBeUndefined()
  })

  it('are described to apps by a key URI, whatever the name holds', () => {
    expect(otpauthUri('Tessera', 'zoë:&?', 'ABC')).toBe(
      'otpauth://totp/Tessera:zo%C3%AB%3A%26%3F?secret=ABC&issuer=Tessera&algorithm=SHA1&digits=6&period=30',
    )
  })
})

describe('setting up', () => {
  it('shows the text as QR code, and writes nothing before a code', async () => {
    const alice = await makePerson(test)
    const client = await alice.signIn()
    const page = await client.get(PAGE)
    expect(page.status).toBe(200)
    expect(readQr(page.body)).toBe(otpauthUri('Tessera', alice.username, secretOn(page)))
    expect(page.body).not.toMatch(/style="/)
    expect(await factorOf(alice)).toBeUndefined()
    expect(secretOn(await client.get(PAGE))).not.toBe(secretOn(page))
  })

  it('takes a right code, shows recovery codes once, ends older sessions', async () => {
    const alice = await makePerson(test)
    const [client, elsewhere] = [await alice.signIn(), await alice.signIn()]
    const page = await client.get(PAGE)
    const secret = secretOn(page)
    const wrong = await client.submit(page, PAGE, { code: codeNow(secret, 5) })
    expect(wrong.status).toBe(400)
    expect(secretOn(wrong)).toBe(secret)
    expect(await factorOf(alice)).toBeUndefined()
    expect((await elsewhere.get('/account')).status).toBe(200)

    const on = await client.submit(wrong, PAGE, { code: codeNow(secret).replace(/.../, '$& ') })
    expect(on.status).toBe(200)
    expect(new Set(codesOn(on)).size).toBe(10)
    const [, file = ''] = /download="recovery-codes.txt" href="data:[^,]*,([^"]*)"/.exec(on.body) ?? []
    for (const code of codesOn(on)) expect(decodeURIComponent(file)).toContain(code)
    expect(codesOn(on)[0]).toMatch(/^[a-z0-9]{4}(-[a-z0-9]{4}){3}$/)
    const factor = await factorOf(alice)
    expect(factor!.secret_encrypted!.toString('latin1')).not.toContain(secret)
    const rows = await rowsOf(test, 'recovery_codes', { user_id: alice.id })
    expect(rows.map((row) => row.code_hash.length)).toEqual(Array(10).fill(32))
    expect((await elsewhere.get('/account')).status).toBe(303)
    expect((await sessionsOf(alice)).map((row) => row.amr)).toEqual([['pwd', 'otp']])
    expect((await client.get('/account/profile')).body).toContain(t.security.secondFactorOn)
    const managed = await client.get(PAGE)
    expect(managed.body).toContain(t.security.manage.codesLeft(10))
    expect(codesOn(managed)).toEqual([])
    expect(await auditOf(alice)).toEqual([`account.second_factor.on by ${alice.id}`])
  })

  it('refuses another session’s secret, a doctored one, and a second factor twice', async () => {
    const [alice, mallory] = [await makePerson(test), await makePerson(test, { username: 'mallory' })]
    const [client, foreign] = [await alice.signIn(), await mallory.signIn()]
    const page = await client.get(PAGE)
    const theirs = await foreign.get(PAGE)
    for (const setup of [theirs.form(PAGE).setup!, 'AAAA', '']) {
      const code = codeNow(secretOn(theirs))
      expect((await client.submit(page, PAGE, { setup, code })).status).toBe(403)
    }
    expect(await factorOf(alice)).toBeUndefined()
    const both = await Promise.all(
      [0, 1].map(() => client.submit(page, PAGE, { code: codeNow(secretOn(page)) })),
    )
    expect(both.map((answer) => answer.status).sort()).toEqual([200, 409])
    expect(await auditOf(alice)).toHaveLength(1)
  })

  it('is not for members of the forum', async () => {
    const alice = await makePerson(test)
    const client = await alice.signIn()
    const forum = { password_hash: null, forum_id: 4_711n }
    await test.db.updateTable('users').set(forum).where('id', '=', alice.id).execute()
    expect((await client.get(PAGE)).status).toBe(403)
    expect((await client.get('/account/profile')).body).toContain(t.security.atForum)
  })
})

describe('signing in with a second factor', () => {
  it('opens nothing before the code, then leads on and records the method', async () => {
    const alice = await makeProtected()
    const client = await givePassword(alice, '/apps')
    expect(client.cookies.has('tessera_session')).toBe(false)
    expect((await client.get('/account')).status).toBe(303)
    const page = await client.get(SECOND_STEP)
    expect(page.status).toBe(200)
    expect(page.headers['cache-control']).toBe('no-store')
    const answer = await client.submit(page, SECOND_STEP, { code: codeNow(alice.secret) })
    expect(answer).toMatchObject({ status: 303, location: '/apps' })
    expect((await client.get('/account')).status).toBe(200)
    expect((await sessionsOf(alice.person)).at(-1)!.amr).toEqual(['pwd', 'otp'])
    expect(client.cookies.has('tessera_sign_in')).toBe(false)
    expect(await test.db.selectFrom('pending_sign_ins').selectAll().execute()).toEqual([])
  })

  it('stores only its cookie’s hash; other browsers and time end it', async () => {
    const alice = await makeProtected()
    const client = await givePassword(alice)
    const [row] = await test.db.selectFrom('pending_sign_ins').selectAll().execute()
    expect(row!.token_hash.toString('base64url')).not.toBe(client.cookies.get('tessera_sign_in'))
    expect(await browser(test).get(SECOND_STEP)).toMatchObject({ status: 303, location: '/sign-in' })
    const page = await client.get(SECOND_STEP)
    test.clock.advance(10 * 60_000)
    const late = await client.submit(page, SECOND_STEP, { code: codeNow(alice.secret) })
    expect(late).toMatchObject({ status: 303, location: '/sign-in' })
    expect(client.cookies.has('tessera_session')).toBe(false)
    await test.db.deleteFrom('pending_sign_ins').execute()
  })

  it('refuses wrong, foreign and malformed codes, and leaves no session', async () => {
    const [alice, bob] = [await makeProtected(), await makeProtected({ username: 'bob' })]
    const before = (await sessionsOf(alice.person)).length
    const client = await givePassword(alice)
    for (const fields of [
      { code: codeNow(bob.secret) },
      { code: codeNow(alice.secret, 3) },
      { code: '12345' },
      { code: '' },
      { recovery_code: bob.codes[0]! },
      {},
    ]) {
      const answer = await giveCode(client, fields as Record<string, string>)
      expect(answer.status, JSON.stringify(fields)).toBe(401)
    }
    expect((await sessionsOf(alice.person)).length).toBe(before)
    expect((await giveCode(client, { code: codeNow(alice.secret) })).status).toBe(303)
  })

  it('accepts each code once, also by two processes at once', async () => {
    const alice = await makeProtected()
    const db = openDatabase(test.deps.config.DATABASE_URL!, { max: 4, onBroken: () => {} })
    const other = { app: await buildApp({ ...test.deps, db }) }
    const clients = [await givePassword(alice), await givePassword(alice, '/', other)]
    const pages = await Promise.all(clients.map((client) => client.get(SECOND_STEP)))
    const code = codeNow(alice.secret)
    // Both read that the code is unused before either uses it.
    const asked = await test.db.transaction().execute(async (tx) => {
      await sql`select from second_factors where user_id = ${alice.person.id} for update`.execute(tx)
      const sent = clients.map((client, i) => client.submit(pages[i]!, SECOND_STEP, { code }))
      await untilBlocked(tx, 2)
      return sent
    })
    const answers = await Promise.all(asked)
    expect(answers.map((answer) => answer.status).sort()).toEqual([303, 401])
    const loser = clients[answers.findIndex((answer) => answer.status === 401)]!
    expect((await giveCode(loser, { code })).status).toBe(401)
    expect((await giveCode(loser, { code: codeNow(alice.secret, -1) })).status).toBe(401)
    test.clock.advance(STEP_MS)
    expect((await giveCode(loser, { code: codeNow(alice.secret) })).status).toBe(303)
    await other.app.close()
    await db.destroy()
  })

  it('counts wrong codes with wrong passwords, and the password resets nothing', async () => {
    const alice = await makeProtected()
    for (let i = 0; i < 10; i += 1) {
      const client = await givePassword(alice)
      expect((await giveCode(client, { code: '000000' })).status).toBe(401)
    }
    const client = browser(test)
    const page = await client.get('/sign-in')
    const { username, password } = alice.person
    const blocked = await client.submit(page, '/sign-in', { username, password })
    expect(blocked.status).toBe(429)
    expect(blocked.headers['retry-after']).toBe('30')
    test.clock.advance(STEP_MS)
    const again = await givePassword(alice)
    expect((await giveCode(again, { code: codeNow(alice.secret) })).status).toBe(303)
  })

  it('is over when the member is barred or the password changed meanwhile', async () => {
    const alice = await makeProtected()
    const client = await givePassword(alice)
    const page = await client.get(SECOND_STEP)
    const bar = (is_banned: boolean) =>
      test.db.updateTable('users').set({ is_banned }).where('id', '=', alice.person.id).execute()
    await bar(true)
    expect((await client.get(SECOND_STEP)).location).toBe('/sign-in')
    await bar(false)
    const passwordPage = await alice.client.get('/account/password')
    await alice.client.submit(passwordPage, '/account/password', {
      current_password: alice.person.password,
      new_password: 'another password',
    })
    const late = await client.submit(page, SECOND_STEP, { code: codeNow(alice.secret) })
    expect(late).toMatchObject({ status: 303, location: '/sign-in' })
    expect(client.cookies.has('tessera_session')).toBe(false)
  })
})

describe('recovery codes', () => {
  it('let in once each, in any writing, and are counted down', async () => {
    const alice = await makeProtected()
    const [first, second] = [await givePassword(alice), await givePassword(alice)]
    const recovery_code = alice.codes[0]!.toUpperCase().replaceAll('-', ' ')
    const answers = await Promise.all([first, second].map((client) => giveCode(client, { recovery_code })))
    expect(answers.map((answer) => answer.status).sort()).toEqual([303, 401])
    const winner = answers[0]!.status === 303 ? first : second
    expect((await sessionsOf(alice.person)).at(-1)!.amr).toEqual(['pwd', 'otp'])
    expect((await winner.get(PAGE)).body).toContain(t.security.manage.codesLeft(9))
    expect(await auditOf(alice.person)).toContain(`account.recovery_code.used by ${alice.person.id}`)
  })

  it('can be remade: the old ones are worth nothing then', async () => {
    const alice = await makeProtected()
    const page = await alice.client.get(PAGE)
    const { asked, answer: remade } = await sendSurely(alice.client, page, `${PAGE}/recovery-codes`)
    expect(asked.body).toContain(t.security.manage.codesThatEnd)
    expect(remade.status).toBe(200)
    expect(codesOn(remade)).toHaveLength(10)
    const client = await givePassword(alice)
    expect((await giveCode(client, { recovery_code: alice.codes[0]! })).status).toBe(401)
    expect((await giveCode(client, { recovery_code: codesOn(remade)[0]! })).status).toBe(303)
  })
})

describe('turning off', () => {
  it('takes the recovery codes along, and needs a form of the member', async () => {
    const alice = await makeProtected()
    const page = await alice.client.get(PAGE)
    expect((await alice.client.post(`${PAGE}/off`, {})).status).toBe(403)
    expect(await factorOf(alice.person)).toBeDefined()
    const { asked, answer: off } = await sendSurely(alice.client, page, `${PAGE}/off`)
    expect(asked.body).toContain('<dd>10</dd>')
    expect((await alice.client.get('/account/profile')).body).toContain(t.security.secondFactorGone)
    expect(off).toMatchObject({ status: 303, location: '/account/profile' })
    expect(await factorOf(alice.person)).toBeUndefined()
    const codes = test.db.selectFrom('recovery_codes').where('user_id', '=', alice.person.id).selectAll()
    expect(await codes.execute()).toEqual([])
    expect((await alice.client.submit(page, `${PAGE}/off`)).status).toBe(409)
    expect((await alice.client.submit(page, `${PAGE}/recovery-codes`)).status).toBe(409)
    expect(await alice.person.signIn()).toBeDefined()
    expect((await auditOf(alice.person)).at(-1)).toBe(`account.second_factor.off by ${alice.person.id}`)
  })

  it('is an administrator’s act for a locked-out member, once, on record', async () => {
    const alice = await makeProtected()
    const admin = await makePerson(test, { username: 'admin', is_admin: true })
    const reset = { user_id: alice.person.id, admin_id: admin.id, reason: 'phone lost', ip: null }
    await resetSecondFactor(test.deps, reset)
    expect(await alice.person.signIn()).toBeDefined()
    await expect(resetSecondFactor(test.deps, reset)).rejects.toMatchObject({ code: 'conflict' })
    expect((await auditOf(alice.person)).slice(1)).toEqual([`account.second_factor.reset by ${admin.id}`])
  })
})

describe('administrators', () => {
  it('set one up first where the site demands it, and return', async () => {
    const strict = await startTestApp()
    const value = { name: 'admins_need_second_factor', value: 'on' }
    await strict.db.insertInto('site_settings').values(value).execute()
    const admin = await makePerson(strict, { username: 'admin', is_admin: true })
    const client = await admin.signIn()
    const bounced = await client.get('/admin')
    expect(bounced).toMatchObject({ status: 303, location: `${PAGE}?return_to=%2Fadmin` })
    const account = await client.get('/account')
    const posted = await client.post('/admin/payment-applications/pay_x/review', account.form('/sign-out'))
    expect(posted.location).toBe(`${PAGE}?return_to=%2Fadmin`)
    const page = await client.get(bounced.location!)
    expect(page.body).toContain(t.security.setUp.required)
    const code = totpCode(secretOn(page), stepAt(strict.clock.now()))
    const on = await client.submit(page, PAGE, { code })
    expect(on.body).toContain('href="/admin"')
    expect((await client.get('/admin')).status).toBe(200)
    expect(await (await (await makePerson(strict)).signIn()).get('/account')).toMatchObject({ status: 200 })
    await strict.close()
  })
})
