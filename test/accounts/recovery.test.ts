/**
 * A forgotten password: the answer reveals nothing, the link works once, and the new password ends sessions.
 * spec/accounts 4.2.
 */
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sendDueMail } from '../../src/accounts/people/email.ts'
import { answerRecoveryRequests } from '../../src/accounts/security/recovery.ts'
import { openDatabase } from '../../src/database/connection.ts'
import { makePerson, type Person, signIn } from '../harness/cast.ts'
import { browser, type Page, setSetting, type TestApp } from '../harness/harness.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { inOneProcess, STATEMENTS } from '../harness/one-process.ts'
import type { SmtpServer } from '../harness/smtp-server.ts'
import { type MailedApp, startMailedApp, subjectOf } from './mailed-app.ts'

const PAGE = '/account/recover'
const NEW_PASSWORD = '/account/recover/password'
const MINUTE_MS = 60_000

const itCounts = it.skipIf(inOneProcess(STATEMENTS))

let mailed: MailedApp
let test: TestApp
let smtp: SmtpServer
let count = 0
beforeAll(async () => {
  mailed = await startMailedApp()
  ;({ test, smtp } = mailed)
})
afterAll(() => mailed.close())

type Member = Person & { email: string }

async function makeMember(values: Parameters<typeof makePerson>[1] = {}, verified = true): Promise<Member> {
  const email = `Forgetful${++count}@mail.test`
  const person = await makePerson(test, { email, ...values })
  await test.db.updateTable('users').set({ email_verified: verified }).where('id', '=', person.id).execute()
  return { ...person, email: values.email ?? email }
}

/** Requests a new password as a visitor, from a new address unless the test passes one. */
async function ask(name: string, address = `203.0.113.${++count % 250}`, language = 'en'): Promise<Page> {
  const visitor = browser(test)
  const headers = { 'x-forwarded-for': address, 'accept-language': language }
  const page = await visitor.get(PAGE, headers)
  return visitor.post(PAGE, { ...page.form(PAGE), name }, headers)
}

/** Runs the worker's jobs, and returns the links that reached an address. */
async function linksTo(email: string): Promise<string[]> {
  await answerRecoveryRequests(test.deps)
  await sendDueMail(test.deps)
  return smtp.take(email).flatMap(({ text }) => linkIn(text) ?? [])
}

const linkIn = (text: string): string | undefined =>
  /http:\/\/127\.0\.0\.1:3000(\/account\/recover\/password\?token=\S+)/.exec(text)?.[1]

async function linkFor(member: Member): Promise<string> {
  await ask(member.username)
  const [link] = await linksTo(member.email)
  return link!
}

async function setPassword(link: string, new_password: string, client = browser(test)): Promise<Page> {
  return client.submit(await client.get(link), NEW_PASSWORD, { new_password })
}

const hashOf = async ({ id }: Person) =>
  (await test.db.selectFrom('users').where('id', '=', id).select('password_hash').executeTakeFirstOrThrow())
    .password_hash

describe('asking', () => {
  it('is answered alike for every name and leaves the same behind', async () => {
    const [known, unconfirmed] = [await makeMember(), await makeMember({}, false)]
    const rows = async () => {
      const { rows } = await sql<{ n: string }>`
        select concat_ws(' ', (select count(*) from recovery_requests), (select count(*) from account_links),
          (select count(*) from outgoing_mails), (select count(*) from audit_log)) as n`.execute(test.db)
      return rows[0]!.n.split(' ').map(Number)
    }
    // The page repeats the name that was typed.
    const neutral = (page: Page) => page.body.replace(/value="[^"]*"|<bdi>[^<]*/g, '')
    const answers: Page[] = []
    for (const name of [
      known.username,
      known.email,
      unconfirmed.username,
      'nobody-here',
      'nobody@mail.test',
    ]) {
      const before = await rows()
      answers.push(await ask(name))
      expect(await rows()).toEqual([before[0]! + 1, ...before.slice(1)])
    }
    for (const answer of answers) {
      expect(answer.status).toBe(200)
      expect(neutral(answer)).toBe(neutral(answers[0]!))
      expect(Object.keys(answer.headers)).toEqual(Object.keys(answers[0]!.headers))
    }
    expect(await linksTo(known.email)).toHaveLength(2)
    expect(await linksTo(unconfirmed.email)).toEqual([])
    expect((await rows())[0]).toBe(0)
  })

  itCounts('runs the same statements whoever is named', async () => {
    const known = await makeMember()
    const statements = async (name: string) => {
      const db = test.deps.db
      const seen: string[] = []
      const executor = db.getExecutor()
      const original = executor.executeQuery.bind(executor)
      Object.assign(executor, {
        executeQuery: (query: { sql: string }, ...rest: []) => {
          // The service reads settings again every two seconds, independently of the request.
          if (!query.sql.includes('site_settings')) seen.push(query.sql)
          return original(query as never, ...rest)
        },
      })
      await ask(name)
      Object.assign(executor, { executeQuery: original })
      return seen
    }
    const own = await statements(known.username)
    expect(own.length).toBeGreaterThan(0)
    expect(await statements('nobody-at-all')).toEqual(own)
    expect(own.join()).not.toMatch(/"users"/)
    await linksTo(known.email)
  })

  it('writes in the language of the member, else of who asked', async () => {
    const member = await makeMember()
    await ask(member.email.toUpperCase(), undefined, 'zh-CN')
    await answerRecoveryRequests(test.deps)
    await sendDueMail(test.deps)
    const [asked, ...more] = smtp.take(member.email)
    expect(more).toEqual([])
    expect(asked!.subject).toBe(subjectOf(messages['zh-CN'].mails.recovery, 'zh-CN'))
    const visitor = browser(test)
    const headers = { 'accept-language': 'zh-CN' }
    const page = await visitor.get(linkIn(asked!.text)!, headers)
    const typed = { ...page.form(NEW_PASSWORD), new_password: 'remember this one' }
    await visitor.post(NEW_PASSWORD, typed, headers)
    await sendDueMail(test.deps)
    expect(smtp.take(member.email).map((mail) => mail.subject)).toEqual([
      subjectOf(messages['zh-CN'].mails.notices['password.recovered'], 'zh-CN'),
    ])
    await signIn(test, member.username, 'remember this one')
    await sendDueMail(test.deps)
    smtp.take(member.email)
    await ask(member.email, undefined, 'zh-CN')
    await answerRecoveryRequests(test.deps)
    await sendDueMail(test.deps)
    expect(smtp.take(member.email).map((mail) => mail.subject)).toEqual([
      subjectOf(messages.en.mails.recovery),
    ])
  })

  it('for an address of several accounts sends a link for each', async () => {
    const first = await makeMember()
    await makeMember({ email: first.email })
    await ask(first.email)
    expect(new Set(await linksTo(first.email)).size).toBe(2)
  })

  it('is limited to three for a name and thirty for an address', async () => {
    const member = await makeMember()
    for (const name of [member.username, 'no-such-member']) {
      const answers = []
      for (let i = 0; i < 4; i += 1) answers.push(await ask(name))
      expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 429])
      expect(answers[3]!.headers['retry-after']).toBe('30')
    }
    expect(await linksTo(member.email)).toHaveLength(3)
    // A request for another member does not keep that member from signing in.
    expect(await signIn(test, member.username, member.password)).toBeDefined()
    const address = '192.0.2.77'
    for (let i = 0; i < 30; i += 1) expect((await ask(`name-${i}`, address)).status).toBe(200)
    expect((await ask('name-30', address)).status).toBe(429)
    // A subscriber has a whole /64 of addresses.
    for (let i = 0; i < 30; i += 1) expect((await ask(`six-${i}`, `2001:db8:9:9::${i + 1}`)).status).toBe(200)
    expect((await ask('six-30', '2001:db8:9:9::ff')).status).toBe(429)
    // There are more requests than a process takes at a time.
    for (let i = 0; i < 4; i += 1) await linksTo('')
    expect(await test.db.selectFrom('recovery_requests').selectAll().execute()).toEqual([])
  })

  it('needs a name and a form of ours', async () => {
    expect((await ask(' ')).status).toBe(400)
    expect((await ask('x'.repeat(255))).status).toBe(400)
    expect((await browser(test).post(PAGE, { name: 'x' })).status).toBe(403)
    expect(await test.db.selectFrom('recovery_requests').selectAll().execute()).toEqual([])
  })

  it('is worked off by several processes without doubling', async () => {
    const members = await Promise.all(Array.from({ length: 6 }, () => makeMember()))
    for (const member of members) await ask(member.username)
    const db = openDatabase(test.deps.config.DATABASE_URL!, { max: 4, onBroken: () => {} })
    await Promise.all([answerRecoveryRequests(test.deps), answerRecoveryRequests({ ...test.deps, db })])
    for (const member of members) expect(await linksTo(member.email)).toHaveLength(1)
    await db.destroy()
  })
})

describe('the link', () => {
  it('sets the password, ends every session and tells the member', async () => {
    const member = await makeMember()
    const open = await member.signIn()
    const link = await linkFor(member)
    const before = await hashOf(member)
    const visitor = browser(test)
    const page = await visitor.get(link)
    expect(page.status).toBe(200)
    expect(page.body).toContain(`@${member.username}`)
    await visitor.get(link)
    expect(await hashOf(member)).toBe(before)
    expect((await open.get('/account')).status).toBe(200)

    const short = await visitor.submit(page, NEW_PASSWORD, { new_password: 'short' })
    expect(short.status).toBe(400)
    const done = await visitor.submit(short, NEW_PASSWORD, { new_password: 'remember this one' })
    expect(done.status).toBe(200)
    expect(visitor.cookies.has('tessera_session')).toBe(false)
    expect((await open.get('/account')).status).toBe(303)
    expect(await signIn(test, member.username, 'remember this one')).toBeDefined()
    await expect(member.signIn()).rejects.toThrow('401')
    await sendDueMail(test.deps)
    expect(smtp.take(member.email).map((mail) => mail.subject)).toEqual([
      subjectOf(messages.en.mails.notices['password.recovered']),
      subjectOf(messages.en.mails.notices['sign_in.new_browser']),
    ])
    const audit = test.db
      .selectFrom('audit_log')
      .where('subject', '=', `user:${member.id}`)
      .select('action')
      .orderBy('id')
    expect((await audit.execute()).map((row) => row.action)).toEqual([
      'account.password.recovery_sent',
      'account.password.recovered',
      'account.sign_in.new_browser',
    ])
  })

  it('names the order that had asked for the sign-in, and leads on to it', async () => {
    const [member, visitor, shop] = [await makeMember(), browser(test), await makeMerchant(test)]
    const order = { amount: '120', description: 'Stickers', order_id: 'waits' }
    const { transaction_id } = (await shop.process(order)).body
    const asked = encodeURIComponent(`/payment/pay/${transaction_id}?from=shop`)
    const waits = `Stickers</bdi>${messages.en.signIn.sum('120', 120n, false)}`
    const expectOrder = ({ body }: Page) =>
      expect(body.replace(/<i class="mid">.*?<\/i><\/i>/g, '')).toContain(waits)
    const [, forgotten] = /href="(\/account\/recover[^"]*)"/.exec(
      (await visitor.get(`/sign-in?return_to=${asked}`)).body,
    )!
    const page = await visitor.get(forgotten!)
    expectOrder(page)
    await setSetting(test, 'link_contact', 'https://site.example/help')
    const refused = await visitor.submit(page, PAGE, { name: '' })
    const sent = await visitor.submit(refused, PAGE, { name: member.username })
    expect(sent.body).toContain(`href="/sign-in?return_to=${asked}"`)
    expectOrder(sent)
    expect(sent.body).toContain(`href="https://site.example/help">${messages.en.security.recover.contact}`)
    // The link is sent again to the same name, or to another one.
    const again = await visitor.submit(sent, PAGE)
    expect([again.status, again.form(PAGE)]).toEqual([
      200,
      expect.objectContaining({ name: member.username }),
    ])
    expect(again.body).toContain(`href="${PAGE}?return_to=${asked}"`)
    const [link] = await linksTo(member.email)
    expect(link).not.toContain('txn_')
    expectOrder(await visitor.get(link!))
    const done = await setPassword(link!, 'remember this one')
    expect(done.body).toContain(`href="/sign-in?return_to=${asked}&amp;login_hint=${member.username}"`)
    expectOrder(done)
    expect((await visitor.get(`${PAGE}?return_to=//evil.example`)).form(PAGE)).toMatchObject({
      return_to: '/',
    })
    expect((await visitor.get(`${PAGE}?return_to=/${'x'.repeat(2_000)}`)).form(PAGE)).toMatchObject({
      return_to: '/',
    })
  })

  it('works once, also of many at once', async () => {
    const member = await makeMember()
    const link = await linkFor(member)
    const passwords = Array.from({ length: 5 }, (_, i) => `password number ${i}`)
    const answers = await Promise.all(passwords.map((password) => setPassword(link, password)))
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 410, 410, 410, 410])
    const winner = passwords[answers.findIndex((answer) => answer.status === 200)]!
    expect(await signIn(test, member.username, winner)).toBeDefined()
    expect((await browser(test).get(link)).status).toBe(410)
  })

  it('works for 30 minutes, and not after another one was used', async () => {
    const member = await makeMember()
    const [first, second] = [await linkFor(member), await linkFor(member)]
    const visitor = browser(test)
    const page = await visitor.get(second)
    expect((await setPassword(first, 'the first of them')).status).toBe(200)
    const before = await hashOf(member)
    expect((await visitor.submit(page, NEW_PASSWORD, { new_password: 'the second of them' })).status).toBe(
      410,
    )
    const third = await linkFor(member)
    const lastPage = await visitor.get(third)
    test.clock.advance(30 * MINUTE_MS)
    expect((await visitor.submit(lastPage, NEW_PASSWORD, { new_password: 'the third of them' })).status).toBe(
      410,
    )
    expect(await hashOf(member)).toBe(before)
  })

  it('is for its own account and purpose only, whoever holds it', async () => {
    const [alice, mallory] = [await makeMember(), await makeMember({ username: 'mallory' })]
    const link = await linkFor(alice)
    const token = link.split('token=')[1]!
    const stranger = await mallory.signIn()
    const before = await hashOf(mallory)
    expect((await stranger.get(`/account/email/confirm?token=${token}`)).status).toBe(410)
    const form = (await stranger.get('/account')).form('/sign-out')
    expect((await stranger.post('/account/email/confirm', { ...form, token })).status).toBe(410)
    for (const wrong of [`${token}x`, '', 'x'.repeat(5_000)]) {
      const new_password = 'chosen by mallory'
      expect((await stranger.post(NEW_PASSWORD, { ...form, token: wrong, new_password })).status).toBe(410)
    }
    // A link that another signed-in member opens still sets the password of its own account.
    expect((await setPassword(link, 'chosen by alice', stranger)).status).toBe(200)
    expect(await hashOf(mallory)).toBe(before)
    expect(await signIn(test, alice.username, 'chosen by alice')).toBeDefined()
  })

  it('dies with its address, and with an account that joins the forum', async () => {
    const [alice, bob] = [await makeMember(), await makeMember({ username: 'bob' })]
    const links = [await linkFor(alice), await linkFor(bob)]
    await test.db.updateTable('users').set({ email: 'new@mail.test' }).where('id', '=', alice.id).execute()
    const forum = { password_hash: null, forum_id: 99n }
    await test.db.updateTable('users').set(forum).where('id', '=', bob.id).execute()
    const before = await hashOf(alice)
    for (const link of links) expect((await setPassword(link, 'a new password')).status).toBe(410)
    expect([await hashOf(alice), await hashOf(bob)]).toEqual([before, null])
    await ask(bob.email)
    expect(await linksTo(bob.email)).toEqual([])
  })

  it('does not stand in for the second factor', async () => {
    const member = await makeMember()
    const factor = { user_id: member.id, secret_encrypted: Buffer.from('x'), last_step: 0n }
    await test.db.insertInto('second_factors').values(factor).execute()
    expect((await setPassword(await linkFor(member), 'remember this one')).status).toBe(200)
    const visitor = browser(test)
    const { username } = member
    const answer = await visitor.submit(await visitor.get('/sign-in'), '/sign-in', {
      username,
      password: 'remember this one',
    })
    expect(answer.location).toBe('/sign-in/second-factor')
    expect(visitor.cookies.has('tessera_session')).toBe(false)
    const kept = test.db.selectFrom('second_factors').where('user_id', '=', member.id).selectAll()
    expect(await kept.execute()).toHaveLength(1)
  })
})
