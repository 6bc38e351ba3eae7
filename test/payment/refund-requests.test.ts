/**
 * Refund requests of merchants: accepted in two steps or declined with a reason, one at a time, and visible to the
 * parties.
 */
import { afterEach, expect, it } from 'vitest'
import { balanceOf } from '../../src/ledger/wallet.ts'
import { makePostTransfer } from '../../src/payment/orders/transfers.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { textOf } from '../harness/markup.ts'
import { makeMerchant, recipient } from '../harness/merchant.ts'
import { messages } from '../harness/messages.ts'
import { payOrder, placeOrder } from '../harness/orders.ts'
import { rowOf, rowsOf } from '../harness/rows.ts'

const t = messages.en.refundRequests
const ADMIN_PATH = '/admin/refund-requests'

const test = await useTestApp()
const merchant = await makeMerchant(test)
const owner = await merchant.owner.signIn()
const admin = await (await makePerson(test, { username: 'admin', is_admin: true })).signIn()
const alice = await makePerson(test, { points: 10_000n })
const buyer = await alice.signIn()
afterEach(() => expectSoundBooks(test.db))

async function order(amount: bigint, isPaid = true) {
  const placed = await placeOrder(merchant, { amount: String(amount) })
  if (isPaid) await payOrder(test, placed, alice)
  const page = `/payment/applications/${merchant.payment_id}/orders/${placed.transaction_id}`
  return { transaction_id: placed.transaction_id, page, receipt: placed.path }
}

async function ask(page: string, amount: string, reason = 'Arrived torn') {
  const asked = await owner.submit(await owner.get(page), `${page}/refund-request`, { amount, reason })
  return owner.submit(asked, `${page}/refund-request`)
}
/** The fields of the administrator's form about this order, by the form's action. */
async function formOf(transaction_id: string, which: 'refund' | 'decline') {
  const page = await admin.get(ADMIN_PATH)
  const article = page.body.split('<article').find((part) => part.includes(transaction_id))!
  const id = /refund-requests\/(\d+)\/decline/.exec(article)![1]!
  const { form_token } = page.form('/sign-out')
  return which === 'decline'
    ? { path: `${ADMIN_PATH}/${id}/decline`, fields: { form_token: form_token! } }
    : {
        path: `${ADMIN_PATH}/accept`,
        fields: { form_token: form_token!, kind: 'refund', transaction_id, request_id: id, with_fee: 'on' },
      }
}
const orderIdOf = async (transaction_id: string) => (await rowOf(test, 'orders', { transaction_id })).id
const statusOf = async (transaction_id: string) =>
  (await rowsOf(test, 'refund_requests', { order_id: await orderIdOf(transaction_id) })).map(
    ({ status }) => status,
  )

it('a request is accepted by the refund that an administrator confirms, once', async () => {
  const { transaction_id, page, receipt } = await order(120n)
  const before = await balanceOf(test.db, alice.id)
  expect(textOf((await owner.get(page)).body)).toContain(t.leftOfYours('120', '114', '6'))
  expect(await ask(page, '50')).toMatchObject({ status: 303, location: page })
  expect((await owner.get(page)).body).toContain(t.done.asked('50', alice.username))
  // While it waits, the list marks the order, and its page offers no second request.
  const list = await owner.get(page.slice(0, page.lastIndexOf('/')))
  const row = list.body.slice(list.body.indexOf(transaction_id)).split('</tr>')[0]!
  expect(textOf(row)).toContain(messages.en.merchantOrders.events.refundAsked)
  expect((await owner.get(page)).body).not.toContain('href="?refund=1#refund"')
  expect(textOf((await buyer.get(receipt)).body)).toContain(
    `${messages.en.pay.refundAsked('50', 50n, false)} ${t.toBuyer.open}`,
  )
  expect(textOf((await owner.get(page)).body)).toContain(
    `${messages.en.merchantOrders.events.refundAsked} · 50 points Arrived torn`,
  )
  const held = (await balanceOf(test.db, merchant.owner.id)).toLocaleString('en')
  expect(textOf((await admin.get(ADMIN_PATH)).body)).toContain(
    messages.en.console.refundDecisions.holds(merchant.owner.username, held),
  )
  const asked = messages.en.account.refundAsked('50')
  const rowsAsked = async () =>
    Promise.all(
      ['/', '/account', '/account/payments'].map(
        async (list) => textOf((await buyer.get(list)).body).split(asked).length - 1,
      ),
    )
  expect(await rowsAsked()).toEqual([1, 1, 1])
  expect((await owner.get('/account')).body).not.toContain(asked)
  expect((await ask(page, '10').catch(() => ({ status: 'no form' }))).status).toBe('no form')

  const { path, fields } = await formOf(transaction_id, 'refund')
  const confirmation = await admin.post(path, { ...fields, amount: '40', reason: 'Four of five pages' })
  expect(await statusOf(transaction_id)).toEqual(['open'])
  const answers = await Promise.all([1, 2, 3].map(() => admin.submit(confirmation, path)))
  expect(answers.map(({ status }) => status)).toEqual([303, 303, 303])
  expect(await statusOf(transaction_id)).toEqual(['accepted'])
  expect(await rowsAsked()).toEqual([0, 0, 0])
  expect(await balanceOf(test.db, alice.id)).toBe(before + 40n)
  // Another confirmation for the same request moves nothing.
  const late = await admin.post(path, { ...fields, amount: '5', reason: 'Again' })
  expect((await admin.submit(late, path)).status).toBe(303)
  expect(await balanceOf(test.db, alice.id)).toBe(before + 40n)
  expect(textOf((await owner.get(page)).body)).toMatch(
    /40 points Four of five pages .* 50 points Arrived torn/,
  )
  expect(textOf((await buyer.get(receipt)).body)).toContain('Four of five pages')
  const entries = await rowsOf(test, 'audit_log', { subject: transaction_id })
  expect(entries.map(({ action }) => action)).toEqual(['refund_request.ask', 'order.refund'])
  const refunds = await rowsOf(test, 'refunds', { order_id: await orderIdOf(transaction_id) })
  expect(refunds).toMatchObject([{ amount: 40n, request_id: BigInt(fields.request_id!) }])
})

it('a declined one tells merchant and buyer why; another may follow', async () => {
  const { transaction_id, page, receipt } = await order(60n)
  await ask(page, '60')
  const { path, fields } = await formOf(transaction_id, 'decline')
  const refund = await formOf(transaction_id, 'refund')
  const stale = await admin.post(refund.path, { ...refund.fields, amount: '60', reason: 'Yes' })
  expect((await admin.post(path, { ...fields, answer: ' ' })).status).toBe(400)
  expect((await admin.post(path, { ...fields, answer: 'It was used up' })).status).toBe(303)
  expect((await admin.post(path, { ...fields, answer: 'Twice' })).status).toBe(409)
  const before = await balanceOf(test.db, alice.id)
  expect((await admin.submit(stale, refund.path)).status).toBe(409)
  expect(await balanceOf(test.db, alice.id)).toBe(before)
  for (const [client, address] of [[owner, page] as const, [buyer, receipt] as const])
    expect((await client.get(address)).body).toContain('It was used up')
  expect(textOf((await admin.get(`${ADMIN_PATH}?show=decided`)).body)).toContain('It was used up')
  expect((await ask(page, '30')).status).toBe(303)
  const shown = await owner.get(page)
  expect((await owner.submit(shown, `${page}/refund-request/withdraw`)).status).toBe(303)
  expect((await owner.submit(shown, `${page}/refund-request/withdraw`)).status).toBe(409)
  expect(await statusOf(transaction_id)).toEqual(['declined', 'withdrawn'])
})

it('refuses more than is left, unpaid orders, repeats and missing reasons', async () => {
  const { transaction_id, page } = await order(50n)
  const shown = await owner.get(page)
  const action = `${page}/refund-request`
  const question = await owner.submit(shown, action, { amount: '25', reason: 'Torn' })
  const have = await balanceOf(test.db, merchant.owner.id)
  const { ask } = t
  expect(textOf(question.body)).toContain(
    `${ask.payer(alice.username)} +25 ${ask.payee(merchant.owner.username)} −24 ${ask.fee} −1 ` +
      `${ask.balance} ${have.toLocaleString('en')} ${ask.balanceAfter} ${(have - 24n).toLocaleString('en')}`,
  )
  expect(await statusOf(transaction_id)).toEqual([])
  const fields = { amount: '50', reason: 'Torn', confirmed: 'yes' }
  const { status, body } = await owner.submit(shown, action, { ...fields, amount: '51' })
  expect([status, textOf(body)]).toEqual([409, expect.stringContaining(t.tooMuch('50'))])
  for (const wrong of [{ reason: '' }, { amount: '0' }, { amount: 'x' }, { reason: 'r'.repeat(501) }])
    expect((await owner.submit(shown, action, { ...fields, ...wrong })).status).toBe(400)
  const unpaid = await order(5n, false)
  const unpaidForm = { ...shown.form(action), ...fields, amount: '5' }
  expect((await owner.post(`${unpaid.page}/refund-request`, unpaidForm)).status).toBe(409)
  const answers = await Promise.all(Array.from({ length: 5 }, () => owner.submit(shown, action, fields)))
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 409, 409, 409, 409])
  expect(await statusOf(transaction_id)).toEqual(['open'])
})

it('tells when the wallet no longer holds what would be given back', async () => {
  const { page } = await order(1_000n)
  const have = await balanceOf(test.db, merchant.owner.id)
  await makePostTransfer(test.deps)({
    app_id: merchant.id,
    order_id: 'away',
    ...recipient(alice),
    amount: ((have - 100n) * 97n) / 100n,
  })
  expect((await owner.get(page)).body).toContain(t.short)
})

it('is not to be had by the path of another application', async () => {
  const { transaction_id, page } = await order(50n)
  await ask(page, '50')
  const seller = await makeMerchant(test)
  const stranger = await seller.owner.signIn()
  const fields = { amount: '5', reason: 'Mine', confirmed: 'yes' }
  const own = { ...fields, ...(await stranger.get('/account')).form('/sign-out') }
  const elsewhere = `/payment/applications/${seller.payment_id}/orders/${transaction_id}/refund-request`
  for (const end of ['', '/withdraw']) expect((await stranger.post(elsewhere + end, own)).status).toBe(404)
  expect(await statusOf(transaction_id)).toEqual(['open'])
  const { fields: adminFields } = await formOf(transaction_id, 'decline')
  expect((await admin.post(`${ADMIN_PATH}/x/decline`, { ...adminFields, answer: 'No' })).status).toBe(404)
})
