/** Frozen wallets and orders, and suspended applications: no points leave them in any way. spec/points 2.6. */
import { sql } from 'kysely'
import { afterEach, expect, it } from 'vitest'
import { banMember, reinstateMember } from '../../src/accounts/members.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { refundOrder } from '../../src/payment/orders/refunds.ts'
import { untilBlocked } from '../harness/blocked.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { makePerson } from '../harness/cast.ts'
import { makeShop, send } from '../harness/gateway-shop.ts'
import { useTestApp } from '../harness/harness.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { rowOf, rowsOf, setRows } from '../harness/rows.ts'

const { en } = messages

let count = 0

const test = await useTestApp()
const shop = await makeShop(test)
const buyer = await makePerson(test, { points: 1_000n })
const client = await buyer.signIn()
const person = await makePerson(test, { username: 'root', is_admin: true })
const adminId = person.id
const admin = await person.signIn()
afterEach(() => expectSoundBooks(test.db))

/** Takes both steps of an act, and returns the text between them. */
async function act(page: string, name: 'freeze' | 'unfreeze', reason = 'Looks <odd>') {
  const sheet = await admin.submit(await admin.get(page), `${page}/${name}`, { reason })
  expect(sheet.status).toBe(200)
  expect(sheet.body).toContain(reason.replace('<', '&lt;').replace('>', '&gt;'))
  const done = await admin.submit(sheet, `${page}/${name}`)
  expect([done.status, done.location]).toEqual([303, page])
  return sheet
}

async function newOrder(amount = '100') {
  count += 1
  const order_id = `freeze-${count}`
  const { body } = await shop.process({ amount, description: 'Tea', order_id })
  const transaction_id = String(body.transaction_id)
  const pay = () =>
    makePayOrder(test.deps)({ transaction_id, payer_id: buyer.id, expected_amount: BigInt(amount) })
  return { order_id, transaction_id, path: `/payment/pay/${transaction_id}`, pay }
}

const trade = (out_trade_no: string) => ({
  ...{ pid: shop.pidText, out_trade_no, name: 'Tea', money: '1.00' },
  notify_url: 'https://shop.example.org/notify',
})

it('a frozen wallet pays nothing, says why, receives, and spends once unfrozen', async () => {
  const { path, pay, transaction_id } = await newOrder()
  const wallet = `/admin/wallets/${buyer.id}`
  const form = await client.get(path)
  await act(wallet, 'freeze')

  expect(await pay()).toBe('wallet_frozen')
  expect((await client.submit(form, path)).status).toBe(409)
  for (const address of [path, '/account']) {
    const { body } = await client.get(address)
    expect(body).toContain(en.account.frozen)
    expect(body).toContain('Looks &lt;odd&gt;')
  }
  expect((await client.get(path)).body).not.toMatch(/<form method="post" action="[^"]*\/payment\/pay\//)
  const to = { to_user_id: String(buyer.id), to_username: buyer.username }
  await makePayOrder(test.deps)({
    ...{ transaction_id, payer_id: (await makePerson(test, { points: 100n })).id },
    expected_amount: 100n,
  })
  expect((await shop.transfer({ ...to, amount: '5', order_id: 'to-frozen' })).status).toBe(200)
  expect(await balanceOf(test.db, buyer.id)).toBe(1_005n)

  expect((await admin.get(wallet)).body).toContain('Looks &lt;odd&gt;')
  await act(wallet, 'unfreeze', 'All in order')
  expect(await (await newOrder()).pay()).toBe('paid')
  expect(await rowsOf(test, 'audit_log', { subject: `user:${buyer.id}` })).toMatchObject([
    { action: 'wallet.freeze', actor_id: adminId, detail: { reason: 'Looks <odd>' } },
    { action: 'wallet.unfreeze', actor_id: adminId, detail: { reason: 'All in order' } },
  ])
})

it('a merchant’s frozen wallet transfers nothing, takes payments, and gives refunds', async () => {
  const wallet = `/admin/wallets/${shop.owner.id}`
  const paid = await newOrder()
  expect(await paid.pay()).toBe('paid')
  await act(wallet, 'freeze')
  const to = { to_user_id: String(buyer.id), to_username: buyer.username }
  const refused = await shop.transfer({ ...to, amount: '5', order_id: 'from-frozen' })
  expect(refused.status).toBe(400)
  expect(refused.body).toMatchObject({ success: false, errors: [{ code: 1019 }] })
  const later = await newOrder()
  expect(await later.pay()).toBe('paid')
  const before = await balanceOf(test.db, buyer.id)
  const refund = { transaction_id: later.transaction_id, amount: 100n, with_fee: true, key: 'k' }
  await refundOrder(test.deps, { ...refund, reason: 'x', actor_id: adminId, ip: '203.0.113.7' })
  expect(await balanceOf(test.db, buyer.id)).toBe(before + 100n)
  await act(wallet, 'unfreeze')
  expect((await shop.transfer({ ...to, amount: '5', order_id: 'from-frozen' })).status).toBe(200)
})

it('a frozen wallet spends nothing even past the guards: the database refuses', async () => {
  const poor = await makePerson(test, { points: 50n })
  await act(`/admin/wallets/${poor.id}`, 'freeze')
  const [from, to] = await Promise.all(
    [poor, buyer].map(({ id }) => rowOf(test, 'ledger_accounts', { user_id: id })),
  )
  const post = (kind: string) =>
    sql`select post_journals(${kind}, 'x', array[
      row('live', 'past the guards', null, now(), ${from!.id}::bigint, ${to!.id}::bigint, null, 10, 0)::posting
    ])`.execute(test.db)
  for (const kind of ['payment', 'transfer'])
    await expect(post(kind)).rejects.toMatchObject({ constraint: 'ledger_accounts_frozen_spends_nothing' })
  expect(await balanceOf(test.db, poor.id)).toBe(50n)
})

it('a frozen order is refused at every door until unfrozen', async () => {
  const { order_id, transaction_id, path, pay } = await newOrder()
  const page = `/admin/orders/${transaction_id}`
  await act(page, 'freeze')
  expect(await pay()).toBe('order_frozen')
  expect((await client.get(path)).body).toContain(en.pay.states.frozen)
  const again = await shop.process({ amount: '100', description: 'Tea', order_id })
  expect(again.body).toMatchObject({ success: false, errors: [{ code: 1018 }] })
  expect((await shop.query({ transaction_id })).body).toMatchObject({ status: 'pending', frozen: true })
  const own = await shop.owner.signIn()
  const seller = await own.get(`/payment/applications/${shop.payment_id}/orders/${transaction_id}`)
  expect(seller.body).toContain('Looks &lt;odd&gt;')
  const past = sql`update orders set status = 'paid', payer_id = ${buyer.id}, payee_id = ${buyer.id}, fee = 0, merchant_points = amount, paid_at = now(),
    journal_id = (select max(id) from journal) where transaction_id = ${transaction_id}`
  await expect(past.execute(test.db)).rejects.toMatchObject({ constraint: 'orders_frozen_unpaid' })

  await act(page, 'unfreeze')
  expect(await pay()).toBe('paid')
  expect((await admin.get(page)).body).not.toContain(`action="${page}/freeze"`)
  const { form_token = '' } = (await admin.get('/admin')).form('/language')
  const late = await admin.post(`${page}/freeze`, { form_token, reason: 'x', confirmed: 'yes' })
  expect(late.status).toBe(409)

  const mapi = () => send(test, 'POST', '/payment/api/mapi.php', shop.signMd5(trade('frozen-trade')))
  const { payurl } = (await mapi()).json()
  await act(`/admin/orders/${String(payurl).split('/').at(-1)}`, 'freeze')
  expect((await mapi()).json()).toEqual({ code: -1, msg: '该订单已被冻结' })
})

it('an application is suspended in two steps, and reinstated likewise', async () => {
  const page = `/admin/payment-applications/${shop.payment_id}`
  const open = await newOrder()
  await act(page, 'freeze')
  expect(await open.pay()).toBe('unusable')
  expect((await shop.process({ amount: '1', description: 'x', order_id: 'y' })).body).toMatchObject({
    errors: [{ code: 1009 }],
  })
  await act(page, 'unfreeze')
  expect(await open.pay()).toBe('paid')
})

it('a barred member spends and sells nothing; sold orders notify and refund', async () => {
  const { id } = shop.owner
  const sold = await newOrder()
  expect(await sold.pay()).toBe('paid')
  const open = await newOrder()
  const gateway = async (path: string, signed: Record<string, string>) =>
    (await send(test, 'POST', `/payment/api/${path}`, signed)).json()
  const rsa = (fields: Record<string, string>) =>
    shop.signRsa({ ...fields, timestamp: String(Math.floor(test.clock.now().getTime() / 1000)) })
  const ofTrade = { pid: shop.pidText, out_trade_no: 'sold-before' }
  const submitted = await gateway('mapi.php', shop.signMd5(trade('sold-before')))
  const trade_id = String(submitted.payurl).split('/').at(-1)!
  const to = { to_user_id: String(buyer.id), to_username: buyer.username, amount: '5' }
  const payTrade = { transaction_id: trade_id, payer_id: buyer.id, expected_amount: 100n }
  const before = await balanceOf(test.db, id)

  async function expectBarred(order_id: string) {
    const refused = [
      await shop.process({ amount: '1', description: 'x', order_id }),
      await shop.transfer({ ...to, order_id }),
    ]
    for (const { status, body } of refused) {
      expect(status).toBe(400)
      expect(body).toMatchObject({ success: false, errors: [{ code: 1009 }] })
    }
    for (const answer of [
      await gateway('mapi.php', shop.signMd5(trade(order_id))),
      await gateway('pay/create', rsa(trade(order_id))),
    ])
      expect(answer).toMatchObject({ code: -1, msg: '商户已被封禁，无法支付' })
    expect(await open.pay()).toBe('unusable')
    expect(await makePayOrder(test.deps)(payTrade)).toBe('unusable')
    expect((await client.get(open.path)).body).toContain(en.pay.states.unusable)
    expect(await balanceOf(test.db, id)).toBe(before)
  }
  await banMember(test.deps, { user_id: id, actor_id: adminId, reason: 'Fraud', ip: '203.0.113.7' })
  await expectBarred('while-banned')
  expect((await shop.query({ transaction_id: sold.transaction_id })).body).toMatchObject({
    status: 'completed',
  })
  expect(await gateway('pay/query', rsa(ofTrade))).toMatchObject({ code: 0 })
  expect(await gateway('merchant/info', rsa({ pid: shop.pidText }))).toMatchObject({ code: 0, status: 0 })
  const refund = { transaction_id: sold.transaction_id, amount: 100n, with_fee: true, key: 'of the barred' }
  await refundOrder(test.deps, { ...refund, reason: 'x', actor_id: adminId, ip: '203.0.113.7' })
  expect(await balanceOf(test.db, id)).toBe(before - 95n)

  const suspended_till = new Date(test.clock.now().getTime() + 1_000)
  await setRows(test, 'users', { id }, { is_banned: false, suspended_till })
  const after = await balanceOf(test.db, id)
  expect((await shop.transfer({ ...to, order_id: 'while-suspended' })).body).toMatchObject({
    errors: [{ code: 1009 }],
  })
  expect(await open.pay()).toBe('unusable')
  test.clock.advance(1_000)
  expect(await open.pay()).toBe('paid')
  expect(await makePayOrder(test.deps)(payTrade)).toBe('paid')
  expect((await shop.transfer({ ...to, order_id: 'while-banned' })).status).toBe(200)
  // Two payments came in, less their fees. One transfer went out, with its fee.
  expect(await balanceOf(test.db, id)).toBe(after + 2n * 95n - 6n)
})

it('a waiting payment or transfer moves nothing once its member is banned', async () => {
  const other = await makeMerchant(test)
  const bystander = await makePerson(test, { points: 500n })
  // The first sale opens the wallet that the test locks below.
  await (await newOrder('1')).pay()
  const atBarred = await newOrder()
  const { body } = await other.process({ amount: '10', description: 'Tea', order_id: 'by-the-barred' })
  const transaction_id = String(body.transaction_id)
  const pay = makePayOrder({ ...test.deps, batching: { itemsMax: 1, lanes: 3 } })
  const { id } = shop.owner
  const before = await balanceOf(test.db, id)
  const acts = await test.db.transaction().execute(async (tx) => {
    await sql`select from ledger_accounts where user_id = ${id} and book = 'live' for update`.execute(tx)
    // A wait ends after five seconds, and a client asks again. On a slow machine the ban takes longer.
    const payAgain = (payment: Parameters<typeof pay>[0]): ReturnType<typeof pay> =>
      pay(payment).catch((error) => {
        if (error.code !== 'unavailable') throw error
        return payAgain(payment)
      })
    const transferAgain = async (): ReturnType<typeof shop.transfer> => {
      const answer = await shop.transfer({
        ...{ to_user_id: String(bystander.id), to_username: bystander.username, amount: '5' },
        order_id: 'waits-for-the-ban',
      })
      return answer.status === 503 ? transferAgain() : answer
    }
    const waiting = [
      payAgain({ transaction_id: atBarred.transaction_id, payer_id: bystander.id, expected_amount: 100n }),
      payAgain({ transaction_id, payer_id: id, expected_amount: 10n }),
      transferAgain(),
    ] as const
    // Payments that wait for one wallet take turns with one statement.
    await untilBlocked(tx, 2)
    await banMember(test.deps, { user_id: id, actor_id: adminId, reason: 'Fraud', ip: '203.0.113.7' })
    return waiting
  })
  const [asPayee, asPayer, transfer] = await Promise.all(acts)
  expect([asPayee, asPayer]).toEqual(['unusable', 'wallet_frozen'])
  expect(transfer.body).toMatchObject({ success: false, errors: [{ code: 1009 }] })
  expect(await balanceOf(test.db, id)).toBe(before)
  expect(await balanceOf(test.db, bystander.id)).toBe(500n)
  await reinstateMember(test.deps, { user_id: id, actor_id: adminId, reason: 'Cleared', ip: '203.0.113.7' })
})

it('needs a reason, a wallet, and one that is not frozen', async () => {
  const page = `/admin/wallets/${buyer.id}`
  const path = `${page}/freeze`
  const form = (await admin.get(page)).form(path)
  const confirmed = { ...form, reason: 'x', confirmed: 'yes' }
  expect((await admin.post(path, { ...form, reason: ' ' })).status).toBe(400)
  expect((await admin.post('/admin/wallets/999999999/freeze', confirmed)).status).toBe(404)
  expect((await admin.post('/admin/wallets/x/freeze', confirmed)).status).toBe(404)
  expect((await admin.post(`${page}/unfreeze`, confirmed)).status).toBe(409)
  expect((await rowOf(test, 'ledger_accounts', { user_id: buyer.id })).frozen_at).toBeNull()
})
