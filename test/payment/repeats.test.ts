/**
 * Repeated requests at both doors get the earlier answer, even when a switch has since been turned off.
 * spec/payment-api 4.2 and spec/points 3.2.
 */
import { afterEach, describe, expect, it } from 'vitest'
import { banMember } from '../../src/accounts/members.ts'
import type { SettingName } from '../../src/core/setting-values.ts'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { rotateToken } from '../../src/payment/apps/key-changes.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { reverseTransfer } from '../../src/payment/orders/refunds.ts'
import { sendTransfer } from '../../src/payment/orders/transfers.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { changePerson, makePerson } from '../harness/cast.ts'
import { type Fields, makeShop, type Shop, secondsAt, send } from '../harness/gateway-shop.ts'
import { setSetting, useTestApp } from '../harness/harness.ts'
import { handOver, merchantSign, post, recipient, recipientFields } from '../harness/merchant.ts'
import { rowOf, setRows } from '../harness/rows.ts'

const MINUTE_MS = 60_000

let shop: Shop
let count = 0

const test = await useTestApp()
const buyer = await makePerson(test, { points: 1_000_000n })
const admin = await makePerson(test, { is_admin: true })
afterEach(() => expectSoundBooks(test.db))

const set = (name: SettingName, value: string) => setSetting(test, name, value)
const become = (status: 'approved' | 'suspended') =>
  setRows(test, 'payment_apps', { id: shop.id }, { status })
const byAdmin = () => ({ actor_id: admin.id, reason: 'test', ip: '203.0.113.7' })

/** A shop whose owner has points to send. */
async function openShop({ isTest = false } = {}): Promise<void> {
  shop = await makeShop(test, { isTest })
  if (!isTest) await pay(await initiate({ amount: '10000' }))
}

async function initiate(over: Record<string, string> = {}): Promise<string> {
  const { body } = await shop.process(order(over))
  return String(body.transaction_id)
}
const order = (over: Record<string, string> = {}) => ({
  ...{ amount: '100', description: 'Tea', order_id: `order-${++count}` },
  ...over,
})

async function pay(transaction_id: string): Promise<void> {
  const { amount } = await rowOf(test, 'orders', { transaction_id })
  const payment = { transaction_id, payer_id: buyer.id, expected_amount: amount }
  expect(await makePayOrder(test.deps)(payment)).toBe('paid')
}

const transfer = (over: Record<string, string> = {}) => ({
  ...recipientFields(buyer),
  amount: '100',
  order_id: `transfer-${++count}`,
  ...over,
})

/** The payment_url of the HMAC API and of the gateway ends with the transaction_id. */
const numberIn = (url: unknown) => String(url).split('/').at(-1)!.split('?')[0]!

const createV1 = (fields: Fields) => shop.create('v1', fields)
const createV2 = (fields: Fields) => shop.create('v2', fields)

const setting = (name: SettingName, off: string, on: string) => ({
  on: () => set(name, off),
  off: () => set(name, on),
})

/** Each of these switches refuses new transfers, and some of them new orders. */
const SWITCHES: Record<string, { on(): unknown; off(): unknown; code: number; refusesOrders?: true }> = {
  'transfers are off': { ...setting('points_transfers', 'off', 'on'), code: 1015 },
  'payments are paused': { ...setting('payments_read_only', 'on', 'off'), code: 1017, refusesOrders: true },
  'the application is suspended': {
    ...{ on: () => become('suspended'), off: () => become('approved'), code: 1009, refusesOrders: true },
  },
  'its owner is banned': {
    on: () => banMember(test.deps, { user_id: shop.owner.id, ...byAdmin() }),
    off: () => changePerson(test, shop.owner, { is_banned: false }),
    ...{ code: 1009, refusesOrders: true },
  },
  'its daily limit is one point': { ...setting('points_transfer_daily_limit_tl2', '1', ''), code: 1013 },
  'its trust level sends less at most': {
    ...{ ...setting('points_transfer_max_amount_tl2', '99', '20000'), code: 1016 },
  },
}

describe.each(Object.entries(SWITCHES))('while %s', (_, { on, off, code, refusesOrders = false }) => {
  it('a repeated transfer answers its original result and moves nothing', async () => {
    await openShop()
    const [done, reversed, byHand] = [transfer(), transfer(), transfer()]
    const first = await shop.transfer(done)
    const { body } = await shop.transfer(reversed)
    const transaction_id = String(body.transaction_id)
    await reverseTransfer(test.deps, { transaction_id, with_fee: true, ...byAdmin() })
    const actor = { user_id: shop.owner.id, ip: '203.0.113.7' }
    const asked = { ...recipient(buyer), amount: 100n, order_id: byHand.order_id }
    const sent = await sendTransfer(test.deps, shop.payment_id, asked, actor)
    const before = await balanceOf(test.db, shop.owner.id)

    await on()
    expect((await shop.transfer(transfer())).body).toMatchObject({ success: false, errors: [{ code }] })
    expect(await shop.transfer(done)).toEqual(first)
    expect(first.status).toBe(200)
    const other = await shop.transfer({ ...done, amount: '101' })
    expect(other).toMatchObject({ status: 400, body: { errors: [{ code: 1005 }], data: null } })
    const back = await shop.transfer(reversed)
    expect(back).toMatchObject({ status: 400, body: { errors: [{ code: 1006 }] } })
    expect(back.body.data).toEqual({ status: 'reversed', transaction_id })
    expect(await sendTransfer(test.deps, shop.payment_id, asked, actor)).toEqual(sent)
    const fresh = { ...asked, order_id: `by-hand-${++count}` }
    await expect(sendTransfer(test.deps, shop.payment_id, fresh, actor)).rejects.toThrow()
    await off()
    expect(await balanceOf(test.db, shop.owner.id)).toBe(before)
    expect((await shop.transfer(done)).body).toEqual(first.body)
  })

  it.runIf(refusesOrders)('a repeated initiate answers what stands, but opens nothing', async () => {
    await openShop()
    const [paid, expired] = [order(), order()]
    const paid_id = numberIn((await shop.process(paid)).body.payment_url)
    await pay(paid_id)
    await shop.process(expired)
    test.clock.advance(30 * MINUTE_MS)
    const unpaid = order()
    const first = await shop.process(unpaid)

    await on()
    const again = await shop.process(paid)
    expect(again).toMatchObject({ status: 400, body: { errors: [{ code: 1006 }] } })
    expect(again.body.data).toEqual({ status: 'completed', transaction_id: paid_id })
    expect(await shop.process(unpaid)).toEqual(first)
    const other = await shop.process({ ...unpaid, amount: '101' })
    expect(other).toMatchObject({ status: 400, body: { errors: [{ code: 1005 }], data: null } })
    for (const sale of [expired, order()])
      expect((await shop.process(sale)).body).toMatchObject({ errors: [{ code }] })
    await off()
    const { expires_at } = first.body
    expect((await shop.process(unpaid)).body).toMatchObject({ expires_at })
    expect((await shop.process(expired)).status).toBe(200)
  })

  it.runIf(refusesOrders)('a repeated create of either version answers its trade', async () => {
    await openShop()
    const [paid, expired] = [shop.trade(), shop.trade()]
    const { trade_no: paid_no, payurl } = await createV1(paid)
    await pay(numberIn(payurl))
    await createV1(expired)
    test.clock.advance(30 * MINUTE_MS)
    const at = { timestamp: secondsAt(test) }
    const unpaid = shop.trade()
    const { trade_no } = await createV1(unpaid)

    await on()
    expect(await createV1({ ...paid, ...at })).toMatchObject({
      code: 1,
      msg: '订单已支付',
      trade_no: paid_no,
    })
    const again = await createV2({ ...paid, ...at })
    expect(again).toMatchObject({ code: 1, msg: '订单已支付', trade_no: paid_no })
    expect(shop.isGenuine(again)).toBe(true)
    expect(await createV1(unpaid)).toMatchObject({ code: 1, trade_no })
    expect(await createV2(unpaid)).toMatchObject({ code: 0, trade_no, money: '9.90' })
    const page = await send(test, 'GET', '/payment/api/submit.php', shop.signMd5(unpaid))
    expect(page.statusCode).toBe(302)
    expect(await createV1({ ...unpaid, money: '9.91' })).toMatchObject({ msg: '该订单号已用于其他金额' })
    for (const sale of [{ ...expired, ...at }, shop.trade()]) {
      expect(await createV1(sale)).toMatchObject({ code: -1 })
      expect(await createV2(sale)).toMatchObject({ code: -1 })
    }
    await off()
  })
})

describe('a repeated transfer', () => {
  it('is answered only with the right signature and from an allowed address', async () => {
    await openShop()
    const done = transfer()
    await shop.transfer(done)
    await setRows(test, 'payment_apps', { id: shop.id }, { allowed_addresses: ['203.0.113.0/24'] })
    expect((await shop.transfer(done)).body).toMatchObject({ errors: [{ code: 1003 }] })
    const forged = { ...done, signature: merchantSign('tk_other', done) }
    const answer = await post(test, `/payment/transfer/${shop.payment_id}`, forged)
    expect(answer).toMatchObject({ status: 401, body: { errors: [{ code: 1001 }] } })
  })

  it('by a former owner’s token tells nothing of the new owner', async () => {
    await openShop()
    const heir = await makePerson(test, { points: 10_000n })
    const [before, after] = [transfer(), transfer()]
    const first = await shop.transfer(before)
    await handOver(test, shop, heir)
    const actor = { user_id: heir.id, ip: '203.0.113.7' }
    const { token } = await rotateToken(test.deps, shop.payment_id, 24, actor)
    const path = `/payment/transfer/${shop.payment_id}`
    const sent = await post(test, path, { ...after, signature: merchantSign(token, after) })
    expect(sent.body).toMatchObject({ success: true, from_user_id: Number(heir.id) })
    expect(await shop.transfer(before)).toEqual(first)
    for (const unknown of [after, { ...after, amount: '7' }, transfer()]) {
      const held = await shop.transfer(unknown)
      expect(held).toMatchObject({ status: 400, body: { errors: [{ code: 1009 }], data: null } })
    }
    const asked = await shop.query({ transaction_id: String(sent.body.transaction_id) })
    expect(asked.body.error).toBe('Payment not found')
  })
})

describe('a trade created again', () => {
  const setRate = (exchange_rate: string) => setRows(test, 'payment_apps', { id: shop.id }, { exchange_rate })

  it('keeps its points, before a lower rate judges its money', async () => {
    await openShop()
    const [paid, unpaid] = [shop.trade(), shop.trade()]
    const { trade_no: paid_no, payurl } = await createV1(paid)
    await pay(numberIn(payurl))
    const { trade_no } = await createV2(unpaid)

    await setRate('0.01')
    expect(await createV1(shop.trade())).toMatchObject({ code: -1, msg: '金额不足一积分' })
    expect(await createV1(paid)).toMatchObject({ code: 1, trade_no: paid_no })
    expect(await createV2(paid)).toMatchObject({ code: 1, trade_no: paid_no })
    expect(await createV1(unpaid)).toMatchObject({ code: 1, trade_no })
    expect(await createV2(unpaid)).toMatchObject({ code: 0, trade_no, money: '9.90' })
    expect(await createV2({ ...unpaid, money: '9.91' })).toMatchObject({ msg: '该订单号已用于其他金额' })
    test.clock.advance(30 * MINUTE_MS)
    expect(await createV2({ ...unpaid, timestamp: secondsAt(test) })).toMatchObject({ code: 0, trade_no })
    const row = await rowOf(test, 'orders', { trade_no: String(trade_no) })
    expect(row).toMatchObject({ amount: 990n, status: 'unpaid' })
    expect(row.expires_at.getTime()).toBe(test.clock.now().getTime() + 30 * MINUTE_MS)
  })
})
