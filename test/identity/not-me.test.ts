/**
 * “This wasn't me”: the link in a mail about a change or a new browser locks the account of a member whose act it was not.
 * spec/accounts 3.4 and 4.4.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sendDueMail } from '../../src/accounts/people/email.ts'
import { NOT_ME, NOT_ME_DAYS } from '../../src/accounts/security/security-events.ts'
import { type MailedApp, startMailedApp, subjectOf } from '../accounts/mailed-app.ts'
import { giveKey, WITH_DOMAIN } from '../accounts/passkey-holder.ts'
import { changePerson, makePerson, type Person, signIn } from '../harness/cast.ts'
import { type Browser, browser, startTestApp, type TestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'
import { rowOf, rowsOf } from '../harness/rows.ts'
import type { ReceivedMail } from '../harness/smtp-server.ts'
import { makeParty, obtainTokens, userinfo } from './relying-party.ts'

const { mails, notMe } = messages.en
const DAY_MS = 86_400_000
const NEW_PASSWORD = '/account/recover/password'

let mailed: MailedApp
let test: TestApp
let count = 0
beforeAll(async () => {
  mailed = await startMailedApp(WITH_DOMAIN)
  test = mailed.test
})
afterAll(() => mailed.close())

const newAddress = () => `robbed${++count}@mail.test`

async function makeReachable(): Promise<Person & { email: string }> {
  const [person, email] = [await makePerson(test), newAddress()]
  await changePerson(test, person, { email, email_verified: true })
  return { ...person, email }
}

async function mailsTo(address: string): Promise<ReceivedMail[]> {
  await sendDueMail(test.deps)
  return mailed.smtp.take(address)
}

/** The path of the link in the last mail to an address. */
async function linkTo(address: string): Promise<string> {
  const mail = (await mailsTo(address)).at(-1)
  return /http:\/\/localhost:3000(\/account\/\S+\?token=\S+)/.exec(mail!.text)![1]!
}

/** Changes the password in a browser, and returns the link of the mail about it. */
async function changePassword(client: Browser, { email, password }: Person & { email: string }) {
  const form = { current_password: password, new_password: 'chosen by a stranger' }
  await client.submit(await client.get('/account/password'), '/account/password', form)
  return linkTo(email)
}

/** Confirms another address in a browser. */
async function changeAddress(client: Browser, email: string): Promise<void> {
  await client.submit(await client.get('/account/email'), '/account/email', { email })
  const path = '/account/email/confirm'
  expect((await client.submit(await client.get(await linkTo(email)), path)).status).toBe(200)
}

/** Opens a link, and presses its button. */
async function deny(link: string) {
  const client = browser(test)
  return client.submit(await client.get(link), NOT_ME)
}

it('one button ends sessions, tokens and the password, and mails a link to set a new one', async () => {
  const alice = await makeReachable()
  const { access_token } = await obtainTokens(test, await alice.signIn(), await makeParty(test))
  const stranger = await alice.signIn()
  const link = await changePassword(stranger, alice)
  const visitor = browser(test)
  const page = await visitor.get(link)
  expect(page.body).toContain(notMe.lead(alice.username))
  expect(page.body).toContain(mails.notices['password.changed'].subject)
  // Opening the link does nothing, because scanners of mail open it too.
  expect((await stranger.get('/account')).status).toBe(200)

  const done = await visitor.submit(page, NOT_ME)
  expect(done.body).toContain(messages.en.security.messages.lockedOutSent.title)
  expect(visitor.cookies.has('tessera_session')).toBe(false)
  expect((await stranger.get('/account')).status).toBe(303)
  expect((await userinfo(test, access_token)).status).toBe(401)
  for (const password of [alice.password, 'chosen by a stranger'])
    await expect(signIn(test, alice.username, password)).rejects.toThrow('401')
  const [mail] = await mailsTo(alice.email)
  expect(mail!.subject).toBe(subjectOf(mails.lockedOut))
  const [, set] = /http:\/\/localhost:3000(\S+\?token=\S+)/.exec(mail!.text)!
  const chosen = { new_password: 'chosen by its owner' }
  expect((await visitor.submit(await visitor.get(set!), NEW_PASSWORD, chosen)).status).toBe(200)
  expect(await signIn(test, alice.username, 'chosen by its owner')).toBeDefined()
  expect((await visitor.submit(page, NOT_ME)).status).toBe(410)
  const { detail, actor_id } = await rowOf(test, 'audit_log', {
    subject: `user:${alice.id}`,
    action: 'account.locked',
  })
  expect({ detail, actor_id }).toEqual({
    detail: { sessions: 1, grants: 1, passkeys: 0, email: alice.email },
    actor_id: null,
  })
})

it('a sign-in in a new browser sends one alert and one mail, and can be denied', async () => {
  const alice = await makeReachable()
  const alerts = () => rowsOf(test, 'alerts', { user_id: alice.id }, ['kind', 'facts'])
  // The first sign-in of an account has none to compare with.
  const own = await alice.signIn()
  expect([await mailsTo(alice.email), await alerts()]).toEqual([[], []])

  const stranger = browser(test)
  const from = {
    'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0',
    'x-forwarded-for': '203.0.113.9',
  }
  const enter = async () => {
    const form = (await stranger.get('/sign-in')).form('/sign-in')
    const { username, password } = alice
    return stranger.post('/sign-in', { ...form, username, password }, from)
  }
  expect((await enter()).status).toBe(303)
  expect(await alerts()).toEqual([
    { kind: 'new_browser', facts: { browser: 'Firefox', system: 'Linux', ip: '203.0.113.9' } },
  ])
  const shown = await own.get('/account/alerts')
  expect(shown.body).toContain(
    messages.en.alerts.mails.new_browser({ browser: 'Firefox', system: 'Linux' }).subject,
  )
  expect(shown.body).toContain('href="/account/sessions"')
  await stranger.submit(await stranger.get('/account'), '/sign-out')
  expect((await enter()).status).toBe(303)
  expect(await alerts()).toHaveLength(1)

  const [mail, ...more] = await mailsTo(alice.email)
  expect(more).toEqual([])
  expect(mail!.subject).toBe(subjectOf(mails.notices['sign_in.new_browser']))
  expect(mail!.text).toMatch(/Firefox on Linux\n.*203\.0\.113\.9/)
  const [, link] = /http:\/\/localhost:3000(\S+\?token=\S+)/.exec(mail!.text)!
  expect((await own.get(link!)).body).toContain(mails.notices['sign_in.new_browser'].subject)
  await deny(link!)
  expect((await stranger.get('/account')).status).toBe(303)
})

it('a changed address comes back, and only the link of the first change counts', async () => {
  const alice = await makeReachable()
  const stranger = await alice.signIn()
  const [theirs, other] = [newAddress(), newAddress()]
  await changeAddress(stranger, theirs)
  const own = await linkTo(alice.email)
  await changeAddress(stranger, other)
  const strangers = await linkTo(theirs)
  expect((await browser(test).get(own)).body).toContain(notMe.address)

  const emailOf = () => rowOf(test, 'users', { id: alice.id }, ['email', 'email_verified'])
  await deny(strangers)
  expect(await emailOf()).toEqual({ email: theirs, email_verified: true })
  await deny(own)
  expect(await emailOf()).toEqual({ email: alice.email, email_verified: true })
  // The stranger had a link to set a password. It ended with the address that it was sent to.
  expect((await browser(test).get(await linkTo(theirs))).status).toBe(410)
  expect((await browser(test).get(await linkTo(alice.email))).status).toBe(200)
})

it('new passkeys go, older ones stay, and two-step verification is not weakened', async () => {
  const alice = await makeReachable()
  await giveKey(test, alice)
  const keys = () => rowsOf(test, 'passkeys', { user_id: alice.id }, ['id'])
  const [older] = await keys()
  test.clock.advance(NOT_ME_DAYS * DAY_MS + 1)
  const { client } = await giveKey(test, alice)
  const link = await changePassword(client, alice)
  expect((await browser(test).get(link)).body).toContain(notMe.passkeys('').slice(0, 20))
  await deny(link)
  expect(await keys()).toEqual([older])

  const bob = await makeReachable()
  const { client: strangers } = await giveKey(test, bob)
  const factor = await strangers.get('/account/second-factor')
  await strangers.submit(factor, '/account/second-factor/passkeys')
  expect(await rowsOf(test, 'second_factors', { user_id: bob.id })).toHaveLength(1)
  const on = await linkTo(bob.email)
  expect((await browser(test).get(on)).body).toContain(notMe.secondFactor)
  await deny(on)
  expect(await rowsOf(test, 'passkeys', { user_id: bob.id })).toEqual([])
  expect(await rowsOf(test, 'second_factors', { user_id: bob.id })).toHaveLength(1)
  expect(await rowsOf(test, 'recovery_codes', { user_id: bob.id })).toHaveLength(10)
})

it('a member of the forum is signed out, and keeps the address', async () => {
  const alice = await makeReachable()
  const { client } = await giveKey(test, alice)
  await changePerson(test, alice, { password_hash: null, forum_id: 4_242n, email: 'forum@mail.test' })
  const done = await deny(await linkTo(alice.email))
  expect(done.body).toContain(messages.en.security.messages.signedOutAll.title)
  expect((await client.get('/account')).status).toBe(303)
  expect(await rowOf(test, 'users', { id: alice.id }, ['email'])).toEqual({ email: 'forum@mail.test' })
  expect(await mailsTo(alice.email)).toEqual([])
})

it('a link works for seven days, once of many at once, and for nothing else', async () => {
  const alice = await makeReachable()
  const link = await changePassword(await alice.signIn(), alice)
  const token = link.split('token=')[1]!
  for (const path of [NEW_PASSWORD, '/sign-in/link'])
    expect((await browser(test).get(`${path}?token=${token}`)).status).toBe(410)
  const answers = await Promise.all(Array.from({ length: 3 }, () => deny(link)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 410, 410])
  expect(await mailsTo(alice.email)).toHaveLength(1)
  const locked = { action: 'account.locked', subject: `user:${alice.id}` }
  expect(await rowsOf(test, 'audit_log', locked)).toHaveLength(1)

  const bob = await makeReachable()
  const late = await changePassword(await bob.signIn(), bob)
  const visitor = browser(test)
  const page = await visitor.get(late)
  test.clock.advance(NOT_ME_DAYS * DAY_MS)
  expect((await visitor.submit(page, NOT_ME)).status).toBe(410)
  expect((await visitor.get(NOT_ME)).status).toBe(410)
  expect(await signIn(test, bob.username, 'chosen by a stranger')).toBeDefined()
})

it('a site without mail has no such page', async () => {
  const silent = await startTestApp()
  expect((await browser(silent).get(NOT_ME)).status).toBe(404)
  await silent.close()
})
