/**
 * Read-only payments: a setting stops every payment with an answer for each caller. Announcements.
 * spec/points 3.3.
 */
import { afterAll, expect, it } from 'vitest'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { makePerson } from '../harness/cast.ts'
import { makeShop, send } from '../harness/gateway-shop.ts'
import { anotherProcess, browser, useTestApp } from '../harness/harness.ts'
import { messages } from '../harness/messages.ts'

const test = await useTestApp()
const other = await anotherProcess(test)
const shop = await makeShop(test)
const buyer = await makePerson(test, { points: 1_000n })
const client = await buyer.signIn()
const admin = await (await makePerson(test, { username: 'root', is_admin: true })).signIn()
afterAll(async () => {
  await other.close()
})

const set = async (name: string, value: string) => {
  const { form_token = '' } = (await admin.get('/admin')).form('/language')
  const answer = await admin.post('/admin/settings', { form_token, [name]: value, confirmed: 'yes' })
  const area = name.startsWith('announcement') ? 'notices' : 'payments'
  expect(answer).toMatchObject({ status: 303, location: `/admin/settings?area=${area}` })
}

const trade = (out_trade_no: string) => ({
  pid: shop.pidText,
  out_trade_no,
  name: 'Tea',
  money: '1.00',
  notify_url: 'https://shop.example.org/notify',
  timestamp: String(Math.floor(test.clock.now().getTime() / 1000)),
})

it('pausing refuses acts in each protocol, keeps reading, and leaves no trace', async () => {
  const { body } = await shop.process({ amount: '100', description: 'Tea', order_id: 'open' })
  const transaction_id = String(body.transaction_id)
  const path = `/payment/pay/${transaction_id}`
  const payForm = await client.get(path)
  const to = { to_user_id: String(buyer.id), to_username: buyer.username }
  const before = await balanceOf(test.db, shop.owner.id)
  await set('payments_read_only', 'on')

  for (const refused of [
    await shop.process({ amount: '100', description: 'Tea', order_id: 'new' }),
    await shop.transfer({ ...to, amount: '5', order_id: 'new' }),
  ]) {
    expect(refused.status).toBe(503)
    expect(refused.body).toMatchObject({ success: false, errors: [{ code: 1017 }] })
  }
  const raw = await test.app.inject({
    method: 'POST',
    url: `/payment/pay/${shop.payment_id}/process`,
    payload: { amount: '100', description: 'Tea', order_id: 'new' },
  })
  // A request with a wrong signature gets that answer first, as always.
  expect(raw.statusCode).toBe(401)

  const v1 = await send(test, 'POST', '/payment/api/mapi.php', shop.signMd5(trade('v1')))
  expect(v1.statusCode).toBe(200)
  expect(v1.headers['retry-after']).toBe('60')
  expect(v1.json()).toEqual({ code: -1, msg: '系统维护中，暂停支付，请稍后再试' })
  const v2 = await send(test, 'POST', '/payment/api/pay/create', shop.signRsa(trade('v2')))
  expect(v2.headers['retry-after']).toBe('60')
  expect(v2.json()).toMatchObject({ code: -1, msg: '系统维护中，暂停支付，请稍后再试' })
  expect(shop.isGenuine(v2.json())).toBe(true)
  const page = await send(test, 'GET', '/payment/api/submit.php', shop.signMd5(trade('page')))
  expect(page.statusCode).toBe(503)
  expect(page.headers['retry-after']).toBe('60')

  const shown = await client.get(path)
  expect(shown.body).toContain(messages.en.pay.paused)
  expect(shown.body).not.toMatch(/<form method="post" action="[^"]*\/payment\/pay\//)
  const paid = await client.submit(payForm, path, { expected_amount: '100' })
  expect(paid.status).toBe(503)
  expect((await shop.query({ transaction_id })).body).toMatchObject({ status: 'pending' })
  expect(await balanceOf(test.db, shop.owner.id)).toBe(before)
  const orders = await test.db.selectFrom('orders').select('order_id').execute()
  expect(orders).toEqual([{ order_id: 'open' }])

  await set('payments_read_only', 'off')
  expect((await shop.process({ amount: '100', description: 'Tea', order_id: 'new' })).status).toBe(200)
  expect((await client.submit(await client.get(path), path)).status).toBe(303)
})

it('another process pauses within two seconds', async () => {
  const pay = makePayOrder(other.deps)
  const nothing = { transaction_id: 'txn_000000000000000000000000', payer_id: buyer.id, expected_amount: 1n }
  expect(await pay(nothing)).toBe('not_found')
  await set('payments_read_only', 'on')
  await expect.poll(() => pay(nothing)).toBe('paused')
  await set('payments_read_only', 'off')
})

it('every page announces the pause in its reader’s language', async () => {
  await set('payments_read_only', 'on')
  await set('announcement_en', 'New <prices> from Monday')
  const visitor = browser(test)
  for (const path of ['/', '/sign-in', '/nowhere']) {
    const { body } = await visitor.get(path, { 'accept-language': 'en' })
    expect(body).toContain(messages.en.common.paymentsPaused)
    expect(body).toContain('New &lt;prices&gt; from Monday')
  }
  expect((await visitor.get('/', { 'accept-language': 'zh' })).body).toContain(
    'New &lt;prices&gt; from Monday',
  )
  await set('announcement_zh_cn', '周一起调价')
  expect((await visitor.get('/', { 'accept-language': 'zh' })).body).toContain('周一起调价')
  await set('payments_read_only', 'off')
  await set('announcement_en', '')
  await set('announcement_zh_cn', '')
  expect((await visitor.get('/')).body).not.toContain('class="announcement"')
})
