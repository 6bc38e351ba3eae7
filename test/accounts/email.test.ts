/**
 * Outgoing mail over a real SMTP server: the outbox and its retries, confirmed addresses, notices.
 * spec/accounts 4.1 and 4.3.
 */
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { enqueueMail, sendDueMail } from '../../src/accounts/people/email.ts'
import { resetSecondFactor } from '../../src/accounts/security/second-factor.ts'
import { openDatabase } from '../../src/database/connection.ts'
import { deleteExpiredRows } from '../../src/operations/retention.ts'
import { sha256 } from '../../src/platform/secrets.ts'
import { ownLogo } from '../../src/web/assets.ts'
import { dateTag, makeTimes } from '../../src/web/languages.ts'
import { zoneName } from '../../src/web/site.ts'
import { makeAuthenticator } from '../harness/authenticator.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { certificateOf } from '../harness/certificate.ts'
import {
  type Browser,
  browser,
  type Page,
  setSetting,
  startTestApp,
  type TestApp,
} from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { rowOf, setRows } from '../harness/rows.ts'
import { type ReceivedMail, type SmtpServer, type SmtpTls, startSmtpServer } from '../harness/smtp-server.ts'
import { type MailedApp, startMailedApp, subjectOf } from './mailed-app.ts'
import { optionsOn } from './passkey-holder.ts'

const t = messages.en.mails

const PAGE = '/account/email'
const CONFIRM = '/account/email/confirm'
const MINUTE_MS = 60_000

let mailed: MailedApp
let test: TestApp
let smtp: SmtpServer
let count = 0
beforeAll(async () => {
  mailed = await startMailedApp({
    SMTP_FROM: 'Tessera <no-reply@tessera.test>',
    PUBLIC_URL: 'http://localhost:3999',
  })
  ;({ test, smtp } = mailed)
})
afterAll(() => mailed.close())

const newAddress = () => `member${++count}@mail.test`
const mailTo = (recipient: string) =>
  test.db
    .selectFrom('outgoing_mails')
    .where('recipient', '=', recipient)
    .selectAll()
    .orderBy('id', 'desc')
    .executeTakeFirst()
const userOf = (person: Person) => rowOf(test, 'users', { id: person.id }, ['email', 'email_verified'])

/** Sends what is due, and returns the mails to an address. */
async function mailsTo(recipient: string): Promise<ReceivedMail[]> {
  await sendDueMail(test.deps)
  return smtp.take(recipient)
}

/** The path of the link in a mail. The link must lead to the service. */
function linkIn(mail: ReceivedMail): string {
  const [url, ...more] = [...mail.text.matchAll(/https?:\/\/\S+/g)]
    .map(([text]) => text)
    .filter((text) => text.includes('?'))
  expect(more).toEqual([])
  expect(url).toMatch(/^http:\/\/localhost:3999\/account\//)
  return url!.replace('http://localhost:3999', '')
}

const fromElsewhere = () => ({ 'x-forwarded-for': `198.51.100.${++count % 250}` })

async function askFor(client: Browser, email: string, headers = fromElsewhere()): Promise<Page> {
  const page = await client.get(PAGE)
  return client.post(PAGE, { ...page.form(PAGE), email }, headers)
}

/** Creates a member with a confirmed address. */
async function makeReachable(
  values: Parameters<typeof makePerson>[1] = {},
): Promise<Person & { email: string }> {
  const email = newAddress()
  const person = await makePerson(test, { ...values, email })
  await test.db.updateTable('users').set({ email_verified: true }).where('id', '=', person.id).execute()
  return { ...person, email }
}

const both = (text: string) => ({ en: text, zh: text })

function enqueue(recipient: string, useless_at?: Date): Promise<void> {
  return test.db.transaction().execute((tx) =>
    enqueueMail(tx, test.deps, {
      user_id: 1n,
      recipient,
      username: 'somebody',
      language: 'en',
      kind: 'test',
      content: { subject: both('A test'), text: both('.a line that begins with a dot') },
      ...(useless_at === undefined ? {} : { useless_at }),
    }),
  )
}

describe('the outbox', () => {
  beforeAll(() => makePerson(test))

  it('is written with the act or not, and keeps no text', async () => {
    const recipient = newAddress()
    await expect(
      test.db.transaction().execute(async (tx) => {
        await enqueueMail(tx, test.deps, {
          user_id: 1n,
          recipient,
          username: 'x',
          language: 'en',
          kind: 'test',
          content: { subject: both('x'), text: both('x') },
        })
        throw new Error('the act failed')
      }),
    ).rejects.toThrow('the act failed')
    expect(await mailTo(recipient)).toBeUndefined()

    await enqueue(recipient)
    const waiting = await mailTo(recipient)
    expect(waiting!.text_encrypted!.toString('latin1')).not.toContain('a line')
    const [mail] = await mailsTo(recipient)
    const from = { from: 'no-reply@tessera.test', sender: 'Tessera' }
    expect(mail).toMatchObject({ ...from, to: [recipient], subject: '[Tessera] A test' })
    expect(mail!.text).toMatch(/^Hello @somebody,\n\n\.a line that begins with a dot\n\n-- \n/)
    expect(mail!.headers['auto-submitted']).toBe('auto-generated')
    expect(mail!.headers['content-type']).toMatch(/^multipart\/alternative/)
    expect(await mailTo(recipient)).toMatchObject({
      text_encrypted: null,
      next_attempt_at: null,
      attempts: 1,
    })
    expect(await mailsTo(recipient)).toEqual([])
  })

  it('has the name and the logo of the site, in text and HTML', async () => {
    const recipient = newAddress()
    await setSetting(test, 'site_name_en', 'Spark <Forum>, "East"')
    await enqueue(recipient)
    const [own] = await mailsTo(recipient)
    expect(own).toMatchObject({
      sender: 'Spark <Forum>, "East"',
      subject: '[Spark <Forum>, "East"] A test',
    })
    expect(own!.html).toContain('Spark &lt;Forum&gt;, &quot;East&quot;')
    expect(own!.html).toContain('src="cid:logo"')
    expect(own!.pictures).toEqual([{ id: 'logo', bytes: ownLogo() }])
    // A mail program would ask another host for its logo, and so tell when the mail is read.
    await setSetting(test, 'site_logo', 'https://cdn.example/logo.png')
    await enqueue(recipient)
    const [elsewhere] = await mailsTo(recipient)
    expect(elsewhere!.pictures).toEqual([])
    expect(elsewhere!.html).not.toMatch(/cdn\.example|<img/)
    await setSetting(test, 'site_logo', '')
    await setSetting(test, 'site_name_en', '')
  })

  it('tries after 1, 5, 30 and 120 minutes, then gives up', async () => {
    const recipient = newAddress()
    await enqueue(recipient)
    let attempts = 0
    smtp.onMessage = () => {
      attempts += 1
      return '451 4.3.0 not now'
    }
    await sendDueMail(test.deps)
    for (const minutes of [1, 5, 30, 120]) {
      const before = attempts
      test.clock.advance(minutes * MINUTE_MS - 1)
      await sendDueMail(test.deps)
      expect(attempts, `before ${minutes} minutes`).toBe(before)
      test.clock.advance(1)
      await sendDueMail(test.deps)
      expect(attempts, `after ${minutes} minutes`).toBe(before + 1)
    }
    smtp.onMessage = () => '250 taken'
    test.clock.advance(24 * 60 * MINUTE_MS)
    expect(await mailsTo(recipient)).toEqual([])
    const row = await mailTo(recipient)
    expect(row).toMatchObject({ attempts: 5, text_encrypted: null, next_attempt_at: null, sent_at: null })
    expect(row!.last_error).toContain('not now')
    const record = test.db.selectFrom('audit_log').where('action', '=', 'mail.given_up').select('detail')
    expect((await record.execute()).at(-1)!.detail).toMatchObject({ kind: 'test' })
  })

  it('sends a mail twice at most when a process dies in between', async () => {
    const recipient = newAddress()
    await enqueue(recipient)
    const ids: string[] = []
    smtp.onMessage = async (mail) => {
      ids.push(mail.headers['message-id']!)
      if (ids.length === 1) await sql`alter table outgoing_mails rename to gone`.execute(test.db)
      return '250 taken'
    }
    await expect(sendDueMail(test.deps)).rejects.toThrow('outgoing_mails')
    await sql`alter table gone rename to outgoing_mails`.execute(test.db)
    await sendDueMail(test.deps)
    expect(ids).toHaveLength(1)
    test.clock.advance(2 * MINUTE_MS)
    await sendDueMail(test.deps)
    test.clock.advance(24 * 60 * MINUTE_MS)
    await sendDueMail(test.deps)
    expect(ids).toHaveLength(2)
    expect(ids[0]).toBe(ids[1])
    smtp.onMessage = () => '250 taken'
    smtp.take(recipient)
  })

  it('is shared by processes: each mail leaves once', async () => {
    const recipient = newAddress()
    await Promise.all(Array.from({ length: 30 }, () => enqueue(recipient)))
    const db = openDatabase(test.deps.config.DATABASE_URL!, { max: 4, onBroken: () => {} })
    const other = { ...test.deps, db }
    await Promise.all([
      sendDueMail(test.deps),
      sendDueMail(other),
      sendDueMail(test.deps),
      sendDueMail(other),
    ])
    expect(smtp.take(recipient)).toHaveLength(30)
    await db.destroy()
  })

  it('drops expired links and survives a missing server', async () => {
    const [late, early] = [newAddress(), newAddress()]
    await enqueue(late, new Date(test.clock.now().getTime() + MINUTE_MS))
    test.clock.advance(MINUTE_MS)
    expect(await mailsTo(late)).toEqual([])
    expect(await mailTo(late)).toMatchObject({ text_encrypted: null, sent_at: null, next_attempt_at: null })
    await enqueue(early)
    const config = { ...test.deps.config, SMTP_URL: 'smtp://127.0.0.1:9' }
    await sendDueMail({ ...test.deps, config })
    expect((await mailTo(early))!.last_error).toContain('ECONNREFUSED')
    test.clock.advance(MINUTE_MS)
    expect(await mailsTo(early)).toHaveLength(1)
  })

  it('drops no link by a clock that is ahead of the database', async () => {
    const recipient = newAddress()
    await enqueue(recipient, new Date(test.clock.now().getTime() + MINUTE_MS))
    const clock = () => new Date(test.clock.now().getTime() + 60 * MINUTE_MS)
    await sendDueMail({ ...test.deps, clock })
    expect(smtp.take(recipient)).toHaveLength(1)
  })

  it('signs in to the server with what SMTP_URL says, decoded', async () => {
    const recipient = newAddress()
    await enqueue(recipient)
    const SMTP_URL = smtp.url.replace('smtp://', 'smtp://tess%40mail:p%40ss%3Aw@')
    await sendDueMail({ ...test.deps, config: { ...test.deps.config, SMTP_URL } })
    expect(smtp.signIns).toEqual(['tess@mail p@ss:w'])
    expect(smtp.take(recipient)).toHaveLength(1)
  })

  describe('to a server elsewhere', () => {
    /** An address that reaches this machine and does not look like loopback. */
    const ELSEWHERE = '0.0.0.0'
    const roots = getCACertificates('default')
    const tls = certificateOf(ELSEWHERE)
    const trust = (...certificates: string[]) => setDefaultCACertificates([...roots, ...certificates])
    afterEach(() => trust())

    /** Sends one mail with a password in SMTP_URL, and returns its outcome. */
    async function sendTo(how: SmtpTls | undefined) {
      const server = await startSmtpServer(how)
      const recipient = newAddress()
      await enqueue(recipient)
      const SMTP_URL = server.url.replace('//127.0.0.1', `//name:password@${ELSEWHERE}`)
      await sendDueMail({ ...test.deps, config: { ...test.deps.config, SMTP_URL } })
      await server.close()
      const { last_error } = (await mailTo(recipient))!
      await test.db.deleteFrom('outgoing_mails').where('recipient', '=', recipient).execute()
      return { ...server, last_error }
    }

    it.each(['start', 'STARTTLS'] as const)('is encrypted from %s on, with its certificate', async (from) => {
      trust(tls.cert)
      expect(await sendTo({ ...tls, from })).toMatchObject({
        mails: [{ isEncrypted: true }],
        signIns: ['name password'],
        last_error: null,
      })
      trust()
      expect(await sendTo({ ...tls, from })).toMatchObject({
        mails: [],
        signIns: [],
        last_error: expect.stringContaining('self-signed certificate'),
      })
      const another = certificateOf('198.51.100.1')
      trust(another.cert)
      expect(await sendTo({ ...another, from })).toMatchObject({
        mails: [],
        signIns: [],
        last_error: expect.stringContaining('altnames'),
      })
    })

    it('sends no password without TLS', async () => {
      expect(await sendTo(undefined)).toMatchObject({
        mails: [],
        signIns: [],
        last_error: expect.stringContaining('STARTTLS'),
      })
    })
  })
})

describe('an address', () => {
  it('counts once its member opens the link; the old address is told', async () => {
    const alice = await makeReachable()
    const client = await alice.signIn()
    const email = newAddress()
    const asked = await askFor(client, ` ${email} `)
    expect(asked.status).toBe(200)
    expect(asked.body).toContain(email)
    const [mail, ...more] = await mailsTo(email)
    expect(more).toEqual([])
    expect(mail!.subject).toBe(subjectOf(t.confirmEmail('')))
    const link = linkIn(mail!)
    const [stored] = await test.db.selectFrom('account_links').selectAll().execute()
    const [zone, { letter }] = ['Asia/Shanghai', messages.en]
    const { plain } = makeTimes(dateTag('en'), zone)
    const until = letter.inZone(plain(stored!.expires_at), zoneName(zone, 'en'))
    for (const part of [mail!.text, mail!.html]) {
      expect(part).toContain(letter.expires(until))
      expect(part).not.toContain('60 minutes')
    }
    expect(stored!.token_hash).toEqual(sha256(link.split('token=')[1]!))

    expect((await browser(test).get(link)).location).toMatch(/^\/sign-in\?return_to=/)
    const page = await client.get(link)
    expect(page.body).toContain(`@${alice.username}`)
    await client.get(link)
    expect(await userOf(alice)).toEqual({ email: alice.email, email_verified: true })
    expect((await client.submit(page, CONFIRM)).status).toBe(200)
    expect(await userOf(alice)).toEqual({ email, email_verified: true })
    expect((await mailsTo(alice.email)).map((notice) => notice.subject)).toEqual([
      subjectOf(t.notices['email.changed']),
    ])
    expect(await mailsTo(email)).toEqual([])
    expect((await client.submit(page, CONFIRM)).status).toBe(410)
    expect((await client.get('/account/profile')).body).toContain(`${email}, confirmed`)
  })

  it('that waits is sent another link from the account page', async () => {
    const alice = await makePerson(test)
    const client = await alice.signIn()
    const email = newAddress()
    await askFor(client, email)
    const profile = await client.get('/account/profile')
    expect(profile.body).toContain(messages.en.security.emailWaits(email))
    expect((await client.submit(profile, PAGE)).status).toBe(200)
    expect(await mailsTo(email)).toHaveLength(2)
  })

  it('is confirmed by its member, within an hour, by the latest request', async () => {
    const [alice, mallory] = [await makePerson(test), await makePerson(test, { username: 'mallory' })]
    const client = await alice.signIn()
    const [first, second] = [newAddress(), newAddress()]
    await askFor(client, first)
    const link = linkIn((await mailsTo(first))[0]!)
    const stranger = await mallory.signIn()
    expect((await stranger.get(link)).status).toBe(410)
    const page = await client.get(link)
    const token = page.form(CONFIRM).token!
    const account = await stranger.get('/account')
    const theirs = await stranger.post(CONFIRM, { ...account.form('/sign-out'), token })
    expect(theirs.status).toBe(410)
    await askFor(client, second)
    expect((await client.submit(page, CONFIRM)).status).toBe(410)
    const newer = await client.get(linkIn((await mailsTo(second))[0]!))
    test.clock.advance(60 * MINUTE_MS)
    expect((await client.submit(newer, CONFIRM)).status).toBe(410)
    expect((await client.get(`${CONFIRM}?token=x`)).status).toBe(410)
    expect((await client.get(CONFIRM)).status).toBe(410)
    expect(await userOf(alice)).toEqual({ email: null, email_verified: false })
    expect(await userOf(mallory)).toEqual({ email: null, email_verified: false })
  })

  it('is confirmed once by any number of requests at once', async () => {
    const alice = await makePerson(test)
    const client = await alice.signIn()
    const email = newAddress()
    await askFor(client, email)
    const page = await client.get(linkIn((await mailsTo(email))[0]!))
    const answers = await Promise.all(Array.from({ length: 5 }, () => client.submit(page, CONFIRM)))
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 410, 410, 410, 410])
  })

  it('must be valid, different and asked for on a fresh sign-in', async () => {
    const alice = await makeReachable()
    const client = await alice.signIn()
    const count = async () => (await test.db.selectFrom('outgoing_mails').selectAll().execute()).length
    const before = await count()
    for (const email of ['', 'nobody', 'a@b', 'a@b.c, d@e.f', 'a@mail.test\r\nBcc: b@mail.test', alice.email])
      expect((await askFor(client, email)).status, email).toBe(400)
    const page = await client.get(PAGE)
    test.clock.advance(10 * MINUTE_MS + 1)
    expect((await client.submit(page, PAGE, { email: newAddress() })).status).toBe(409)
    expect((await client.get(PAGE)).location).toContain('reason=again')
    expect(await count()).toBe(before)
  })

  it('can be asked for five times, then after a wait', async () => {
    const alice = await makePerson(test)
    const client = await alice.signIn()
    const tries = []
    for (let i = 0; i < 6; i += 1) tries.push(await askFor(client, newAddress()))
    expect(tries.map((answer) => answer.status)).toEqual([200, 200, 200, 200, 200, 429])
    expect(tries[5]!.headers['retry-after']).toBe('30')
    await sendDueMail(test.deps)
  })
})

describe('notices', () => {
  it('tell of a changed password in the member’s last language', async () => {
    const alice = await makeReachable()
    const client = browser(test)
    const headers = { 'accept-language': 'zh-CN' }
    const signInPage = await client.get('/sign-in', headers)
    const { username, password } = alice
    await client.post('/sign-in', { ...signInPage.form('/sign-in'), username, password }, headers)
    const page = await client.get('/account/password')
    const form = { current_password: password, new_password: 'another password' }
    await client.submit(page, '/account/password', { ...form, current_password: 'wrong' })
    expect(await mailsTo(alice.email)).toEqual([])
    await client.submit(page, '/account/password', form)
    const [mail] = await mailsTo(alice.email)
    expect(mail!.subject).toBe(subjectOf(messages['zh-CN'].mails.notices['password.changed'], 'zh-CN'))
    expect(mail!.text).toContain(`@${alice.username}，你好：`)
    expect(mail!.text).not.toContain('another password')
  })

  it('tell of an administrator’s reset, and go to confirmed addresses only', async () => {
    const [alice, bob] = [await makeReachable(), await makeReachable({ username: 'bob' })]
    const admin = await makePerson(test, { username: 'admin', is_admin: true })
    await test.db.updateTable('users').set({ email_verified: false }).where('id', '=', bob.id).execute()
    for (const { id } of [alice, bob]) {
      const factor = { user_id: id, secret_encrypted: Buffer.from('x'), last_step: 0n }
      await test.db.insertInto('second_factors').values(factor).execute()
      await resetSecondFactor(test.deps, { user_id: id, admin_id: admin.id, reason: 'lost', ip: null })
    }
    expect((await mailsTo(alice.email)).map((mail) => mail.subject)).toEqual([
      subjectOf(t.notices['second_factor.reset']),
    ])
    expect(await mailTo(bob.email)).toBeUndefined()
  })
})

describe('after registering', () => {
  const ASKED = '/account/keep-access'
  const [ADDRESS, PASSKEY] = [`${ASKED}/email`, `${ASKED}/passkey`]

  async function register(): Promise<{ client: Browser; asked: Page }> {
    await setSetting(test, 'registration', 'open')
    const client = browser(test)
    const form = await client.get('/register?return_to=/account/sessions')
    const fields = { username: `new${++count}`, password: 'correct horse battery' }
    const registered = await client.submit(form, '/register', fields)
    return { client, asked: await client.get(registered.location!) }
  }

  /** Where the page leads a member on. */
  const leadsOn = (page: Page) => /class="button[^"]*" href="([^"]*)"/.exec(page.body)?.[1]

  it('a member who puts it off goes on to where the registration was going', async () => {
    const { client, asked } = await register()
    expect([asked.status, leadsOn(asked)]).toEqual([200, '/account/sessions'])
    expect((await client.get('/account/sessions')).status).toBe(200)
  })

  it('a member adds an address, confirms it, and goes on', async () => {
    const { client, asked } = await register()
    const email = newAddress()
    const wrong = await client.submit(asked, ADDRESS, { email: 'nope' })
    expect([wrong.status, leadsOn(wrong)]).toEqual([400, '/account/sessions'])
    expect(wrong.body).toContain('value="nope"')
    const sent = await client.get((await client.submit(wrong, ADDRESS, { email })).location!)
    for (const text of [messages.en.keepAccess.sent(email, 60), messages.en.keepAccess.waiting(email)])
      expect(sent.body).toContain(text)
    expect(leadsOn(sent)).toBe('/account/sessions')
    const [mail] = await mailsTo(email)
    const confirm = await client.get(linkIn(mail!))
    await client.submit(confirm, CONFIRM)
    const kept = await client.get(`${ASKED}?return_to=/apps`)
    expect(kept.body).toContain(messages.en.keepAccess.titleDone)
    expect(kept.body).not.toContain(ADDRESS)
    expect(leadsOn(kept)).toBe('/apps')
  })

  it('a member adds a passkey and goes on', async () => {
    const { client, asked } = await register()
    const credential = makeAuthenticator(test.url).create(optionsOn(asked, PASSKEY))
    const added = await client.submit(asked, PASSKEY, { credential })
    const kept = await client.get(added.location!)
    expect(kept.body).toContain(messages.en.keepAccess.titleDone)
    expect(kept.body).not.toContain(PASSKEY)
    expect(leadsOn(kept)).toBe('/account/sessions')
  })

  it('a stolen session adds no way in', async () => {
    const { client, asked } = await register()
    const { id } = await rowOf(test, 'users', { username: `new${count}` }, ['id'])
    test.clock.advance(11 * MINUTE_MS)
    const email = newAddress()
    for (const [action, fields] of [
      [ADDRESS, { email }],
      [PASSKEY, { credential: '{}' }],
    ] as const)
      expect((await client.submit(asked, action, fields)).status).toBe(409)
    expect(await mailTo(email)).toBeUndefined()
    expect(await test.db.selectFrom('passkeys').where('user_id', '=', id).select('id').execute()).toEqual([])
  })

  it('a member of the forum is asked for nothing', async () => {
    const person = await makePerson(test)
    const client = await person.signIn()
    const form = (await client.get(ASKED)).form(ADDRESS)
    await setRows(test, 'users', { id: person.id }, { password_hash: null, forum_id: 77n })
    const asked = await client.get(`${ASKED}?return_to=/apps`)
    expect([asked.status, asked.location]).toEqual([303, '/apps'])
    const email = newAddress()
    expect((await client.post(ADDRESS, { ...form, email })).status).toBe(404)
    expect(await mailTo(email)).toBeUndefined()
  })
})

describe('without a mail server', () => {
  it('nothing that needs mail is offered or done', async () => {
    const silent = await startTestApp()
    const person = await makePerson(silent, { email: 'a@mail.test' })
    const client = await person.signIn()
    expect((await client.get('/account/profile')).body).not.toContain(PAGE)
    expect((await client.get('/sign-in')).body).not.toContain('/account/recover')
    for (const path of [PAGE, CONFIRM, '/account/recover', '/account/recover/password'])
      expect((await client.get(path)).status).toBe(404)
    const { form_token } = (await client.get('/account')).form('/sign-out')
    const asked = await client.post('/account/recover', { form_token: form_token!, name: person.username })
    expect(asked.status).toBe(404)
    await sendDueMail(silent.deps)
    expect(await silent.db.selectFrom('outgoing_mails').selectAll().execute()).toEqual([])
    await silent.close()
  })
})

describe('housekeeping', () => {
  it('forgets what can be used no more, and nothing else', async () => {
    const own = await startTestApp({ SMTP_URL: smtp.url, SMTP_FROM: 'no-reply@tessera.test' })
    const person = await makePerson(own, { email: 'keeper@mail.test' })
    const client = await person.signIn()
    const email = newAddress()
    await client.submit(await client.get(PAGE), PAGE, { email })
    await sendDueMail(own.deps)
    smtp.take(email)
    const tables = ['sessions', 'sign_in_attempts', 'account_links', 'outgoing_mails'] as const
    const counts = async () => {
      await deleteExpiredRows(own.deps)
      return Promise.all(
        tables.map(async (table) => (await own.db.selectFrom(table).select('id').execute()).length),
      )
    }
    expect(await counts()).toEqual([1, 2, 1, 1])
    own.clock.advance(2 * 24 * 60 * MINUTE_MS)
    expect(await counts()).toEqual([1, 0, 0, 1])
    expect((await client.get('/account')).status).toBe(200)
    own.clock.advance(30 * 24 * 60 * MINUTE_MS)
    expect(await counts()).toEqual([0, 0, 0, 0])
    expect(await own.db.selectFrom('audit_log').select('id').execute()).not.toEqual([])
    await own.close()
  })
})
