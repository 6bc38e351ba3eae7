/**
 * Test mode: everything of the test book works as in the live book, and no live point, journal or figure changes.
 * spec/payment-api 6.2.
 */
import { randomInt, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { proveBooks } from '../../src/ledger/books.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { applicationsOf } from '../../src/payment/apps/apps.ts'
import { resetMerchantKey, rotateToken } from '../../src/payment/apps/key-changes.ts'
import { reviewQueue } from '../../src/payment/apps/review.ts'
import { TEST_APPS_MAX } from '../../src/payment/apps/test-apps.ts'
import { setEventsUrl } from '../../src/payment/events/events.ts'
import { expireOrders } from '../../src/payment/orders/orders.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { makeCreateOrder } from '../../src/payment/orders/place.ts'
import { refundOrder, reverseTransfer } from '../../src/payment/orders/refunds.ts'
import { openPlayWallet, refillPlayPoints } from '../../src/payment/orders/test-mode.ts'
import { makePostTransfer } from '../../src/payment/orders/transfers.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { makePerson, type Person } from '../harness/cast.ts'
import { type Fields, makeShop, secondsAt, send } from '../harness/gateway-shop.ts'
import { anotherProcess, type Browser, setSetting, useTestApp } from '../harness/harness.ts'
import { type Merchant, makeMerchant, recipientFields } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { startReceiver, succeed } from '../harness/notify-receiver.ts'
import { payOrder, placeOrder } from '../harness/orders.ts'
import { rowOf, rowsOf } from '../harness/rows.ts'
import { times } from '../harness/thoroughness.ts'
import { until } from '../harness/waiting.ts'

const PLAY_POINTS = 1_000_000n
const MINUTE_MS = 60_000
const ACTS = times(100, 100)

const receiver = await startReceiver()
const test = await useTestApp({ NOTIFY_ALLOW_CIDRS: '127.0.0.0/8' })
test.startNotifier()
const live = await makeMerchant(test)
const tester = await makeMerchant(test, { twinOf: live })
const buyer = await makePerson(test, { points: 5_000n })
const admin = await makePerson(test, { username: 'admin', is_admin: true })
await sell(live, buyer)
afterAll(async () => {
  await expectSoundBooks(test.db)
  await receiver.close()
})

/** Everything that must not change: every row of the live ledger, and every figure made from it. */
async function liveThings() {
  const { rows } = await sql<Record<string, unknown>>`
    select
      (select jsonb_agg(a order by id) from ledger_accounts a where book = 'live') as accounts,
      (select jsonb_agg(j order by id) from journal j where book = 'live') as journals,
      (select jsonb_agg(e order by id) from entries e where book = 'live') as entries,
      (select jsonb_agg(o order by id) from orders o where book = 'live') as orders,
      (select jsonb_agg(t order by id) from transfers t where book = 'live') as transfers,
      (select jsonb_agg(d) from payment_app_days d where book = 'live') as days`.execute(test.db)
  const { held } = await proveBooks(test.db)
  const apps = await applicationsOf(test.deps, live.owner.id)
  const takings = apps
    .filter(({ book }) => book === 'live')
    .map(({ payment_id, takings: sum }) => [payment_id, sum])
  return { ...rows[0]!, held, takings }
}

async function createOrder(of: Merchant, amount = 100): Promise<string> {
  return (await placeOrder(of, { amount: String(amount), order_id: randomUUID() })).transaction_id
}

async function sell(of: Merchant, by: Person, amount = 100): Promise<string> {
  const transaction_id = await createOrder(of, amount)
  await payOrder(test, { transaction_id }, by)
  return transaction_id
}

const orderRow = (transaction_id: string) => rowOf(test, 'orders', { transaction_id })

describe('a test application', () => {
  it('is made by any member, unreviewed, with marked credentials', async () => {
    const newcomer = await makePerson(test, { username: 'newcomer', trust_level: 0 })
    const browser = await newcomer.signIn()
    const path = '/payment/applications'
    const fields = { name: 'Tea', description: '', callback_url: 'http://127.0.0.1:9/paid' }
    const list = await browser.get(path)
    expect((await browser.submit(list, path, fields)).status).toBe(403)
    const { location } = await browser.submit(list, path, { ...fields, book: 'test' })
    const made = await browser.get(location!)
    expect(made.status).toBe(200)
    for (const shape of [/pay_test[a-z0-9]{16}</, /tk_test[A-Za-z0-9]{36}</, /<code[^>]*>9000000\d\d</])
      expect(made.body).toMatch(shape)
    expect((await browser.get(path)).body).toContain(`class="tag warn">${messages.en.common.testMode}`)
    expect(await reviewQueue(test.db, 0n, 1)).toEqual([])
    const [{ payment_id } = { payment_id: '' }] = await applicationsOf(test.deps, newcomer.id)
    const page = await browser.get(`${path}/${payment_id}`)
    expect(page.body).toContain('test-mark"')
    // New keys have the prefix too.
    const actor = { user_id: newcomer.id, ip: '' }
    expect((await rotateToken(test.deps, payment_id, 0, actor)).token).toMatch(/^tk_test[A-Za-z0-9]{36}$/)
    await resetMerchantKey(test.deps, payment_id, actor)
    const card = await browser.get(`${path}/${payment_id}/developers?show=key`)
    expect(card.body).toMatch(/>test[A-Za-z0-9]{28}</)
    const rest = Array.from({ length: TEST_APPS_MAX + 2 }, () =>
      browser.submit(list, path, { ...fields, book: 'test' }),
    )
    const statuses = (await Promise.all(rest)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 303)).toHaveLength(TEST_APPS_MAX - 1)
    expect(statuses.filter((status) => status === 409)).toHaveLength(3)
  })

  it('stands beside a live one, once, made by its owner', async () => {
    const seller = await makeMerchant(test)
    const path = `/payment/applications/${seller.payment_id}`
    const browser = await seller.owner.signIn()
    const page = await browser.get(`${path}/settings`)
    expect((await browser.submit(page, `${path}/test`)).status).toBe(303)
    expect((await browser.submit(page, `${path}/test`)).status).toBe(409)
    const [twin, original] = await applicationsOf(test.deps, seller.owner.id)
    expect(twin).toMatchObject({ book: 'test', status: 'approved', name: original!.name })
    expect((await browser.get(path)).body).toContain(`href="/payment/applications/${twin!.payment_id}"`)
    const settings = `/payment/applications/${twin!.payment_id}/settings`
    expect((await browser.get(settings)).body).toContain(`href="${path}"`)
  })

  it('follows the live one to another owner, and is otherwise no twin', async () => {
    const seller = await makeMerchant(test)
    const path = `/payment/applications/${seller.payment_id}`
    const owner = await seller.owner.signIn()
    await owner.submit(await owner.get(`${path}/settings`), `${path}/test`)
    const [twin] = await applicationsOf(test.deps, seller.owner.id)
    const twinPath = `/payment/applications/${twin!.payment_id}`
    const give = async (at: string, from: Browser, to: Person) => {
      const next = await to.signIn()
      const offer = { username: to.username, confirmed: 'yes' }
      await from.submit(await from.get(`${at}/handover`), `${at}/handover/offer`, offer)
      await next.submit(await next.get(`${at}/handover`), `${at}/handover/accept`)
      return next
    }

    const heir = await makePerson(test, { username: 'heir' })
    const inherited = await give(path, owner, heir)
    expect((await applicationsOf(test.deps, heir.id)).map(({ payment_id }) => payment_id)).toEqual([
      twin!.payment_id,
      seller.payment_id,
    ])
    expect(await applicationsOf(test.deps, seller.owner.id)).toEqual([])
    expect((await inherited.get(`${path}/settings`)).body).toContain(`href="${twinPath}"`)
    expect((await owner.get(twinPath)).status).toBe(404)
    for (const subject of [seller.payment_id, twin!.payment_id])
      expect(await rowsOf(test, 'audit_log', { subject, action: 'payment_app.hand_over' })).toHaveLength(1)

    await give(twinPath, inherited, await makePerson(test, { username: 'tester' }))
    const left = await inherited.get(`${path}/settings`)
    expect(left.body).not.toContain(twin!.payment_id)
    expect(left.form(`${path}/test`)).toBeDefined()
  })
})

describe('in test mode', () => {
  let before: Awaited<ReturnType<typeof liveThings>>
  beforeEach(async () => {
    before = await liveThings()
  })
  const expectNothingLiveMoved = async () => expect(await liveThings()).toEqual(before)

  it('a member without points pays an HMAC order and returns signed', async () => {
    const poor = await makePerson(test, { username: 'poor', trust_level: 0 })
    const browser = await poor.signIn()
    const created = await tester.process({ amount: '100', description: 'Tea', order_id: 'try-1' })
    expect(created.body).toMatchObject({ success: true })
    const path = new URL(String(created.body.payment_url)).pathname
    const page = await browser.get(path)
    expect(page.body).toContain('test-mark"')
    expect(page.body).toContain('1,000,000')
    const paid = await browser.submit(page, path)
    expect(paid.status).toBe(303)
    expect(await tester.receive(paid.location!)).toMatchObject({
      isGenuine: true,
      fields: { amount: '100', platform_fee: '5', merchant_points: '95', status: 'completed' },
    })
    const receipt = (await browser.get(path)).body
    expect(receipt).toContain('test-mark"')
    const { testMode, testModeMark, colon } = messages.en.common
    expect(receipt).toContain(`<footer class="soft tiny"><p>${testMode}${colon}${testModeMark}</p>`)
    expect((await browser.get('/account/payments')).body).toContain(messages.en.common.testMode)
    // Its wallet has a page of its own, which names the book.
    const play = await browser.get('/account?book=test&q=tea')
    expect(play.body).toContain(`<h1>${messages.en.account.testWallet}<`)
    expect(play.body).toMatch(/test-mark"[\s\S]*999,900[\s\S]*Tea[\s\S]*−100/)
    expect(play.form('/account')).toEqual({ book: 'test' })
    expect((await browser.get('/account?book=test')).body).toContain('+1,000,000')
    const wallet = (await browser.get('/account')).body
    expect(wallet).toContain('href="/account?book=test"')
    expect(wallet).not.toMatch(/test-mark"|>Tea</)
    const { body } = await tester.query({ order_id: 'try-1' })
    expect(body).toMatchObject({ status: 'completed' })
    expect(await balanceOf(test.db, poor.id, 'test')).toBe(PLAY_POINTS - 100n)
    expect(await balanceOf(test.db, poor.id)).toBe(0n)
    // The same number at the live application is another order, and neither sees the other's.
    expect((await live.query({ order_id: 'try-1' })).status).toBe(400)
    await expectNothingLiveMoved()
  })

  it('orders of both doors have an hourly limit, live ones none', async () => {
    const shop = await makeShop(test, { isTest: true })
    const set = (value: string) => setSetting(test, 'limit_test_orders', value)
    await set('2')
    const order = (order_id: string) => shop.process({ amount: '1', description: 'Tea', order_id })
    const trade = (fields: Fields) => send(test, 'POST', '/payment/api/mapi.php', shop.signMd5(fields))
    const sale = shop.trade()
    const sold = await order('limited')
    expect(sold.status).toBe(200)
    expect((await trade(sale)).json()).toMatchObject({ code: 1 })
    expect(await order('beyond')).toMatchObject({ status: 429, body: { errors: [{ code: 1029 }] } })
    expect((await trade(shop.trade())).statusCode).toBe(429)
    // A repeated request opens nothing new.
    expect(await order('limited')).toEqual(sold)
    expect((await trade(sale)).json()).toMatchObject({ code: 1 })
    await set('1000')
    await expectNothingLiveMoved()
    await set('1')
    for (let i = 0; i < 3; i += 1) await createOrder(live)
    await set('1000')
  })

  it('transfers move play points, and a live application shows none of them', async () => {
    const to = recipientFields(buyer)
    const { body } = await tester.transfer({ ...to, amount: '250', order_id: 'gift' })
    expect(body).toMatchObject({ success: true, amount: 250 })
    expect((await tester.transfer({ ...to, amount: '250', order_id: 'gift' })).body).toEqual(body)
    expect(await balanceOf(test.db, buyer.id, 'test')).toBe(PLAY_POINTS + 250n)
    await reverseTransfer(test.deps, {
      transaction_id: String(body.transaction_id),
      with_fee: true,
      reason: 'A test',
      actor_id: admin.id,
      ip: '',
    })
    expect(await balanceOf(test.db, buyer.id, 'test')).toBe(PLAY_POINTS)
    await expectNothingLiveMoved()
  })

  it.each(['v1', 'v2'] as const)(
    'a gateway trade is paid and notified in play points (%s)',
    async (version) => {
      const shop = await makeShop(test, { isTest: true })
      expect(shop.pid).toBeGreaterThan(900_000_000n)
      const fields = shop.trade({ notify_url: `${receiver.url}/${version}` })
      const { payurl, pay_info } = await shop.create(version, fields)
      const path = new URL(String(payurl ?? pay_info)).pathname
      const browser = await buyer.signIn()
      expect((await browser.submit(await browser.get(path), path)).status).toBe(303)
      await until(() => receiver.received.some((request) => request.path === `/${version}`))
      const { pidText: pid, merchant_key: key } = shop
      const byKey = async (asked: Record<string, string>) =>
        (await send(test, 'POST', '/payment/api/api.php', { pid, key, ...asked })).json()
      const byRsa = async (path: string, asked: Record<string, string>) => {
        const signed = shop.signRsa({ pid, timestamp: secondsAt(test), ...asked })
        return (await send(test, 'POST', `/payment/api/${path}`, signed)).json()
      }
      const info = await (version === 'v1' ? byKey({ act: 'query' }) : byRsa('merchant/info', {}))
      // The initial play points of the wallet, and 990 from the sale less the fee of 49.
      expect(info).toMatchObject({ money: '10009.41' })
      const out_trade_no = fields.out_trade_no!
      const trade = await (version === 'v1'
        ? byKey({ act: 'order', out_trade_no })
        : byRsa('pay/query', { out_trade_no }))
      expect(trade).toMatchObject({ out_trade_no, status: 1 })
      await expectNothingLiveMoved()
    },
  )

  it('wallets open once with play points, and refill when asked', async () => {
    const other = await anotherProcess(test)
    const people = await Promise.all(Array.from({ length: 6 }, () => makePerson(test, { username: 'eve' })))
    const shops = await Promise.all([1, 2].map(() => makeMerchant(test, { isTest: true })))
    const orders = await Promise.all(
      people.flatMap((person) => shops.map(async (shop) => ({ person, id: await createOrder(shop) }))),
    )
    const processes = [makePayOrder(test.deps), makePayOrder(other.deps)]
    const outcomes = await Promise.all(
      orders.flatMap(({ person, id: transaction_id }, i) => [
        processes[i % 2]!({ transaction_id, payer_id: person.id, expected_amount: 100n }),
        openPlayWallet(test.db, person.id),
        refillPlayPoints(test.deps, person.id),
      ]),
    )
    expect(outcomes.filter((outcome) => outcome === 'paid')).toHaveLength(orders.length)
    for (const { id } of people) await refillPlayPoints(test.deps, id)
    const balances = await Promise.all(people.map(({ id }) => balanceOf(test.db, id, 'test')))
    expect(balances).toEqual(people.map(() => PLAY_POINTS))
    await other.close()
    await expectNothingLiveMoved()
  })
})

describe('a forced outcome', () => {
  const openPage = async (of: Merchant) => {
    const transaction_id = await createOrder(of)
    const path = `/payment/pay/${transaction_id}`
    const browser = await buyer.signIn()
    return { transaction_id, path, browser, page: await browser.get(path) }
  }
  const notificationOf = async (transaction_id: string) =>
    rowOf(test, 'notifications', { order_id: (await orderRow(transaction_id)).id, kind: 'order.paid' })
  const attemptsOf = async (transaction_id: string) =>
    rowsOf(test, 'notification_attempts', { notification_id: (await notificationOf(transaction_id)).id })
  const heard = (transaction_id: string) =>
    receiver.received.filter(({ path }) => path === `/${transaction_id}`).length
  /** Opens a trade whose notifications go to a path of the receiver that names the order. */
  async function openTrade() {
    const opened = await openPage(tester)
    await setEventsUrl(test.deps, tester.payment_id, `${receiver.url}/${opened.transaction_id}`, {
      user_id: tester.owner.id,
      ip: '',
    })
    return { ...opened, page: await opened.browser.get(opened.path) }
  }

  it('lets the time to pay be over at once', async () => {
    const { transaction_id, path, browser, page } = await openPage(tester)
    expect((await browser.submit(page, `${path}/test`, { outcome: 'expired' })).status).toBe(303)
    const trail = await rowsOf(test, 'audit_log', { subject: path.split('/').pop()! })
    expect(trail.map(({ action }) => action)).toEqual(['test_order.expire'])
    expect((await browser.submit(page, path)).status).toBe(409)
    expect(await orderRow(transaction_id)).toMatchObject({ status: 'expired', paid_at: null })
  })

  it('keeps notification and return back until the schedule goes on', async () => {
    receiver.answer = succeed
    const { transaction_id, path, browser, page } = await openTrade()
    const answer = await browser.submit(page, `${path}/test`, { outcome: 'notify_refused' })
    expect(answer).toMatchObject({ status: 303, location: path })
    await until(async () => (await attemptsOf(transaction_id)).length === 1)
    expect(await attemptsOf(transaction_id)).toMatchObject([{ outcome: 'refused', detail: 'test mode' }])
    expect(heard(transaction_id)).toBe(0)
    test.clock.advance(MINUTE_MS)
    test.deps.notifier.nudge()
    await until(async () => (await attemptsOf(transaction_id)).length === 2)
    expect(heard(transaction_id)).toBe(1)
    expect(await orderRow(transaction_id)).toMatchObject({ status: 'paid' })
  })

  it('notifies late', async () => {
    const { transaction_id, path, browser, page } = await openTrade()
    const answer = await browser.submit(page, `${path}/test`, { outcome: 'notify_slow' })
    expect(answer.location).toContain('/paid?')
    const { next_attempt_at } = await notificationOf(transaction_id)
    expect(next_attempt_at!.getTime() - test.clock.now().getTime()).toBe(20_000)
    test.clock.advance(20_000)
    test.deps.notifier.nudge()
    await until(() => heard(transaction_id) === 1)
  })

  it('notifies twice', async () => {
    const { transaction_id, path, browser, page } = await openTrade()
    await browser.submit(page, `${path}/test`, { outcome: 'notify_twice' })
    await until(async () => (await attemptsOf(transaction_id)).length === 1)
    expect(heard(transaction_id)).toBe(2)
    expect(await attemptsOf(transaction_id)).toMatchObject([{ outcome: 'delivered' }])
  })

  it('is a late or second notification only where the door notifies', async () => {
    const shop = await makeShop(test, { isTest: true })
    const offered = async (transaction_id: string) => {
      const { body } = await (await buyer.signIn()).get(`/payment/pay/${transaction_id}`)
      expect(body).toContain('value="expired"')
      return ['notify_slow', 'notify_twice'].filter((outcome) => body.includes(`value="${outcome}"`))
    }
    const byGateway = async (notify_url: string) => {
      const fields = shop.trade({ notify_url })
      expect(await shop.create('v1', fields)).toMatchObject({ code: 1 })
      return (await rowOf(test, 'orders', { order_id: fields.out_trade_no! })).transaction_id
    }
    expect(await offered(await createOrder(shop))).toEqual([])
    expect(await offered(await byGateway(receiver.url))).toEqual(['notify_slow', 'notify_twice'])
    const actor = { user_id: shop.owner.id, ip: '' }
    await setEventsUrl(test.deps, shop.payment_id, receiver.url, actor)
    expect(await offered(await createOrder(shop))).toEqual(['notify_slow', 'notify_twice'])
    // Events tell of orders of the HMAC API only, so an order of the gateway without an address is told to nobody.
    expect(await offered(await byGateway(''))).toEqual([])
  })

  it('fills up the play points', async () => {
    await openPlayWallet(test.db, buyer.id)
    await refillPlayPoints(test.deps, buyer.id)
    await sell(tester, buyer, 900_000)
    const { path, browser } = await openPage(tester)
    const short = `/payment/pay/${await createOrder(tester, 200_000)}`
    const page = await browser.get(short)
    const fields = { ...page.form(`${short}/test`), expected_amount: '200000' }
    expect((await browser.post(short, fields)).status).toBe(409)
    // The main button, in place of one that could not pay.
    expect(page.body).toContain(`<button class="primary block big" name="outcome" value="refill">`)
    expect((await browser.submit(page, `${short}/test`, { outcome: 'refill' })).status).toBe(303)
    expect((await browser.submit(await browser.get(short), short)).status).toBe(303)
    expect(
      (await browser.submit(await browser.get(path), `${path}/test`, { outcome: 'nonsense' })).status,
    ).toBe(404)
  })

  it('is not to be had for a live order', async () => {
    const { transaction_id, path, browser, page } = await openPage(live)
    expect(page.body).not.toContain(`${path}/test`)
    for (const outcome of ['expired', 'notify_refused', 'refill'])
      expect((await browser.post(`${path}/test`, { ...page.form(path), outcome })).status).toBe(404)
    expect(await orderRow(transaction_id)).toMatchObject({ status: 'unpaid', forced: null })
    expect((await browser.submit(page, path)).status).toBe(303)
  })
})

describe('the database', () => {
  const refused = async (statement: ReturnType<typeof sql>, constraint: string) => {
    await expect(statement.execute(test.db)).rejects.toMatchObject({ constraint })
  }

  it('refuses one book under the other’s application, order or account', async () => {
    const transaction_id = await sell(tester, buyer)
    const order = await orderRow(transaction_id)
    const unpaid = await createOrder(live)
    await refused(sql`update orders set book = 'live' where transaction_id = ${transaction_id}`, 'orders_app')
    await refused(
      sql`update orders set journal_id = (select max(id) from journal where book = 'live' and kind = 'grant')
        where transaction_id = ${transaction_id}`,
      'orders_journal',
    )
    await refused(sql`update orders set book = 'test' where transaction_id = ${unpaid}`, 'orders_app')
    await refused(
      sql`update orders set forced = 'notify_slow' where transaction_id = ${unpaid}`,
      'orders_forced',
    )
    await refused(sql`update payment_apps set book = 'test' where id = ${live.id}`, 'payment_apps_test_mark')
    await refused(sql`update payment_apps set book = 'live' where id = ${tester.id}`, 'payment_apps_reviewed')
    await refused(
      sql`update payment_apps set book = 'live', live_app_id = null, reviewed_by = ${admin.id}, reviewed_at = now()
        where id = ${tester.id}`,
      'payment_app_keys_app',
    )
    await refused(
      sql`update payment_app_keys set book = 'live' where app_id = ${tester.id}`,
      'payment_app_keys_app',
    )
    await refused(
      sql`insert into refunds (order_id, book, amount, fee_part, reason, actor_id, refunded_at, journal_id)
        values (${order.id}, 'live', 1, 0, 'x', ${admin.id}, now(), ${order.journal_id})`,
      'refunds_book',
    )
    const wallets = sql`
      select id from ledger_accounts where user_id = ${buyer.id} and kind = 'wallet' order by book`
    for (const book of ['live', 'test'])
      await refused(
        sql`select post_journals('adjustment', 'x', array[row(
          ${book}::text, ${randomUUID()}::text, null, now(), (${wallets} limit 1), (${wallets} offset 1), null, 1, 0
        )::posting])`,
        'entries_account',
      )
    // The doors do not need the book of their application.
    const placed = await makeCreateOrder(test.deps)({
      app_id: tester.id,
      order_id: randomUUID(),
      description: 'Tea',
      amount: 1n,
    })
    expect(placed.book).toBe('test')
  })

  it(`${ACTS} random acts of test mode leave every live row alone`, async () => {
    // All members have live points too, and the tester also sells live, so a mistake would show.
    const people = await Promise.all(
      [1, 2, 3].map(() => makePerson(test, { username: 'eve', points: 10_000n })),
    )
    await Promise.all(people.map((person) => sell(live, person)))
    const [pay, transfer] = [makePayOrder(test.deps), makePostTransfer(test.deps)]
    const before = await liveThings()
    const seen: string[] = []
    const transfers: string[] = []
    const any = <Item>(list: Item[]) => list[randomInt(list.length)]!
    const outcomes: string[] = []
    const acts: (() => Promise<unknown>)[] = [
      async () => seen.push(await createOrder(tester, randomInt(1, 400_000))),
      async () => {
        const transaction_id = any(seen)
        const { amount } = await orderRow(transaction_id)
        return pay({ transaction_id, payer_id: any([...people, tester.owner]).id, expected_amount: amount })
      },
      async () => {
        const { id: to_user_id, username: to_username } = any(people)
        const amount = BigInt(randomInt(1, 20_000))
        const made = await transfer({
          app_id: tester.id,
          order_id: randomUUID(),
          to_user_id,
          to_username,
          amount,
        })
        return transfers.push(made.transaction_id)
      },
      async () => {
        const transaction_id = any(seen)
        const act = { transaction_id, reason: 'A test', actor_id: admin.id, ip: '', key: randomUUID() }
        return refundOrder(test.deps, {
          ...act,
          amount: BigInt(randomInt(1, 1_000)),
          with_fee: randomInt(2) === 0,
        })
      },
      async () => {
        const act = { transaction_id: any(transfers), reason: 'A test', actor_id: admin.id, ip: '' }
        return reverseTransfer(test.deps, { ...act, with_fee: randomInt(2) === 0 })
      },
      () => refillPlayPoints(test.deps, any(people).id),
      async () => {
        const browser = await any(people).signIn()
        const path = `/payment/pay/${any(seen)}`
        const outcome = any(['expired', 'notify_refused', 'notify_slow', 'notify_twice', 'refill'])
        const page = await browser.get(path)
        return page.body.includes(`${path}/test`) && browser.submit(page, `${path}/test`, { outcome })
      },
      async () => expireOrders(test.deps),
    ]
    for (let i = 0; i < ACTS; i += 1) {
      const act = i < 5 ? acts[0]! : i < 8 ? acts[2]! : any(acts)
      // A refusal must move nothing either.
      outcomes.push(
        await act().then(
          () => 'done',
          (error: { code?: string }) => error.code ?? String(error),
        ),
      )
    }
    expect(outcomes.filter((outcome) => outcome === 'done').length).toBeGreaterThan(ACTS / 3)
    expect(
      outcomes.filter((outcome) => !/^(done|conflict|not_found|insufficient_points)$/.test(outcome)),
    ).toEqual([])
    expect(await liveThings()).toEqual(before)
    const { play } = await proveBooks(test.db)
    expect(play.wallets + play.fees).toBe(play.issued)
    expect(play.issued).toBeGreaterThan(0n)
  })
})
