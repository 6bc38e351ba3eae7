/**
 * The rights of each role in the team of a payment application, invitations, and the hand-over to a new owner.
 * spec/payment-api 1.5.
 */
import { sql } from 'kysely'
import { afterAll, describe, expect, it } from 'vitest'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { PENDING_APPS_MAX } from '../../src/payment/apps/apps.ts'
import { resetMerchantKey, rotateToken } from '../../src/payment/apps/key-changes.ts'
import { editPaymentApp } from '../../src/payment/apps/own-app.ts'
import { TEAM_MAX } from '../../src/payment/apps/team.ts'
import { createTestApp } from '../../src/payment/apps/test-apps.ts'
import { eventSecretsOf, setEventsUrl } from '../../src/payment/events/events.ts'
import { makePostTransfer } from '../../src/payment/orders/transfers.ts'
import { currentKey } from '../../src/payment/signing/keys.ts'
import { untilBlocked } from '../harness/blocked.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { makePerson, type Person, signIn } from '../harness/cast.ts'
import { makeShop, type Reply, secondsAt, send } from '../harness/gateway-shop.ts'
import { anotherProcess, type Browser, useTestApp } from '../harness/harness.ts'
import {
  handOver,
  type Merchant,
  makeMerchant,
  merchantSign,
  post,
  recipient,
  recipientFields,
} from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { makeGatewayOrders } from '../harness/notify-receiver.ts'
import { payOrder, placeOrder, refund } from '../harness/orders.ts'
import { rowOf, rowsOf, setRows } from '../harness/rows.ts'

const test = await useTestApp()
const shop = await makeMerchant(test)
const page = `/payment/applications/${shop.payment_id}`
afterAll(() => expectSoundBooks(test.db))

type Role = 'manager' | 'operator' | 'viewer'
/** Sends a form, and confirms it where the page asks first. */
const act = async (client: Browser, path: string, fields: Record<string, string> = {}) =>
  client.post(path, { ...(await client.get('/account')).form('/sign-out'), confirmed: 'yes', ...fields })

/** Invites a member, who accepts if `accepts`. */
async function invited(owner: Browser, at: string, role: Role, accepts = true) {
  const person = await makePerson(test, { username: role })
  const client = await person.signIn()
  expect((await act(owner, `${at}/team/invite`, { username: person.username, role })).status).toBe(303)
  if (accepts) expect((await act(client, `${at}/invitation/accept`)).status).toBe(303)
  return { person, client }
}
const rolesIn = async (app_id: bigint) =>
  test.db.selectFrom('payment_app_roles').where('app_id', '=', app_id).select(['user_id', 'role']).execute()
const ownerOf = async ({ id }: Merchant) =>
  (await rolesIn(id)).filter(({ role }) => role === 'owner').map(({ user_id }) => user_id)
const audited = async (payment_id: string) =>
  (await rowsOf(test, 'audit_log', { subject: payment_id })).map(({ action }) =>
    action.replace('payment_app.', ''),
  )

it('a right decides what the pages show', async () => {
  const owner = await shop.owner.signIn()
  const { client: viewer } = await invited(owner, page, 'viewer')
  const { client: manager } = await invited(owner, page, 'manager')
  const { merchant_key } = shop
  const key = /<code[^>]*>[A-Za-z0-9]{32}<\/code>/
  expect((await manager.get(`${page}/developers`)).body).not.toMatch(key)
  expect((await manager.get(`${page}/developers?show=key`)).body).toMatch(key)
  expect((await manager.get(`${page}/developers`)).body).toContain(`${page}/rotate`)
  expect((await viewer.get(`${page}/developers?show=key`)).status).toBe(403)
  const places = ['', '/settings', '/developers', '/team', '/notifications', '/orders']
  for (const path of ['/payment/applications', ...places.map((place) => page + place)]) {
    const { body } = await viewer.get(path)
    expect(body).not.toMatch(/<code[^>]*>[A-Za-z0-9]{32}<\/code>/)
    expect(body).not.toContain(merchant_key)
    for (const form of ['rotate', 'edit', 'reset-key', 'invite', 'redeliver-failed'])
      expect(body).not.toContain(`/${form}"`)
  }
})

describe('an invitation', () => {
  it('of a manager needs the owner’s word that keys are known', async () => {
    const seller = await makeMerchant(test)
    const at = `/payment/applications/${seller.payment_id}`
    const owner = await seller.owner.signIn()
    const isWarned = async () => (await owner.get(`${at}/team`)).body.includes(messages.en.team.knowsKeys)
    await invited(owner, at, 'operator')
    const { client } = await invited(owner, at, 'manager', false)
    expect(await isWarned()).toBe(false)
    await act(client, `${at}/invitation/accept`)
    expect(await isWarned()).toBe(true)
  })

  it('gives nothing before acceptance, and can be declined or withdrawn once', async () => {
    const seller = await makeMerchant(test)
    const at = `/payment/applications/${seller.payment_id}`
    const owner = await seller.owner.signIn()
    const { person, client } = await invited(owner, at, 'operator', false)
    expect(await rolesIn(seller.id)).toHaveLength(1)
    expect((await client.get('/payment/applications')).body).toContain(`${at}/invitation/accept`)
    expect((await act(client, `${at}/invitation/decline`)).status).toBe(303)
    expect((await act(client, `${at}/invitation/accept`)).status).toBe(404)

    const asked = { username: person.username.toUpperCase(), role: 'operator' }
    expect((await act(owner, `${at}/team/invite`, asked)).status).toBe(303)
    expect((await act(owner, `${at}/team/invite`, asked)).status).toBe(400)
    const { username } = person
    const question = await act(owner, `${at}/team/remove`, { username, confirmed: '' })
    expect(question.body).toContain(messages.en.team.ask.withdraw(username))
    expect((await act(owner, `${at}/team/remove`, asked)).status).toBe(303)
    const withdrawn = messages.en.team.done.withdrawn(asked.username)
    expect((await owner.get(`${at}/team`)).body).toContain(withdrawn)
    expect((await act(client, `${at}/invitation/accept`)).status).toBe(404)

    await act(owner, `${at}/team/invite`, asked)
    expect((await act(client, `${at}/invitation/accept`)).status).toBe(303)
    expect((await act(client, `${at}/invitation/decline`)).status).toBe(404)
    expect((await act(owner, `${at}/team/role`, { ...asked, role: 'viewer' })).status).toBe(303)
    expect(await rolesIn(seller.id)).toContainEqual({ user_id: person.id, role: 'viewer' })
    expect((await act(client, `${at}/team/leave`)).status).toBe(303)
    expect((await client.get(at)).status).toBe(404)
    expect(await audited(seller.payment_id)).toEqual(
      'apply approve invite decline_invitation invite remove_member invite join change_role leave'.split(' '),
    )
    for (const bad of [
      { username: person.username, role: 'owner' },
      { username: '', role: 'viewer' },
      { role: 'viewer' },
    ])
      expect((await act(owner, `${at}/team/invite`, bad as Record<string, string>)).status).toBe(400)
    expect(
      (await act(owner, `${at}/team/invite`, { username: seller.owner.username, role: 'viewer' })).status,
    ).toBe(400)
    test.clock.advance(11 * 60_000)
    expect((await act(owner, `${at}/team/invite`, asked)).status).toBe(409)
  })

  it('is one of so many, also at once, and never the owner’s', async () => {
    const seller = await makeMerchant(test)
    const at = `/payment/applications/${seller.payment_id}`
    const owner = await seller.owner.signIn()
    const people = await Promise.all(
      Array.from({ length: TEAM_MAX + 3 }, () => makePerson(test, { username: 'many' })),
    )
    const answers = await Promise.all(
      people.map(({ username }) => act(owner, `${at}/team/invite`, { username, role: 'viewer' })),
    )
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(TEAM_MAX)
    const member = { app_id: seller.id, user_id: seller.owner.id, role: 'viewer' as const }
    await expect(
      test.db
        .insertInto('payment_app_members')
        .values({ ...member, invited_by: seller.owner.id, invited_at: test.clock.now() })
        .execute(),
    ).rejects.toThrow(/no member of its team/)
  })
})

it('locks the member’s row before the application, as anonymising does', async () => {
  const seller = await makeMerchant(test)
  const owned = { payment_id: seller.payment_id, user_id: seller.owner.id, ip: '127.0.0.1' }
  await setRows(test, 'payment_apps', { id: seller.id }, { status: 'rejected', review_reason: 'x' })
  const edit = {
    ...{ name: 'Again', description: '', callback_url: seller.callbackUrl, homepage: '', logo_url: '' },
    ...{ notify_url: '', order_minutes: null, exchange_rate: '100', allowed_addresses: [] },
  }
  const waiting = await test.db.transaction().execute(async (tx) => {
    await sql`select from users where id = ${owned.user_id} for update`.execute(tx)
    const edited = editPaymentApp(test.deps, owned.payment_id, edit, owned)
    await untilBlocked(tx)
    await sql`select from payment_apps where id = ${seller.id} for update nowait`.execute(tx)
    return { edited }
  })
  await waiting.edited
  const { status } = await rowOf(test, 'payment_apps', { id: seller.id })
  expect(status).toBe('pending')
})

describe('an application that changes hands', () => {
  const points = (person: Person) => balanceOf(test.db, person.id)
  let orders = 0
  const buy = async (seller: Merchant, buyer: Browser, amount = '100') => {
    const { path, transaction_id } = await placeOrder(seller, { amount })
    expect((await buyer.submit(await buyer.get(path), path)).status).toBe(303)
    return transaction_id
  }

  it('leaves earlier takings and their refunds with the former owner', async () => {
    const seller = await makeMerchant(test)
    const at = `/payment/applications/${seller.payment_id}`
    const heir = await makePerson(test, { username: 'heir', trust_level: 1 })
    const buyer = await (await makePerson(test, { points: 1_000n })).signIn()
    const [owner, next] = [await seller.owner.signIn(), await heir.signIn()]
    // The new owner's role in the team ends with the hand-over, and so does that of all others.
    await act(owner, `${at}/team/invite`, { username: heir.username, role: 'viewer' })
    await act(next, `${at}/invitation/accept`)
    const { client: manager } = await invited(owner, at, 'manager')

    const before = await buy(seller, buyer)
    expect((await act(owner, `${at}/handover/offer`, { username: heir.username })).status).toBe(303)
    expect(await ownerOf(seller)).toEqual([seller.owner.id])
    expect((await owner.get(`${at}/handover`)).body).toContain(heir.username)
    const offer = await next.get(`${at}/handover`)
    expect(offer.body).toContain('former owner’s wallet')
    expect((await next.submit(offer, `${at}/handover/accept`)).status).toBe(303)

    expect(await rolesIn(seller.id)).toEqual([{ user_id: heir.id, role: 'owner' }])
    expect((await owner.get(at)).status).toBe(404)
    expect((await manager.get(at)).status).toBe(404)
    expect((await next.get(at)).status).toBe(200)
    const after = await buy(seller, buyer)
    expect([await points(seller.owner), await points(heir)]).toEqual([95n, 95n])
    await refund(test, { transaction_id: before }, 40n)
    await refund(test, { transaction_id: after }, 100n)
    expect([await points(seller.owner), await points(heir)]).toEqual([57n, 0n])

    // The new owner does not see the former owner's balance, only that it is too low.
    const other = await makeMerchant(test)
    await payOrder(test, await placeOrder(other, { amount: '20' }), seller.owner)
    const record = await next.get(`${at}/orders/${before}`)
    expect(record.body).toContain(messages.en.refundRequests.short)
    expect(record.body).not.toMatch(/\b37\b/)

    // Transfers come from the new owner: they may go to the former one, who could not transfer to themselves before.
    await buy(seller, buyer)
    const back = { ...recipientFields(seller.owner), amount: '10' }
    const send = (token: string) => {
      const fields = { ...back, order_id: 'hand-transfer' }
      return post(test, `/payment/transfer/${seller.payment_id}`, {
        ...fields,
        signature: merchantSign(token, fields),
      })
    }
    // A token that the former owner knows does not transfer, neither before its replacement nor within the overlap
    // after it.
    const expectHeld = async () => {
      const held = await send(seller.token)
      expect([held.status, held.body.errors]).toEqual([400, [expect.objectContaining({ code: 1009 })]])
      expect(JSON.stringify(held.body)).toContain('has a new owner')
      expect(await points(heir)).toBe(95n)
    }
    await expectHeld()
    expect((await next.get(`${at}/developers`)).body).toContain(messages.en.developers.formerOwners)
    const { location } = await act(next, `${at}/rotate`, { overlap_hours: '24' })
    const rotated = await next.get(location!)
    await expectHeld()
    expect((await seller.query({ transaction_id: before })).status).toBe(200)
    expect((await send(/\btk_[A-Za-z0-9]{40}\b/.exec(rotated.body)![0])).status).toBe(200)
    expect(await points(heir)).toBe(84n)
    expect((await next.get(`${at}/developers`)).body).not.toContain(messages.en.developers.formerOwners)
    // A request that was checked just before the hand-over and posted just after it does not transfer either.
    const late = { app_id: seller.id, order_id: 'late', from_user_id: seller.owner.id, amount: 10n }
    const to = recipient(seller.owner)
    await expect(makePostTransfer(test.deps)({ ...late, ...to })).rejects.toMatchObject({
      code: 'application_unusable',
    })
    expect(await points(heir)).toBe(84n)
    await expectSoundBooks(test.db)
    expect(await audited(seller.payment_id)).toEqual([
      'apply',
      'approve',
      'invite',
      'join',
      'invite',
      'join',
      'offer',
      'hand_over',
      'rotate_token',
    ])
  })

  it('loses its mark until its shown new owner is approved', async () => {
    const admin = await (await makePerson(test, { is_admin: true })).signIn()
    for (const approved of [true, false]) {
      const seller = await makeMerchant(test, { approved })
      const at = `/payment/applications/${seller.payment_id}`
      const review = `/admin/payment-applications/${seller.payment_id}`
      const heir = await makePerson(test, { username: 'heir', trust_level: 1 })
      const [owner, next] = [await seller.owner.signIn(), await heir.signIn()]
      const shown = await admin.get(review)
      await act(owner, `${at}/handover/offer`, { username: heir.username })
      await act(next, `${at}/handover/accept`)
      expect(await ownerOf(seller)).toEqual([heir.id])
      if (approved) {
        const { body } = await seller.process({ amount: '1', description: 'Tea', order_id: 'handed-over' })
        const page = await owner.get(new URL(String(body.payment_url)).pathname)
        expect(page.body).toContain(messages.en.common.changedSince)
      } else expect((await admin.submit(shown, `${review}/review`, { decision: 'approve' })).status).toBe(409)
      const seen = await admin.get('/admin/reviews')
      expect(seen.body).toContain(`@${heir.username}`)
      const queued = `/admin/reviews/${seller.payment_id}`
      expect((await admin.submit(seen, queued, { decision: 'approve' })).status).toBe(303)
    }
  })

  it('fills nobody’s places in the review beyond those that a member has', async () => {
    const seller = await makeMerchant(test, { approved: false })
    const at = `/payment/applications/${seller.payment_id}`
    const heir = await makePerson(test, { username: 'heir' })
    const [owner, next] = [await seller.owner.signIn(), await heir.signIn()]
    await sql`
      insert into payment_apps (payment_id, applicant_id, name, description, callback_url)
      select 'pay_' || lpad(${heir.id}::text || n, 20, 'q'), ${heir.id}, 'Mine', '', 'https://mine.example/'
      from generate_series(1, ${PENDING_APPS_MAX}::integer) as n`.execute(test.db)
    await act(owner, `${at}/handover/offer`, { username: heir.username })
    expect((await act(next, `${at}/handover/accept`)).status).toBe(409)
    expect(await ownerOf(seller)).toEqual([seller.owner.id])
    await setRows(
      test,
      'payment_apps',
      { applicant_id: heir.id },
      { status: 'rejected', reviewed_by: heir.id, reviewed_at: test.clock.now(), review_reason: 'No' },
    )
    expect((await act(next, `${at}/handover/accept`)).status).toBe(303)
  })

  it('moves only when the asked member accepts in time, and may', async () => {
    const seller = await makeMerchant(test)
    const at = `/payment/applications/${seller.payment_id}`
    const newcomer = await makePerson(test, { username: 'newcomer', trust_level: 0 })
    const heir = await makePerson(test, { username: 'heir' })
    const owner = await seller.owner.signIn()
    const next = await heir.signIn()
    const offer = (username: string) => act(owner, `${at}/handover/offer`, { username })

    for (const username of [newcomer.username, seller.owner.username, 'nobody'])
      expect((await offer(username)).status).toBe(400)
    expect((await offer(heir.username)).status).toBe(303)
    for (const stranger of [await newcomer.signIn(), owner])
      expect((await act(stranger, `${at}/handover/accept`)).status).toBe(404)
    expect((await act(next, `${at}/handover/decline`)).status).toBe(303)
    expect((await act(next, `${at}/handover/accept`)).status).toBe(404)

    await offer(heir.username)
    expect((await act(owner, `${at}/handover/withdraw`)).status).toBe(303)
    expect((await act(next, `${at}/handover/accept`)).status).toBe(404)

    await offer(heir.username)
    await setRows(test, 'users', { id: heir.id }, { trust_level: 0 })
    expect((await act(next, `${at}/handover/accept`)).status).toBe(403)
    await setRows(test, 'users', { id: heir.id }, { trust_level: 1 })
    const suspend = (status: 'suspended' | 'approved') =>
      setRows(test, 'payment_apps', { id: seller.id }, { status })
    await suspend('suspended')
    expect((await act(next, `${at}/handover/accept`)).status).toBe(409)
    expect((await offer(heir.username)).status).toBe(409)
    await suspend('approved')
    const bar = (is_banned: boolean) => setRows(test, 'users', { id: seller.owner.id }, { is_banned })
    await bar(true)
    expect((await act(next, `${at}/handover/accept`)).status).toBe(409)
    await bar(false)
    test.clock.advance(7 * 86_400_000)
    const late = await heir.signIn()
    expect((await act(late, `${at}/handover/accept`)).status).toBe(404)
    // The sign-in is old, and an offer requires a recent one.
    expect((await offer(heir.username)).status).toBe(409)
    expect(await ownerOf(seller)).toEqual([seller.owner.id])
  })

  it('tells an old key nothing of the new owner’s wallet', async () => {
    const seller = await makeShop(test)
    const heir = await makePerson(test, { points: 700n })
    await handOver(test, seller, heir)

    const moneyByKey = async (key: string) => {
      const fields = { act: 'query', pid: seller.pidText, key }
      return ((await send(test, 'POST', '/payment/api/api.php', fields)).json() as Reply).money
    }
    const told = async (path: string) => {
      const fields = seller.signRsa({ pid: seller.pidText, timestamp: secondsAt(test) })
      return (await send(test, 'POST', `/payment/api/${path}`, fields)).json() as Reply
    }
    expect(await moneyByKey(seller.merchant_key)).toBe('0.00')
    expect(await told('merchant/info')).toMatchObject({ code: 0, money: '0.00' })
    expect(await told('transfer/balance')).toMatchObject({ code: 0, available_money: '0.00' })
    await resetMerchantKey(test.deps, seller.payment_id, { user_id: heir.id, ip: '127.0.0.1' })
    expect(await moneyByKey(await currentKey(test.deps, seller.id, 'merchant_key'))).toBe('7.00')
    // The other key is still that of the former owner.
    expect(await told('merchant/info')).toMatchObject({ money: '0.00' })
  })

  it('lists nothing since the hand-over to a key from before', async () => {
    const seller = await makeShop(test)
    const heir = await makePerson(test, { points: 1_000n })
    const actor = { user_id: heir.id, ip: '127.0.0.1' }
    const buyer = await makePerson(test, { points: 1_000n })
    const place = async () => (await placeOrder(seller)).transaction_id
    const pay = (transaction_id: string) => payOrder(test, { transaction_id }, buyer)
    const trades = (count: number) =>
      makeGatewayOrders(test, seller, { count, notify_url: 'http://127.0.0.1:9/' })
    const signed = async (path: string, token: string, fields: Record<string, string>) => {
      const signature = merchantSign(token, fields)
      return (await post(test, `/payment/${path}/${seller.payment_id}`, { ...fields, signature })).body
    }
    const transfer = async (token: string) => {
      const to = recipientFields(buyer)
      const body = await signed('transfer', token, { ...to, amount: '10', order_id: `told-${++orders}` })
      return String(body.transaction_id)
    }
    const listed = async (what: 'orders' | 'transfers', token: string, fields = {}) => {
      const { data } = await signed(what, token, fields)
      return (data as unknown as { transaction_id: string }[]).map((row) => row.transaction_id)
    }
    const byKey = async (what: string, key: string) => {
      const fields = { act: what, pid: seller.pidText, key }
      return (await send(test, 'POST', '/payment/api/api.php', fields)).json() as Reply
    }
    const byRsa = async (path: string) => {
      const fields = seller.signRsa({ pid: seller.pidText, timestamp: secondsAt(test) })
      return (await send(test, 'POST', `/payment/api/merchant/${path}`, fields)).json() as Reply
    }

    const [sold, open] = [await place(), await place()]
    const [soldTrade, openTrade] = await trades(2)
    await pay(sold)
    await pay(soldTrade!)
    const sent = await transfer(seller.token)
    test.clock.advance(1_000)
    await handOver(test, seller, heir)
    test.clock.advance(1_000)
    const [later] = [await place(), await trades(1)]
    for (const each of [open, openTrade!, later]) await pay(each)
    const { token } = await rotateToken(test.deps, seller.payment_id, 24, actor)
    const sentLater = await transfer(token)

    expect(await listed('orders', seller.token)).toEqual([sold])
    expect(await listed('orders', token)).toEqual([later, open, sold])
    expect(await listed('transfers', seller.token)).toEqual([sent])
    expect(await listed('transfers', token)).toEqual([sentLater, sent])
    const until = secondsAt(test, 60)
    expect(await listed('transfers', seller.token, { until, order: 'asc' })).toEqual([sent])
    // The shop goes on, so it confirms its sales by a number that it knows.
    expect((await seller.query({ transaction_id: later })).body).toMatchObject({ status: 'completed' })

    const told = { count: 1, data: [expect.objectContaining({ status: 1 })] }
    expect(await byKey('orders', seller.merchant_key)).toMatchObject(told)
    expect(await byRsa('orders')).toMatchObject(told)
    expect(await byKey('query', seller.merchant_key)).toMatchObject({ orders: 1, order_today: 1 })
    expect(await byRsa('info')).toMatchObject({ order_num: 1, order_money_today: '1.00' })
    await resetMerchantKey(test.deps, seller.payment_id, actor)
    const key = await currentKey(test.deps, seller.id, 'merchant_key')
    expect(await byKey('orders', key)).toMatchObject({ count: 3 })
    expect(await byKey('query', key)).toMatchObject({ orders: 2 })
  })

  it('ends the events of the former owner', async () => {
    const seller = await makeMerchant(test)
    const heir = await makePerson(test)
    const buyer = await (await makePerson(test, { points: 1_000n })).signIn()
    const [giver, taker] = [seller.owner, heir].map(({ id }) => ({ user_id: id, ip: '127.0.0.1' }))
    const url = 'http://127.0.0.1:9/events'
    const secret = await setEventsUrl(test.deps, seller.payment_id, url, giver!)
    await setRows(test, 'payment_apps', { id: seller.id }, { notify_url: url })
    await buy(seller, buyer)
    await handOver(test, seller, heir)
    await buy(seller, buyer)

    const addresses = await rowOf(test, 'payment_apps', { id: seller.id })
    expect(addresses).toMatchObject({ events_url: null, notify_url: null })
    expect(await eventSecretsOf(test.db, seller.id, test.clock.now())).toEqual([])
    // Waiting events end too, and the second sale causes none.
    const told = test.db.selectFrom('notifications').where('app_id', '=', seller.id).select('status')
    expect(await told.execute()).toEqual([{ status: 'failed' }])
    const another = await setEventsUrl(test.deps, seller.payment_id, url, taker!)
    expect(another).toMatch(/^whsec_/)
    expect(another).not.toBe(secret)
    await buy(seller, buyer)
    expect(await told.orderBy('id').execute()).toEqual([{ status: 'failed' }, { status: 'due' }])
  })

  it('has no test application made for it by a former owner', async () => {
    const seller = await makeMerchant(test)
    const stranger = await makePerson(test)
    const facts = { name: 'Twin', description: '', callback_url: seller.callbackUrl, ip: '127.0.0.1' }
    // As after a hand-over while the keys were made.
    await expect(
      createTestApp(test.deps, { ...facts, applicant_id: stranger.id, live_app_id: seller.id }),
    ).rejects.toMatchObject({ code: 'not_found' })
  })

  it('has one owner at every moment, with payments in two processes', async () => {
    const seller = await makeMerchant(test)
    const at = `/payment/applications/${seller.payment_id}`
    const other = await anotherProcess(test)
    const heir = await makePerson(test, { username: 'heir' })
    const owner = await seller.owner.signIn()
    const next = await signIn(other, heir.username, heir.password)
    const buyers = await Promise.all(
      Array.from({ length: 12 }, async () => (await makePerson(test, { points: 100n })).signIn()),
    )
    await act(owner, `${at}/handover/offer`, { username: heir.username })
    const offered = (await next.get(`${at}/handover`)).form(`${at}/handover/accept`)
    const paying = buyers.map((buyer) => buy(seller, buyer))
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => next.post(`${at}/handover/accept`, offered)),
    )
    await Promise.all(paying)
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1)
    expect(await ownerOf(seller)).toEqual([heir.id])
    expect((await points(seller.owner)) + (await points(heir))).toBe(12n * 95n)
    const sold = await rowsOf(test, 'orders', { app_id: seller.id })
    const paidToHeir = sold.filter(({ payee_id }) => payee_id === heir.id).length
    expect(await points(heir)).toBe(95n * BigInt(paidToHeir))
    await expectSoundBooks(other.db)
  })
})
