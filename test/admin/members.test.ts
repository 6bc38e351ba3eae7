/**
 * /admin/members: acts of administrators on accounts, and their effect on the members.
 * spec/accounts 1.3 and 2.6.
 */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { banMember, type MemberSort, searchMembers } from '../../src/accounts/members.ts'
import { turnOnSecondFactor } from '../../src/accounts/security/second-factor.ts'
import { newTotpSecret, stepAt, totpCode } from '../../src/accounts/security/totp.ts'
import { recordRefusal } from '../../src/core/refusals.ts'
import { openPlayWallet } from '../../src/payment/orders/test-mode.ts'
import { makePerson, type Person, signIn } from '../harness/cast.ts'
import { anotherProcess, type Browser, browser, type TestApp, useTestApp } from '../harness/harness.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { payOrder, placeOrder } from '../harness/orders.ts'
import { rowOf, rowsOf, setRows } from '../harness/rows.ts'
import {
  authorizationUrl,
  authorize,
  exchange,
  makeParty,
  obtainTokens,
  refresh,
  userinfo,
  withoutWriting,
} from '../identity/relying-party.ts'

const LIST = '/admin/members'
const DAY_MS = 86_400_000
const REASON = 'as told by the staff'

let admin: Browser

const test = await useTestApp()
const root = await makePerson(test, { username: 'root', is_admin: true })
admin = await root.signIn()
const party = await makeParty(test)

const pathOf = ({ id }: { id: bigint }) => `${LIST}/${id}`
const userOf = ({ id }: Person) => rowOf(test, 'users', { id })
const sessionsOf = ({ id }: Person) => rowsOf(test, 'sessions', { user_id: id })
/** The audit log of others' acts on the account, oldest first. */
const trailOf = async ({ id }: { id: bigint }) =>
  (await rowsOf(test, 'audit_log', { subject: `user:${id}` })).filter(({ actor_id }) => actor_id !== id)

/** Takes both steps of an act as an administrator. */
async function act(person: Person, name: string, fields: Record<string, string> = {}, by = admin) {
  const path = pathOf(person)
  const { form_token = '' } = (await by.get(path)).form(path)
  const asked = await by.post(path, { form_token, act: name, reason: REASON, ...fields })
  if (asked.status !== 200) return asked
  return by.submit(asked, path)
}

/** Turns the second factor on, and returns the member's browser. */
async function protect(person: Person): Promise<Browser> {
  const client = await person.signIn()
  const [session] = await sessionsOf(person)
  const secret = newTotpSecret()
  const code = totpCode(secret, stepAt(test.clock.now()))
  const actor = { user_id: person.id, session_id: session!.id, ip: '::1' }
  await turnOnSecondFactor(test.deps, actor, { secret, code })
  return client
}

describe('members', () => {
  it('are in the order that the administrator chooses, page by page, without gaps', async () => {
    // An import may store the first member last. Two who joined in one moment are in the order of their ids.
    const [late, ...others] = [await makePerson(test), await makePerson(test), await makePerson(test)]
    await sql`update users set created_at = '2001-01-01' where id = any(${others.map(({ id }) => id)})`.execute(
      test.db,
    )
    const { rows: all } = await sql<{ id: bigint; username: string }>`
      select id, username from users where not is_service order by created_at, id`.execute(test.db)
    expect(all.slice(0, 2).map(({ id }) => id)).toEqual(others.map(({ id }) => id))
    expect(all.findIndex(({ id }) => id === late!.id)).toBeGreaterThan(1)
    const names = async (sort: MemberSort) => {
      const found: string[] = []
      for (let before: bigint | undefined; ; ) {
        const page = await searchMembers(
          test.db,
          { text: '', status: 'all', sort, before },
          test.clock.now(),
          1,
        )
        if (page.length === 0) return found
        found.push(page[0]!.username)
        before = page[0]!.id
      }
    }
    const byJoining = all.map(({ username }) => username)
    expect(await names('oldest')).toEqual(byJoining)
    expect(await names('newest')).toEqual(byJoining.toReversed())
    const byName = await names('name')
    expect(byName.toSorted()).toEqual(byJoining.toSorted())
    const lower = byName.map((name) => name.toLowerCase())
    expect(lower).toEqual(lower.toSorted())
    const { body } = await admin.get(`${LIST}?sort=name`)
    const shown = [...body.matchAll(/<b>@([^<]+)<\/b>/g)].map(([, name]) => name)
    expect(shown).toEqual(byName)
  })

  it('have one head on both pages, with the balance', async () => {
    const person = await makePerson(test, { name: 'Ada', points: 321n })
    const head = async (path: string) => {
      const { body } = await admin.get(path)
      return body.slice(body.indexOf('<div class="page-head">'), body.indexOf('<ul class="tabs">'))
    }
    const account = await head(pathOf(person))
    expect(account).toContain('321')
    expect(account).toContain('Ada')
    expect(await head(`/admin/wallets/${person.id}`)).toBe(account)
  })

  it('are found by part of name or address, or by number', async () => {
    const zoe = await makePerson(test, { username: 'zoe_', name: 'Zoë 100% Quill', email: 'quill@mail.test' })
    const zack = await makePerson(test, { username: 'zack', is_admin: true })
    await setRows(test, 'users', { id: zack.id }, { forum_id: 987654n, password_hash: null })
    const found = async (q: string, only = 'all') => {
      const { status, body } = await admin.get(`${LIST}?${new URLSearchParams({ q, status: only })}`)
      return [status, ...[zoe, zack].map((one) => body.includes(`href="${pathOf(one)}"`))]
    }
    expect(await found('zoe_')).toEqual([200, true, false])
    expect(await found('100% q')).toEqual([200, true, false])
    expect(await found('QUILL@MAIL')).toEqual([200, true, false])
    expect(await found(`@${zack.username}`)).toEqual([200, false, true])
    expect((await found(String(zack.id))).at(2)).toBe(true)
    expect(await found('987654')).toEqual([200, false, true])
    expect(await found('\\')).toEqual([200, false, false])
    expect(await found('9'.repeat(40))).toEqual([200, false, false])
    expect(await found('z', 'admins')).toEqual([200, false, true])
    expect(await found('z', 'barred')).toEqual([200, false, false])
    await act(zoe, 'suspend', { days: '1' })
    expect(await found('z', 'barred')).toEqual([200, true, false])
    expect(await found('', 'nonsense')).toEqual([200, true, true])
  })

  it('that are accounts of programs are on a list of their own, and found by name', async () => {
    const made = await admin.submit(await admin.get(LIST), `${LIST}/new`, {
      ...{ username: 'deploy-bot', trust_level: '0', is_service: 'on' },
    })
    expect(made.status).toBe(200)
    const { id } = await rowOf(test, 'users', { username: 'deploy-bot', is_service: true })
    const lists = async (asked: string) =>
      (await admin.get(`${LIST}?${asked}`)).body.includes(`href="${pathOf({ id })}"`)
    expect(await lists('')).toBe(false)
    expect(await lists('status=service')).toBe(true)
    expect(await lists('q=deploy')).toBe(true)
    expect((await admin.get(pathOf({ id }))).body).toContain(messages.en.members.service)
    expect(await trailOf({ id })).toMatchObject([{ action: 'account.created', detail: { is_service: true } }])
  })

  it('lead to what moves their points', async () => {
    const person = await makePerson(test, { points: 10n })
    const { body } = await admin.get(pathOf(person))
    const href = /href="(\/admin\/adjustments\?[^"]*)#points"/.exec(body)![1]!
    expect((await admin.get(href)).body).toContain(`name="username" value="${person.username}"`)
    const freeze = `/admin/wallets/${person.id}/freeze`
    const asked = await admin.submit(await admin.get(pathOf(person)), freeze, { reason: REASON })
    expect(await admin.submit(asked, freeze)).toMatchObject({ status: 303 })
    expect((await admin.get(pathOf(person))).body).toContain(`action="/admin/wallets/${person.id}/unfreeze"`)
  })

  it('go on page after page', async () => {
    const many = Array.from({ length: 51 }, (_, n) => ({ username: `paged${n}`, password_hash: 'x' }))
    await test.db.insertInto('users').values(many).execute()
    const first = await admin.get(`${LIST}?q=paged`)
    const next = /href="(\/admin\/members\?q=[^"]*before=\d+)"/.exec(first.body)![1]!.replace(/&amp;/g, '&')
    expect(first.body.match(/>@paged/g)).toHaveLength(50)
    const second = await admin.get(next)
    expect(second.body.match(/>@paged/g)).toHaveLength(1)
    expect(second.body).not.toMatch(/href="[^"]*before=/)
  })

  it('show their sessions, second factor, applications and what happened to the account', async () => {
    const person = await makePerson(test, { email: 'seen@mail.test' })
    const client = await protect(person)
    const refusal = { kind: 'sign_in_failed', user_id: person.id, address: '203.0.113.99' } as const
    await recordRefusal(test.db, { ...refusal, at: test.clock.now() })
    await obtainTokens(test, client, party)
    const { body } = await admin.get(pathOf(person))
    const { names, refusals } = messages.en.console.acts
    for (const part of [
      'seen@mail.test',
      messages.en.members.factorOn('', 10).split(';')[1]!,
      names['account.second_factor.on']!,
      refusals.sign_in_failed!,
      'sign_in_failed',
      '203.0.113.99',
      `/admin/apps/${party.client_id}`,
    ])
      expect([part, body.includes(part)]).toEqual([part, true])
  })

  it('show which applications and last orders are tests', async () => {
    const trial = await makeMerchant(test, { isTest: true })
    const live = await makeMerchant(test)
    const buyer = await makePerson(test, { points: 1_000n })
    await openPlayWallet(test.db, buyer.id)
    const [played, paid] = [await placeOrder(trial), await placeOrder(live)]
    for (const order of [played, paid]) await payOrder(test, order, buyer)
    const isMarked = async (person: Pick<Person, 'id'>, href: string) => {
      const { body } = await admin.get(pathOf(person))
      return new RegExp(`href="${href}">.*`).exec(body)![0].includes(messages.en.common.testMode)
    }
    expect(await isMarked(trial.owner, `/admin/payment-applications/${trial.payment_id}`)).toBe(true)
    expect(await isMarked(live.owner, `/admin/payment-applications/${live.payment_id}`)).toBe(false)
    expect(await isMarked(buyer, `/admin/orders/${played.transaction_id}`)).toBe(true)
    expect(await isMarked(buyer, `/admin/orders/${paid.transaction_id}`)).toBe(false)
  })
})

describe('a new local account', () => {
  it('gets a one-time password, shown once, and is written down', async () => {
    const make = async (username: string) =>
      admin.submit(await admin.get(LIST), `${LIST}/new`, { username, trust_level: '1' })
    const page = await make('Guest.1')
    expect(page.status).toBe(200)
    const password = /<code>([A-Za-z0-9]{16})</.exec(page.body)![1]!
    const row = await rowOf(test, 'users', { username: 'Guest.1' })
    expect(row).toMatchObject({ trust_level: 1, must_change_password: true, is_admin: false })
    const client = await signIn(test, 'guest.1', password)
    expect((await client.get('/account')).location).toMatch(/^\/account\/password/)
    expect(await trailOf(row)).toMatchObject([
      { action: 'account.created', actor_id: root.id, ip: '127.0.0.1' },
    ])
    expect((await withoutWriting(test, () => make('GUEST.1'))).status).toBe(409)
    // The same rule as for registration: no name that looks like another one.
    const hidden = ['root\u202e', 'ro\u200bot', 'r\u043eot']
    for (const bad of ['', 'ab', 'two words', 'x'.repeat(31), ...hidden, 'guest~1'])
      expect((await withoutWriting(test, () => make(bad))).status).toBe(400)
  })
})

describe('administrators', () => {
  it('act on members with a reason, in two steps', async () => {
    const alice = await makePerson(test)
    const fresh = (await admin.get(pathOf(alice))).form(pathOf(alice))
    for (const [wrong, status] of [
      [{ ...fresh, act: 'ban', reason: ' ', confirmed: 'yes' }, 400],
      [{ ...fresh, act: 'ban', reason: 'x'.repeat(501), confirmed: 'yes' }, 400],
      [{ ...fresh, act: 'suspend', days: '0', reason: 'x', confirmed: 'yes' }, 400],
      [{ ...fresh, act: 'suspend', reason: 'x', confirmed: 'yes' }, 400],
      [{ ...fresh, act: 'delete', reason: 'x', confirmed: 'yes' }, 400],
      // The first step changes nothing.
      [{ ...fresh, act: 'ban', reason: 'x' }, 200],
    ] as const) {
      const answer = await withoutWriting(test, () => admin.post(pathOf(alice), wrong))
      expect([wrong, answer.status]).toEqual([wrong, status])
    }
    expect(await userOf(alice)).toMatchObject({ is_banned: false, suspended_till: null })
  })

  it('are told when there is no such member', async () => {
    const { form_token = '' } = (await admin.get('/account/profile')).form('/language')
    for (const id of ['999999999', 'x', '9'.repeat(30)]) {
      expect([id, (await admin.get(`${LIST}/${id}`)).status]).toEqual([id, 404])
      for (const name of ['ban', 'suspend', 'reinstate', 'sign_out']) {
        const fields = { form_token, act: name, days: '3', reason: 'why', confirmed: 'yes' }
        const answer = await withoutWriting(test, () => admin.post(`${LIST}/${id}`, fields))
        expect([id, name, answer.status]).toEqual([id, name, 404])
      }
    }
    const alice = await makePerson(test)
    expect((await withoutWriting(test, () => act(alice, 'reset_factor'))).status).toBe(409)
    expect((await withoutWriting(test, () => act(alice, 'reinstate'))).status).toBe(409)
  })

  it('cannot bar themselves, and of two who bar each other one stays', async () => {
    for (const name of ['ban', 'suspend'])
      expect((await withoutWriting(test, () => act(root, name, { days: '3' }))).status).toBe(403)
    const boss = () => makePerson(test, { is_admin: true })
    const [one, two] = [await boss(), await boss()]
    const other = await anotherProcess(test)
    const ban = (deps: TestApp['deps'], actor: Person, person: Person) =>
      banMember(deps, { user_id: person.id, actor_id: actor.id, reason: 'race', ip: '::1' })
    const outcomes = await Promise.allSettled([ban(test.deps, one, two), ban(other.deps, two, one)])
    await other.close()
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect([await userOf(one), await userOf(two)].filter(({ is_banned }) => is_banned)).toHaveLength(1)
  })
})

describe('a member who is kept out', () => {
  it.each([
    ['suspend', 'account.suspended'],
    ['ban', 'account.banned'],
  ])('by %s stops at the next request, and returns when reinstated', async (name, action) => {
    const alice = await makePerson(test)
    const client = await alice.signIn()
    const tokens = await obtainTokens(test, client, party)
    const { code } = await authorize(client, party)
    expect((await act(alice, name, { days: '3' })).status).toBe(303)
    const other = await anotherProcess(test)
    const elsewhere = browser(other)
    for (const [cookie, value] of client.cookies) elsewhere.cookies.set(cookie, value)
    expect((await elsewhere.get('/account')).status).toBe(303)
    expect((await elsewhere.get(authorizationUrl(party))).location).toMatch(/^\/sign-in/)
    expect((await userinfo(other, tokens.access_token)).status).toBe(401)
    await other.close()
    expect((await refresh(test, party, tokens.refresh_token)).body).toMatchObject({ error: 'invalid_grant' })
    expect((await exchange(test, party, code)).body).toMatchObject({ error: 'invalid_grant' })
    await expect(alice.signIn()).rejects.toThrow('401')
    if (name === 'ban') expect((await withoutWriting(test, () => act(alice, name))).status).toBe(409)

    expect((await act(alice, 'reinstate')).status).toBe(303)
    expect((await client.get('/account')).status).toBe(200)
    expect((await userinfo(test, tokens.access_token)).status).toBe(200)
    const trail = await trailOf(alice)
    const how = { actor_id: root.id, ip: '127.0.0.1', detail: { reason: REASON } }
    expect(trail.at(0)).toMatchObject({ action, ...how })
    expect(trail.at(-1)).toMatchObject({ action: 'account.reinstated', actor_id: root.id })
  })

  it('for a time comes back by itself', async () => {
    const alice = await makePerson(test)
    await act(alice, 'suspend', { days: '3' })
    await expect(alice.signIn()).rejects.toThrow('401')
    test.clock.advance(3 * DAY_MS)
    await alice.signIn()
    admin = await root.signIn()
  })

  it('by the forum is reinstated there', async () => {
    const alice = await makePerson(test)
    await setRows(test, 'users', { id: alice.id }, { forum_id: 4321n, password_hash: null, is_banned: true })
    const due = { next_check_at: test.clock.now(), score_due_at: test.clock.now() }
    const forum = { user_id: alice.id, username: 'alice', is_banned: true, suspended_by: 'api' } as const
    await test.db
      .insertInto('forum_members')
      .values({ ...forum, ...due })
      .execute()
    expect((await withoutWriting(test, () => act(alice, 'reinstate'))).status).toBe(409)
    await setRows(test, 'forum_members', { user_id: alice.id }, { is_banned: false, suspended_by: null })
    expect((await act(alice, 'reinstate')).status).toBe(303)
    expect(await userOf(alice)).toMatchObject({ is_banned: false })
  })
})

it('signing out everywhere ends browsers, half sign-ins, codes and tokens only', async () => {
  const alice = await makePerson(test)
  const [phone, desk] = [await alice.signIn(), await alice.signIn()]
  const tokens = await obtainTokens(test, phone, party)
  const { code } = await authorize(desk, party)
  const expires_at = new Date(test.clock.now().getTime() + 60_000)
  const pending = { token_hash: Buffer.alloc(32, 7), amr: ['pwd'], return_to: '/', expires_at }
  await test.db
    .insertInto('pending_sign_ins')
    .values({ ...pending, user_id: alice.id })
    .execute()
  const bystander = await makePerson(test)
  const theirs = await obtainTokens(test, await bystander.signIn(), party)

  expect((await act(alice, 'sign_out')).status).toBe(303)
  expect([(await phone.get('/account')).status, (await desk.get('/account')).status]).toEqual([303, 303])
  expect((await userinfo(test, tokens.access_token)).status).toBe(401)
  expect((await refresh(test, party, tokens.refresh_token)).body).toMatchObject({ error: 'invalid_grant' })
  expect((await exchange(test, party, code)).body).toMatchObject({ error: 'invalid_grant' })
  expect(await sessionsOf(alice)).toEqual([])
  expect(await rowsOf(test, 'pending_sign_ins', { user_id: alice.id })).toEqual([])
  expect(await trailOf(alice)).toMatchObject([
    { action: 'account.signed_out', actor_id: root.id, detail: { sessions: 2, grants: 1 } },
  ])
  expect((await userinfo(test, theirs.access_token)).status).toBe(200)
  // The consent stays, as on the member's own page.
  const listed = [await admin.get(pathOf(alice)), await (await alice.signIn()).get('/account/applications')]
  for (const { body } of listed) expect(body).toContain(party.client_id)
})

it('an administrator turns off a lost second factor', async () => {
  const alice = await makePerson(test)
  await protect(alice)
  const client = browser(test)
  const { username, password } = alice
  const halfway = await client.submit(await client.get('/sign-in'), '/sign-in', { username, password })
  expect(halfway.location).toBe('/sign-in/second-factor')
  expect((await act(alice, 'reset_factor')).status).toBe(303)
  await alice.signIn()
  expect((await client.get('/account')).status).toBe(303)
  expect(await trailOf(alice)).toMatchObject([
    { action: 'account.second_factor.reset', actor_id: root.id, detail: { reason: REASON } },
  ])
})

it('an account is anonymised in two steps, and then offers no act', async () => {
  const person = await makePerson(test, { email: 'gone@mail.test' })
  expect((await act(person, 'anonymise')).status).toBe(303)
  expect((await userOf(person)).username).toBe(`deleted-${person.id}`)
  const detail = { reason: REASON, given_up: '0' }
  expect(await trailOf(person)).toMatchObject([{ action: 'account.anonymised', actor_id: root.id, detail }])
  const page = await admin.get(pathOf(person))
  expect(page.status).toBe(200)
  expect(page.body).not.toContain('name="act"')
  const rich = await makePerson(test, { points: 5n })
  const refused = await act(rich, 'anonymise')
  expect([refused.status, (await userOf(rich)).username]).toEqual([409, rich.username])
})
