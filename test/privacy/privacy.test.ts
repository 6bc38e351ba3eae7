/**
 * The export of a member's data, and the rest after the anonymisation: the books and a number, but no way to sign in.
 * spec/accounts 1.4.
 */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { saveMember } from '../../src/accounts/forum/members.ts'
import { checkNextMember } from '../../src/accounts/forum-sync/sweep.ts'
import { reinstateMember } from '../../src/accounts/members.ts'
import { createUser } from '../../src/accounts/people/users.ts'
import { issueLink } from '../../src/accounts/security/account-links.ts'
import { newSid } from '../../src/accounts/session/session.ts'
import { freezeWallet, unfreezeWallet } from '../../src/admin/points/freezes.ts'
import { grantPoints } from '../../src/ledger/points.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { reviewPaymentApp } from '../../src/payment/apps/review.ts'
import { acceptInvitation, inviteMember, leaveTeam } from '../../src/payment/apps/team.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { askRefund, withdrawRefundRequest } from '../../src/payment/orders/refund-requests.ts'
import { refundOrder } from '../../src/payment/orders/refunds.ts'
import { anonymise, obstaclesOf } from '../../src/privacy/anonymise.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { makePerson, type Person, signIn } from '../harness/cast.ts'
import { signInAtForum, startTestForum } from '../harness/fake-forum.ts'
import { anotherProcess, browser, startTestApp, useTestApp } from '../harness/harness.ts'
import { type Merchant, makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { rowOf, setRows } from '../harness/rows.ts'
import { authorize, exchange, makeParty, obtainTokens, refresh, userinfo } from '../identity/relying-party.ts'

const t = messages.en.ownData.obstacles

const PAGE = '/account/data'
const DAY_MS = 86_400_000
const IP = '203.0.113.9'

const test = await useTestApp()
const root = await makePerson(test, { username: 'root', is_admin: true })
const shop = await makeMerchant(test)

const userOf = (id: bigint) => rowOf(test, 'users', { id })
const leave = ({ id }: Pick<Person, 'id'>, give_up = 0n, on = test) =>
  anonymise(on.deps, { user_id: id, actor_id: id, reason: 'test', ip: IP, give_up })
const obstacles = async ({ id }: Person) => (await obstaclesOf(test.db, id, test.clock.now())).obstacles
const pay = (transaction_id: string, payer: Person, amount: bigint, on = test) =>
  makePayOrder(on.deps)({ transaction_id, payer_id: payer.id, expected_amount: amount })

let orders = 0
async function orderAt(seller: Merchant, amount: string): Promise<string> {
  orders += 1
  const { status, body } = await seller.process({ amount, description: 'A thing', order_id: `p${orders}` })
  expect(status).toBe(200)
  return String(body.transaction_id)
}

/** The tables with a row that contains the text. */
async function whereIs(text: string): Promise<string[]> {
  const tables = await test.db.introspection.getTables()
  const found = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows } =
        await sql`select from ${sql.table(name)} as each where each::text ilike ${`%${text}%`} limit 1`.execute(
          test.db,
        )
      return rows.length > 0 ? [name] : []
    }),
  )
  return found.flat().sort()
}

describe('a member who leaves', () => {
  it('reads the consequences, gives up points, and leaves the books whole', async () => {
    const alice = await makePerson(test, {
      username: 'wonderland',
      points: 100n,
      name: 'Alice Liddell',
      email: 'liddell@mail.test',
      groups: ['chess'],
    })
    const client = await alice.signIn()
    const party = await makeParty(test)
    const tokens = await obtainTokens(test, client, party)
    expect(await pay(await orderAt(shop, '30'), alice, 30n)).toBe('paid')
    await shop.transfer({
      to_user_id: String(alice.id),
      to_username: alice.username,
      amount: '5',
      order_id: 'gift',
    })
    await browser(test).post('/sign-in', { username: alice.username, password: 'guess' })
    await test.db.transaction().execute((tx) =>
      issueLink(tx, {
        user_id: alice.id,
        purpose: 'sign_in',
        email: '',
        expires_at: new Date(test.clock.now().getTime() + DAY_MS),
      }),
    )

    const page = await client.get(PAGE)
    expect(page.status).toBe(200)
    expect(page.body).toContain('75')
    const refused = await client.submit(page, `${PAGE}/close`, { username: alice.username })
    expect([refused.status, (await userOf(alice.id)).username]).toEqual([409, alice.username])
    const told = await client.submit(page, `${PAGE}/close`, { give_up: '75' })
    expect(told.status).toBe(200)
    expect(told.body).toContain('75')
    const mistyped = await client.submit(told, `${PAGE}/close`, { username: 'another' })
    expect([mistyped.status, (await userOf(alice.id)).username]).toEqual([400, alice.username])
    const done = await client.submit(mistyped, `${PAGE}/close`, { username: alice.username })
    expect(done.status).toBe(200)
    expect(done.headers['set-cookie']).toBeDefined()

    expect(await userOf(alice.id)).toMatchObject({
      username: `deleted-${alice.id}`,
      name: null,
      email: null,
      password_hash: null,
      is_banned: true,
      anonymised_at: test.clock.now(),
    })
    // A transfer keeps the name that its sender gave.
    expect(await whereIs('wonderland')).toEqual(['transfers'])
    expect(await whereIs('liddell')).toEqual([])
    for (const table of [
      'sessions',
      'grants',
      'consents',
      'account_links',
      'user_groups',
      'security_events',
    ] as const)
      expect(
        await test.db.selectFrom(table).where('user_id', '=', alice.id).select('user_id').execute(),
        table,
      ).toEqual([])
    expect(await balanceOf(test.db, alice.id)).toBe(0n)
    await expectSoundBooks(test.db)
    expect((await userinfo(test, tokens.access_token)).status).toBe(401)
    expect((await refresh(test, party, tokens.refresh_token)).body.error).toBe('invalid_grant')
    await expect(signIn(test, alice.username, alice.password)).rejects.toThrow('401')
    await expect(signIn(test, `deleted-${alice.id}`, alice.password)).rejects.toThrow('401')
    const { rows } = await sql<{ action: string }>`
      select action from audit_log where subject = ${`user:${alice.id}`} order by id desc limit 1`.execute(
      test.db,
    )
    expect(rows).toEqual([{ action: 'account.anonymised' }])

    const seller = await shop.owner.signIn()
    const list = (await seller.get(`/payment/applications/${shop.payment_id}/transfers`)).body
    expect(list).toContain(`deleted-${alice.id}`)
    expect(list).not.toContain('wonderland')
    const statement = (await seller.get('/account')).body
    expect(statement).toContain(`deleted-${alice.id}`)
    expect(statement).not.toContain('wonderland')
  })

  it('leaves a name that no other member gets or takes before', async () => {
    const alice = await makePerson(test)
    await leave(alice)
    const take = (username: string) => createUser(test.db, { username, password_hash: 'x' })
    await expect(take(alice.username.toUpperCase())).rejects.toMatchObject({ code: 'conflict' })
    await expect(take('Deleted-99')).rejects.toMatchObject({ code: 'conflict' })
    // A transfer does not reach the account by the old name or by the neutral name.
    const before = await balanceOf(test.db, shop.owner.id)
    for (const to_username of [alice.username, `deleted-${alice.id}`]) {
      const fields = {
        to_user_id: String(alice.id),
        to_username,
        amount: '1',
        order_id: `to ${to_username}`.replace(' ', '-'),
      }
      expect((await shop.transfer(fields)).body.errors).toMatchObject([{ code: 1014 }])
    }
    expect(await balanceOf(test.db, shop.owner.id)).toBe(before)
  })

  it('cannot be anonymised again, reinstated, given points or refunded', async () => {
    const alice = await makePerson(test, { points: 10n })
    const transaction_id = await orderAt(shop, '10')
    expect(await pay(transaction_id, alice, 10n)).toBe('paid')
    await leave(alice)
    await expect(leave(alice)).rejects.toMatchObject({ code: 'conflict' })
    const by = { user_id: alice.id, actor_id: root.id, reason: 'x', ip: IP }
    await expect(reinstateMember(test.deps, by)).rejects.toMatchObject({ code: 'conflict' })
    const posting = { ...by, amount: 1n, reference: 'late', now: test.clock.now() }
    await expect(grantPoints(test.db, posting)).rejects.toMatchObject({ code: 'not_found' })
    const refund = {
      transaction_id,
      amount: 10n,
      with_fee: true,
      key: 'late',
      reason: 'x',
      actor_id: root.id,
      ip: IP,
    }
    await expect(refundOrder(test.deps, refund)).rejects.toMatchObject({ code: 'conflict' })
    await expectSoundBooks(test.db)
  })
})

describe('what stands in the way', () => {
  const expectRefused = async (person: Person, ...names: string[]) => {
    expect(await obstacles(person)).toEqual(names)
    const before = await userOf(person.id)
    await expect(leave(person)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(names.join(', ')),
    })
    expect(await userOf(person.id)).toEqual(before)
  }

  it('of a merchant: payable or refundable orders, and requested refunds', async () => {
    const seller = await makeMerchant(test)
    const { owner, payment_id } = seller
    const buyer = await makePerson(test, { points: 50n })
    const transaction_id = await orderAt(seller, '40')
    await expectRefused(owner, 'open_orders')
    expect(await pay(transaction_id, buyer, 40n)).toBe('paid')
    const actor = { user_id: owner.id, ip: IP }
    await askRefund(test.deps, payment_id, { transaction_id, amount: 10n, reason: 'x' }, actor)
    await expectRefused(owner, 'points', 'refundable_orders', 'refund_requests')
    await expectRefused(buyer, 'points', 'refund_requests')
    await withdrawRefundRequest(test.deps, payment_id, transaction_id, actor)
    test.clock.advance(31 * DAY_MS)
    await expectRefused(owner, 'points')
    // The number must be neither smaller nor larger than the balance.
    for (const wrong of [37n, 39n])
      await expect(leave(owner, wrong)).rejects.toMatchObject({ code: 'conflict' })
    const addresses = { events_url: 'https://shop.example/events', notify_url: 'https://shop.example/notify' }
    await test.db.updateTable('payment_apps').where('payment_id', '=', payment_id).set(addresses).execute()
    await leave(owner, 38n)

    const app = await rowOf(test, 'payment_apps', { payment_id }, ['status', 'events_url', 'notify_url'])
    expect(app).toEqual({ status: 'suspended', events_url: null, notify_url: null })
    const late = await seller.process({ amount: '1', description: 'x', order_id: 'late' })
    expect(late.body.success ?? false).toBe(false)
    const review = { payment_id, decision: 'reinstate', reason: '', reviewer_id: root.id } as const
    await expect(reviewPaymentApp(test.deps, review)).rejects.toMatchObject({ code: 'conflict' })
    await expectSoundBooks(test.db)
  })

  it('of a member: team role, application, frozen wallet, or moving points', async () => {
    const bob = await makePerson(test)
    const owner = { user_id: shop.owner.id, ip: IP }
    await inviteMember(test.deps, shop.payment_id, { username: bob.username, role: 'viewer' }, owner)
    expect(await obstacles(bob)).toEqual([])
    await acceptInvitation(test.deps, shop.payment_id, { user_id: bob.id, ip: IP })
    const { client_id } = await makeParty(test)
    await setRows(test, 'oauth_apps', { client_id }, { owner_id: bob.id })
    const { body } = await (await bob.signIn()).get(PAGE)
    expect(body).toContain(`${t.oauth_apps} <a href="/apps">`)
    expect(body).toContain(`${t.team_roles} <a href="/payment/applications">`)
    await freezeWallet(test.deps, bob.id, { reason: 'x', actor_id: root.id, ip: IP })
    const day = test.clock.now().toISOString().slice(0, 10)
    const score = { user_id: bob.id, score: 5n, imported_on: day, pending_amount: 5n }
    await test.db.insertInto('forum_scores').values(score).execute()
    await expectRefused(bob, 'points_coming', 'frozen', 'team_roles', 'oauth_apps')
    await leaveTeam(test.deps, shop.payment_id, { user_id: bob.id, ip: IP })
    await unfreezeWallet(test.deps, bob.id, { reason: 'x', actor_id: root.id, ip: IP })
    await test.db.deleteFrom('oauth_apps').where('owner_id', '=', bob.id).execute()
    await setRows(test, 'forum_scores', { user_id: bob.id }, { pending_amount: null })
    await leave(bob)
  })

  it('of the last administrator: of two who leave at once, one stays', async () => {
    const own = await startTestApp()
    const pair = await Promise.all([makePerson(own, { is_admin: true }), makePerson(own, { is_admin: true })])
    const outcomes = await Promise.allSettled(pair.map((admin) => leave(admin, 0n, own)))
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const admins = await own.db.selectFrom('users').where('is_admin', '=', true).select('id').execute()
    expect(admins.length).toBe(1)
    await own.close()
  })
})

describe('the database', () => {
  it('gives an anonymised account no sign-in, and no membership again', async () => {
    const { id } = await makePerson(test)
    await leave({ id })
    const [at, hash] = [test.clock.now(), sql`sha256(random()::text::bytea)`]
    const app = sql`(select min(id) from payment_apps)`
    const attempts = [
      sql`insert into sessions (token_hash, sid, user_id, auth_time, amr, ip, agent, expires_at)
        values (${hash}, ${newSid()}, ${id}, ${at}, '{}', '', '', ${at})`,
      sql`insert into pending_sign_ins (token_hash, user_id, amr, return_to, expires_at) values (${hash}, ${id}, '{}', '/', ${at})`,
      sql`insert into account_links (token_hash, user_id, purpose, email, expires_at)
        values (${hash}, ${id}, 'sign_in', '', ${at})`,
      sql`insert into second_factors (user_id, secret_encrypted, last_step) values (${id}, '', 0)`,
      sql`insert into user_groups (user_id, name, from_forum) values (${id}, 'x', true)`,
      sql`insert into consents (app_id, user_id, scopes) select min(id), ${id}, '{}' from oauth_apps`,
      sql`insert into authorization_codes
          (code_hash, app_id, user_id, redirect_uri, redirect_uri_sent, scopes, auth_time, amr, expires_at)
        select ${hash}, min(id), ${id}, 'https://app.example/callback', true, '{}', ${at}, '{}', ${at} from oauth_apps`,
      sql`insert into grants (app_id, user_id, scopes, auth_time, amr, expires_at)
        select min(id), ${id}, '{}', ${at}, '{}', ${at} from oauth_apps`,
      sql`insert into forum_members (user_id, username, next_check_at, score_due_at) values (${id}, 'x', ${at}, ${at})`,
      sql`insert into forum_scores (user_id, score, imported_on) values (${id}, 0, '2026-01-01')`,
      sql`insert into alerts (user_id, app_id, kind, cause, facts, raised_at)
        values (${id}, ${app}, 'invited', '', '{}', ${at})`,
      sql`insert into order_views (user_id, order_id, viewed_at) select ${id}, min(id), ${at} from orders`,
      sql`insert into outgoing_mails (user_id, recipient, kind, subject, sent_at) values (${id}, '', '', '', ${at})`,
      sql`insert into payment_app_offers (app_id, from_user_id, to_user_id, offered_at, expires_at)
        values (${app}, ${root.id}, ${id}, ${at}, ${at})`,
      sql`insert into payment_app_members (app_id, user_id, role, invited_by, invited_at)
        values (${app}, ${id}, 'viewer', ${root.id}, ${at})`,
      sql`update payment_apps set applicant_id = ${id} where id = ${app}`,
      sql`update oauth_apps set owner_id = ${id}`,
      sql`update users set anonymised_at = null where id = ${id}`,
      sql`update users set anonymised_at = null, username = 'again' where id = ${id}`,
      sql`update users set password_hash = 'x' where id = ${id}`,
      sql`update users set email = 'x@y' where id = ${id}`,
      sql`update users set forum_id = 1 where id = ${id}`,
      sql`update users set is_banned = false where id = ${id}`,
      sql`update users set username = 'somebody' where id = ${id}`,
      sql`update ledger_accounts set balance = 1 where user_id = ${id}`,
      sql`delete from former_usernames`,
    ]
    await makeParty(test)
    await orderAt(shop, '1')
    for (const attempt of attempts)
      await expect(attempt.execute(test.db), attempt.compile(test.db).sql).rejects.toThrow(
        /is anonymised|users_anonymised|users_neutral_name|closed_is_empty|append-only/,
      )
  })
})

describe('at the same moment', () => {
  it('a payment is whole or absent, and points go one way', async () => {
    const second = await anotherProcess(test)
    for (let round = 0; round < 8; round += 1) {
      const buyer = await makePerson(test, { points: 40n })
      const transaction_id = await orderAt(shop, '40')
      const [paid, gone] = await Promise.allSettled([
        pay(transaction_id, buyer, 40n, second),
        leave(buyer, 40n),
      ])
      // The first act takes the points, and none are left for the second.
      const isPaid = paid.status === 'fulfilled' && paid.value === 'paid'
      expect([isPaid, gone.status]).toEqual(isPaid ? [true, 'rejected'] : [false, 'fulfilled'])
      expect(await balanceOf(test.db, buyer.id)).toBe(0n)
    }
    await second.close()
    await expectSoundBooks(test.db)
  })

  it('a sign-in and the exchange of a code leave nothing that opens', async () => {
    const second = await anotherProcess(test)
    const party = await makeParty(test)
    for (let round = 0; round < 5; round += 1) {
      const person = await makePerson(test)
      const client = await person.signIn()
      const { code } = await authorize(client, party)
      await Promise.allSettled([
        signIn(second, person.username, person.password),
        exchange(second, party, code),
        leave(person),
      ])
      expect((await userOf(person.id)).anonymised_at).not.toBeNull()
      for (const table of ['sessions', 'grants', 'authorization_codes'] as const)
        expect(
          await test.db.selectFrom(table).where('user_id', '=', person.id).select('id').execute(),
          table,
        ).toEqual([])
    }
    await second.close()
  })
})

it('a returning forum member is new; old answers create none', async () => {
  const forum = await startTestForum()
  const own = await startTestApp(forum.env)
  const member = forum.join()
  await signInAtForum(own, forum, member)
  const old = await own.db
    .selectFrom('users')
    .where('forum_id', 'is not', null)
    .selectAll()
    .executeTakeFirstOrThrow()
  await leave({ id: old.id }, 0n, own)
  expect(await checkNextMember(own.deps)).toBe(false)
  const user = {
    forum_id: old.forum_id!,
    username: old.username,
    name: null,
    is_admin: false,
    is_moderator: false,
    trust_level: 1,
    silenced_till: null,
    suspended_till: null,
    groups: [],
  }
  const facts = { user, hasApi: true, aliases: new Map(), now: own.clock.now() }
  expect(await own.db.transaction().execute((tx) => saveMember(tx, facts))).toBeUndefined()
  expect((await own.db.selectFrom('users').select('id').execute()).length).toBe(1)

  const { page } = await signInAtForum(own, forum, member)
  expect(page.status).toBe(303)
  const rows = await own.db.selectFrom('users').orderBy('id').select(['id', 'username', 'forum_id']).execute()
  expect(rows).toEqual([
    { id: old.id, username: `deleted-${old.id}`, forum_id: null },
    { id: rows[1]!.id, username: `${old.username}~${old.forum_id}`, forum_id: old.forum_id },
  ])
  await own.close()
  await forum.close()
})

describe('what is taken out', () => {
  it('is complete, the member’s alone, without secrets, bounded and logged', async () => {
    const seller = await makeMerchant(test)
    const { owner } = seller
    await grantPoints(test.db, {
      user_id: owner.id,
      amount: 1_000n,
      reference: 'export',
      reason: 'Welcome',
      actor_id: root.id,
      now: test.clock.now(),
    })
    const buyer = await makePerson(test, { points: 50n, email: 'buyer@mail.test' })
    const transaction_id = await orderAt(seller, '40')
    await pay(transaction_id, buyer, 40n)
    await seller.transfer({
      to_user_id: String(buyer.id),
      to_username: buyer.username,
      amount: '5',
      order_id: 'gift',
    })
    await sql`insert into security_events (kind, user_id, address, network, at)
      select 'form_refused', ${owner.id}, '192.0.2.7', '192.0.2.7', ${test.clock.now()} from generate_series(1, 1201)`.execute(
      test.db,
    )

    const client = await owner.signIn()
    const page = await client.get(PAGE)
    const answer = await client.submit(page, `${PAGE}/export`)
    expect(answer.status).toBe(200)
    expect(answer.headers['content-disposition']).toBe(`attachment; filename="tessera-${owner.id}.json"`)
    const data = JSON.parse(answer.body)
    expect(data).toMatchObject({
      format: 'tessera-member-1',
      exported_at: test.clock.now().toISOString(),
      profile: { id: Number(owner.id), username: owner.username, has_password: true },
      forum: null,
      second_factor: null,
      sessions: [{ methods: ['pwd'] }],
      own_payment_applications: [{ payment_id: seller.payment_id, status: 'approved' }],
      orders_sold: [{ transaction_id, amount: 40, fee: 2, merchant_points: 38, status: 'paid' }],
      orders_bought: [],
      transfers: [{ amount: 5, from_username: owner.username, to_username: buyer.username }],
    })
    expect(
      data.wallet_entries.map(({ kind, amount }: { kind: string; amount: number }) => [kind, amount]),
    ).toEqual([
      ['grant', 1_000],
      ['payment', 38],
      ['transfer', -6],
    ])
    expect(data.security_events.length).toBe(1_201)
    expect(data.audit.at(-1)).toMatchObject({ action: 'account.exported', by: 'member' })
    for (const secret of [
      'buyer@mail.test',
      seller.token,
      seller.merchant_key,
      'argon2',
      'token_hash',
      'encrypted',
    ])
      expect(answer.body).not.toContain(secret)

    const asBuyer = await buyer.signIn()
    const bought = JSON.parse((await asBuyer.submit(await asBuyer.get(PAGE), `${PAGE}/export`)).body)
    expect(bought.orders_bought).toMatchObject([{ transaction_id, amount: 40, status: 'paid' }])
    expect(bought.transfers).toMatchObject([{ amount: 5, order_id: null, fee: null }])

    for (let count = 1; count < 5; count += 1) await client.submit(page, `${PAGE}/export`)
    expect((await client.submit(page, `${PAGE}/export`)).status).toBe(429)
    test.clock.advance(3_600_000)
    expect((await client.get(PAGE)).location).toContain('/sign-in')
    expect((await client.submit(page, `${PAGE}/export`)).status).toBe(409)
  })
})
