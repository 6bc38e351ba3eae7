/**
 * What the owner of a payment application sets for its orders, and what its orders make of it.
 * spec/payment-api 1.3 and 1.6.
 */
import { afterAll, describe, expect, it } from 'vitest'
import { applyFromTest, goingLiveOf } from '../../src/payment/apps/go-live.ts'
import { rotateToken } from '../../src/payment/apps/key-changes.ts'
import { MessageV2 } from '../../src/payment/gateway/shapes.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { makePerson } from '../harness/cast.ts'
import { type Fields, makeShop } from '../harness/gateway-shop.ts'
import { setSetting, useTestApp } from '../harness/harness.ts'
import { makeMerchant, merchantSign, settingsForm } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { rowOf, rowsOf, setRows } from '../harness/rows.ts'

const t = messages.en

const test = await useTestApp({ NOTIFY_ALLOW_CIDRS: '127.0.0.0/8' })
const shop = await makeShop(test)
const alice = await makePerson(test, { points: 1_000_000n })
const owner = await shop.owner.signIn()
const pay = makePayOrder(test.deps)
const settings = `/payment/applications/${shop.payment_id}/settings`
const edit = `/payment/applications/${shop.payment_id}/edit`
afterAll(() => expectSoundBooks(test.db))

const { trade } = shop
const createV1 = (fields: Fields) => shop.create('v1', fields)
const createV2 = (fields: Fields) => shop.create('v2', fields)
const orderOf = (order_id: string) => rowOf(test, 'orders', { order_id })

/** The settings of the shop, as its owner types them. */
const typed = settingsForm({ callback_url: shop.callbackUrl })

/** Sends the form of the settings page, with these changes. */
async function saveSettings(changes: Fields) {
  return owner.submit(await owner.get(settings), edit, { ...typed, ...changes })
}

describe('the notification address of an application', () => {
  const own = 'https://shop.example/own?shop=7'

  it('is used by new orders of both versions without a notify_url', async () => {
    expect((await saveSettings({ notify_url: own })).status).toBe(303)
    const [first, second, third] = [trade({ notify_url: '' }), trade({ notify_url: ' ' }), trade()]
    third.notify_url = 'https://shop.example/of-the-order'
    expect(await createV1(first)).toMatchObject({ code: 1 })
    expect(await createV1(second)).toMatchObject({ code: 1 })
    expect(await createV2(third)).toMatchObject({ code: 0 })
    const fourth = trade({ notify_url: '' })
    expect(await createV2(fourth)).toMatchObject({ code: 0 })
    const addresses = [first, second, third, fourth].map(async ({ out_trade_no }) => orderOf(out_trade_no!))
    expect((await Promise.all(addresses)).map(({ notify_url }) => notify_url)).toEqual([
      own,
      own,
      third.notify_url,
      own,
    ])
    expect((await owner.get(settings)).body).toContain(own)
  })

  it('is not used by orders of the HMAC API', async () => {
    const { body } = await shop.process({ amount: '5', description: 'Tea', order_id: 'hmac-1' })
    expect(body).toMatchObject({ success: true })
    expect((await orderOf('hmac-1')).notify_url).toBeNull()
  })

  it('is refused when it is no address', async () => {
    const refused = await saveSettings({ notify_url: 'ftp://shop.example/' })
    expect(refused.status).toBe(400)
    expect(refused.body).toContain(t.paymentApps.problems.notify_url)
  })

  it('may be absent: nobody is notified, and the query tells', async () => {
    expect((await saveSettings({ notify_url: '' })).status).toBe(303)
    const fields = trade({ notify_url: '', money: '1.00' })
    expect(await createV1(fields)).toMatchObject({ code: 1 })
    const { transaction_id, notify_url, id } = await orderOf(fields.out_trade_no!)
    expect(notify_url).toBeNull()
    const paid = await pay({ transaction_id, payer_id: alice.id, expected_amount: 100n })
    expect(paid).toBe('paid')
    expect(await rowsOf(test, 'notifications', { order_id: id })).toEqual([])
    const { pid, out_trade_no } = fields
    const path = `/payment/api/api.php?act=order&pid=${pid}&key=${shop.merchant_key}&out_trade_no=${out_trade_no}`
    expect((await test.app.inject({ url: path })).json()).toMatchObject({ code: 1, status: 1 })
    const page = await owner.get(`/payment/applications/${shop.payment_id}/orders/${transaction_id}`)
    expect(page.body).toContain(t.merchantOrders.byQueryOnly)
  })
})

describe('the life of an application’s orders', () => {
  const MINUTE_MS = 60_000
  /** The minutes that remain for paying. */
  const leftOf = async (order_id: string) =>
    ((await orderOf(order_id)).expires_at.getTime() - test.clock.now().getTime()) / MINUTE_MS

  it.each(['4', '31', '0', '-5', '5.5', 'x'])('%s minutes are refused', async (order_minutes) => {
    const refused = await saveSettings({ order_minutes })
    expect(refused.status).toBe(400)
    expect(refused.body).toContain(t.paymentApps.own.orderMinutesWrong(5, 30))
  })

  it('is what the application sets, at both doors, and again for an order that expired', async () => {
    for (const order_minutes of ['30', '5']) expect((await saveSettings({ order_minutes })).status).toBe(303)
    const fields = trade()
    await createV1(fields)
    const asked = { amount: '5', description: 'Tea', order_id: 'brief-1' }
    await shop.process(asked)
    expect(await Promise.all([fields.out_trade_no!, asked.order_id].map(leftOf))).toEqual([5, 5])
    test.clock.advance(5 * MINUTE_MS)
    const { transaction_id } = await orderOf(asked.order_id)
    expect(await pay({ transaction_id, payer_id: alice.id, expected_amount: 5n })).toBe('expired')
    await shop.process(asked)
    expect(await leftOf(asked.order_id)).toBe(5)
  })

  it('is what the pay page counts down the last quarter of', async () => {
    for (const [order_minutes, seconds] of [
      ['5', 75],
      ['', 450],
    ] as const) {
      expect((await saveSettings({ order_minutes })).status).toBe(303)
      const order_id = `count-down-${seconds}`
      await shop.process({ amount: '5', description: 'Tea', order_id })
      const { body } = await (await alice.signIn()).get(
        `/payment/pay/${(await orderOf(order_id)).transaction_id}`,
      )
      expect(body).toContain(`data-countdown="${seconds}"`)
    }
  })

  it('is never longer than the site’s', async () => {
    expect((await saveSettings({ order_minutes: '20' })).status).toBe(303)
    await setSetting(test, 'order_expiry_minutes', '10')
    const fields = trade()
    await createV1(fields)
    expect(await leftOf(fields.out_trade_no!)).toBe(10)
    expect((await owner.get(settings)).body).toContain(t.paymentApps.own.orderMinutesLowered(10))
    expect((await saveSettings({ order_minutes: '20' })).status).toBe(303)
    expect((await saveSettings({ order_minutes: '19' })).status).toBe(400)
    await setSetting(test, 'order_expiry_minutes', '30')
  })

  it('is the site’s while the application sets none', async () => {
    expect((await saveSettings({ order_minutes: '' })).status).toBe(303)
    const fields = trade()
    await createV1(fields)
    expect(await leftOf(fields.out_trade_no!)).toBe(30)
  })

  it('can only be the site’s where that is below the least of an application', async () => {
    await setSetting(test, 'order_expiry_minutes', '3')
    const hint = t.paymentApps.own.orderMinutesHint(5, 3)
    expect(hint).not.toContain('5')
    expect((await owner.get(settings)).body).toContain(hint)
    expect((await saveSettings({ order_minutes: '4' })).body).toContain(hint)
    expect((await saveSettings({ order_minutes: '' })).status).toBe(303)
    await setSetting(test, 'order_expiry_minutes', '30')
  })
})

it('a notification address may have its scheme in capitals', async () => {
  expect((await saveSettings({ notify_url: 'HTTPS://shop.example/N' })).status).toBe(303)
  const { notify_url } = await rowOf(test, 'payment_apps', { payment_id: shop.payment_id })
  expect(notify_url).toBe('https://shop.example/N')
  expect((await saveSettings({})).status).toBe(303)
})

describe('an address that can never be called is refused with the reason', () => {
  const { neverCalled } = t.paymentApps
  const refused = [
    ['http://shop.example:88/', 'port', '异步通知地址的端口不允许使用'],
    ['http://10.1.2.3/n', 'host', '异步通知地址不是公网地址，无法通知'],
    ['http://0x0a010203/n', 'host', '异步通知地址不是公网地址，无法通知'],
    ['http://[fd00::1]/n', 'host', '异步通知地址不是公网地址，无法通知'],
  ] as const
  it.each(refused)('%s', async (notify_url, fault, msg) => {
    const [first, second] = [trade({ notify_url }), trade({ notify_url })]
    expect(await createV1(first)).toMatchObject({ code: -1, msg })
    expect(await createV2(second)).toMatchObject({ code: -1, msg })
    for (const { out_trade_no } of [first, second])
      expect(await rowsOf(test, 'orders', { order_id: out_trade_no! })).toEqual([])
    const answer = await saveSettings({ notify_url })
    expect(answer.status).toBe(400)
    expect(answer.body).toContain(neverCalled[fault])
  })

  it('also as the address for events', async () => {
    const events = `/payment/applications/${shop.payment_id}/events`
    for (const [address, fault] of refused) {
      const events_url = address.replace('http:', 'https:')
      const answer = await owner.submit(await owner.get(events), events, { events_url })
      expect(answer.status).toBe(400)
      expect(answer.body).toContain(neverCalled[fault])
    }
  })

  it('but not what NOTIFY_ALLOW_CIDRS opens, nor a name that is unknown yet', async () => {
    for (const notify_url of [
      'http://127.0.0.1:9000/n',
      'http://localhost/n',
      'https://no-such.shop.example/n',
    ])
      expect(await createV1(trade({ notify_url }))).toMatchObject({ code: 1 })
  })
})

describe('a callback address with a query of its own', () => {
  it('is covered by the signature', async () => {
    const callback_url = `${shop.callbackUrl}?shop=7&lang=zh%20CN&empty=`
    expect((await saveSettings({ callback_url })).status).toBe(303)
    await shop.process({ amount: '5', description: 'Tea', order_id: 'query-1' })
    const { transaction_id } = await orderOf('query-1')
    const buyer = await alice.signIn()
    const path = `/payment/pay/${transaction_id}`
    const { location } = await buyer.submit(await buyer.get(path), path)
    const fields = Object.fromEntries(new URL(location!).searchParams)
    expect(fields).toMatchObject({ shop: '7', lang: 'zh CN', empty: '', external_reference: 'query-1' })
    expect(fields.signature).toBe(merchantSign(shop.token, fields))
  })

  it.each([
    ...Object.keys(MessageV2.shape).map((name) => `${name}=1`),
    'amount=1',
    'signature=x',
    'mandate_id=1',
    'sign=x',
    'a=1&a=2',
    'a=1%26amount=2',
    '=1',
    'a=%zz',
    'a=1?b=2',
  ])('is refused with ?%s', async (query) => {
    const refused = await saveSettings({ callback_url: `${shop.callbackUrl}?${query}` })
    expect(refused.status).toBe(400)
    expect(refused.body).toContain(t.paymentApps.problems.callback_url)
  })
})

it('a callback is signed with the token of its order’s request while that token is valid', async () => {
  expect((await saveSettings({})).status).toBe(303)
  const actor = { user_id: shop.owner.id, ip: '127.0.0.1' }
  const buyer = await alice.signIn()
  const orders = ['old-1', 'old-2', 'old-3']
  for (const order_id of orders) await shop.process({ amount: '5', description: 'Tea', order_id })
  const { token } = await rotateToken(test.deps, shop.payment_id, 1, actor)
  const signedBy = async (order_id: string) => {
    const path = `/payment/pay/${(await orderOf(order_id)).transaction_id}`
    const { location } = await buyer.submit(await buyer.get(path), path)
    const fields = Object.fromEntries(new URL(location!).searchParams)
    return [shop.token, token].findIndex((each) => merchantSign(each, fields) === fields.signature)
  }
  // Another machine of the shop has the new token already.
  const keys = await rowsOf(test, 'payment_app_keys', { app_id: shop.id, kind: 'token' })
  const [previous, current] = keys.slice(-2)
  await setRows(test, 'payment_app_keys', { id: current!.id }, { last_used_at: test.clock.now() })
  expect(await signedBy('old-1')).toBe(0)
  await setRows(test, 'payment_app_keys', { id: previous!.id }, { valid_to: test.clock.now() })
  expect(await signedBy('old-2')).toBe(1)
})

it('a new notification address needs a recent sign-in, the same one does not', async () => {
  expect((await saveSettings({})).status).toBe(303)
  test.clock.advance(11 * 60_000)
  expect((await saveSettings({})).status).toBe(303)
  expect((await saveSettings({ notify_url: 'https://shop.example/new' })).status).toBe(409)
  expect((await rowOf(test, 'payment_apps', { payment_id: shop.payment_id })).notify_url).toBeNull()
})

/** spec/payment-api 6.2. */
describe('a test application', () => {
  const pageOf = ({ payment_id }: { payment_id: string }) => `/payment/applications/${payment_id}/go-live`
  const kept = ['notify_url', 'homepage', 'exchange_rate', 'order_minutes'] as const

  it('becomes live with its settings and other keys, once', async () => {
    const tester = await makeMerchant(test, { isTest: true })
    const set = { notify_url: 'https://tea.example/notify', exchange_rate: '7.5', order_minutes: 9 }
    await setRows(test, 'payment_apps', { id: tester.id }, { ...set, homepage: 'https://tea.example/' })
    const overview = `${test.url}/payment/applications/${tester.payment_id}`
    await setRows(test, 'payment_apps', { id: tester.id }, { callback_url: overview })
    const page = pageOf(tester)
    const client = await tester.owner.signIn()
    const shown = await client.get(page)
    for (const text of ['https://tea.example/notify', '7.5']) expect(shown.body).toContain(text)
    expect((await client.submit(shown, page, { callback_url: 'nonsense' })).status).toBe(400)
    const callback_url = 'https://tea.example/paid'
    expect((await client.submit(shown, page, { name: 'Tea for all', callback_url })).status).toBe(303)
    const test_row = await rowOf(test, 'payment_apps', { id: tester.id })
    const live = await rowOf(test, 'payment_apps', { id: test_row.live_app_id! })
    expect(live).toMatchObject({ book: 'live', status: 'pending', name: 'Tea for all', callback_url })
    for (const name of kept) expect([name, live[name]]).toEqual([name, test_row[name]])
    expect(await rowsOf(test, 'payment_app_keys', { app_id: live.id })).toHaveLength(2)
    const going = await goingLiveOf(test.db, tester.payment_id, tester.owner.id)
    // Its overview is no callback for the live one, so nothing is left to copy.
    expect(going).toMatchObject({ hasOwnCallback: false, differing: ['name'] })
    const actor = { user_id: tester.owner.id, ip: '127.0.0.1' }
    await expect(applyFromTest(test.deps, going, { name: 'Tea', callback_url }, actor)).rejects.toMatchObject(
      {
        code: 'conflict',
      },
    )
    expect(await rowsOf(test, 'payment_apps', { applicant_id: tester.owner.id })).toHaveLength(2)
  })

  it('copies its settings to its live application, which waits for a review', async () => {
    const live = await makeMerchant(test)
    const tester = await makeMerchant(test, { twinOf: live })
    await setRows(test, 'payment_apps', { id: tester.id }, { name: 'New Name', exchange_rate: '12' })
    const page = pageOf(tester)
    const client = await live.owner.signIn()
    const shown = await client.get(page)
    expect(shown.body).toContain('<ins><bdi>New Name</bdi></ins>')
    const answer = await client.submit(shown, page, { callback_url: 'https://new.example/paid' })
    expect(answer.status).toBe(303)
    const row = await rowOf(test, 'payment_apps', { id: live.id })
    expect(row).toMatchObject({
      name: 'New Name',
      callback_url: 'https://new.example/paid',
      status: 'approved',
    })
    expect([row.exchange_rate, row.unreviewed_change_at === null]).toEqual(['12.000000', false])
    expect((await (await alice.signIn()).get(page)).status).toBe(404)
  })
})
