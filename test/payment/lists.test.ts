/**
 * The lists of the HMAC API: every row of one application once, page by page, while new rows arrive.
 * spec/payment-api 5.1.
 */
import { describe, expect, it } from 'vitest'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { reverseTransfer } from '../../src/payment/orders/refunds.ts'
import { givePoints, makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { makeMerchant, merchantSign, post, recipientFields } from '../harness/merchant.ts'
import { makeGatewayOrders } from '../harness/notify-receiver.ts'

const test = await useTestApp()
const merchant = await makeMerchant(test)
const buyer = await makePerson(test, { points: 10_000n })
await givePoints(test, merchant.owner, 100_000n)

type Row = Record<string, unknown> & { transaction_id: string }
type List = { success: boolean; data: Row[]; next_cursor: string | null }

async function list(what: 'orders' | 'transfers', fields: Record<string, string> = {}, by = merchant) {
  const signed = { ...fields, signature: merchantSign(by.token, fields) }
  const { status, body } = await post(test, `/payment/${what}/${by.payment_id}`, signed)
  if (status !== 200) throw new Error(JSON.stringify(body.errors))
  return body as unknown as List
}

/** Reads all pages of a list, with an act between them. */
async function walk(what: 'orders' | 'transfers', fields: Record<string, string>, between = async () => {}) {
  const found: Row[] = []
  let cursor: string | null = null
  do {
    const page: List = await list(what, { ...fields, ...(cursor === null ? {} : { cursor }) })
    found.push(...page.data)
    cursor = page.next_cursor
    await between()
  } while (cursor !== null)
  return found
}

let count = 0
async function order(by = merchant): Promise<string> {
  count += 1
  const fields = { amount: '10', description: 'A thing', order_id: `list-${count}` }
  return String((await by.process(fields)).body.transaction_id)
}

describe('orders', () => {
  it('come page by page in both directions, each once', async () => {
    const made: string[] = []
    for (let n = 0; n < 7; n += 1) made.push(await order())
    const stranger = await makeMerchant(test)
    await order(stranger)
    const pay = makePayOrder(test.deps)
    await pay({ transaction_id: made[2]!, payer_id: buyer.id, expected_amount: 10n })

    const newest = await walk('orders', { limit: '3' }, async () => void (await order()))
    expect(newest.map(({ transaction_id }) => transaction_id)).toEqual(made.toReversed())
    const oldest = await walk('orders', { limit: '4', order: 'asc' })
    expect(oldest.slice(0, 7).map(({ transaction_id }) => transaction_id)).toEqual(made)
    expect(oldest.length).toBe(new Set(oldest.map(({ transaction_id }) => transaction_id)).size)

    const { body } = await merchant.query({ transaction_id: made[2]! })
    expect({ success: true, ...oldest[2] }).toEqual(body)
    const paid = await list('orders', { status: 'completed' })
    expect(paid).toMatchObject({
      data: [{ transaction_id: made[2], status: 'completed' }],
      next_cursor: null,
    })
  })

  it('are searched in bounded steps, and found behind any number', async () => {
    const seller = await makeMerchant(test)
    const first = await order(seller)
    await makeGatewayOrders(test, seller, { count: 20_001, notify_url: 'https://shop.example/' })
    const last = await order(seller)
    const ids = ({ data }: List) => data.map(({ transaction_id }) => transaction_id)

    const newest = await list('orders', {}, seller)
    expect([ids(newest), newest.next_cursor]).toEqual([[last], expect.stringMatching(/^txn_/)])
    const rest = await list('orders', { cursor: newest.next_cursor! }, seller)
    expect([ids(rest), rest.next_cursor]).toEqual([[first], null])
    const oldest = await list('orders', { order: 'asc' }, seller)
    expect([ids(oldest), oldest.next_cursor]).toEqual([[first], expect.stringMatching(/^txn_/)])
    const now = String(test.clock.now().getTime() / 1000 + 1_200)
    expect(await list('orders', { since: now }, seller)).toMatchObject({ data: [], next_cursor: null })
  })

  it('are narrowed by when they were created', async () => {
    const epoch = () => String(test.clock.now().getTime() / 1000)
    test.clock.advance(60_000)
    const since = epoch()
    const transaction_id = await order()
    test.clock.advance(60_000)
    const until = epoch()
    await order()
    const { data } = await list('orders', { since, until })
    expect(data).toMatchObject([{ transaction_id }])
  })
})

it('transfers come the same way, reversed ones with their word', async () => {
  const ids: string[] = []
  for (let n = 0; n < 5; n += 1) {
    const { body } = await merchant.transfer({
      ...recipientFields(buyer),
      amount: '100',
      order_id: `send-${n}`,
    })
    ids.push(String(body.transaction_id))
  }
  const all = await walk('transfers', { limit: '2', order: 'asc' })
  expect(all.map(({ transaction_id }) => transaction_id)).toEqual(ids)
  expect(all[0]).toMatchObject({ order_id: 'send-0', status: 'completed', amount: 100, total_deduction: 103 })
  const by = { reason: 'Sent twice', actor_id: merchant.owner.id, ip: '' }
  await reverseTransfer(test.deps, { transaction_id: ids[1]!, with_fee: true, ...by })
  expect((await list('transfers', { status: 'reversed' })).data).toMatchObject([
    { transaction_id: ids[1], status: 'reversed' },
  ])
})

describe('is refused', () => {
  const code = async (fields: Record<string, string>, what: 'orders' | 'transfers' = 'orders') => {
    const signed = { ...fields, signature: merchantSign(merchant.token, fields) }
    const { status, body } = await post(test, `/payment/${what}/${merchant.payment_id}`, signed)
    return [status, (body.errors as { code: number }[])[0]!.code]
  }

  it.each([
    ['limit', '0'],
    ['limit', '201'],
    ['limit', 'many'],
    ['order', 'random'],
    ['cursor', 'txn_000000000000000000000000'],
    ['cursor', '1'],
    ['status', 'paid'],
    ['status', 'toString'],
    ['since', 'yesterday'],
    ['until', '-1'],
  ])('with %s %s', async (name, value) => {
    expect(await code({ [name]: value })).toEqual([400, 1005])
    expect(await code({ [name]: value }, 'transfers')).toEqual([400, 1005])
  })

  it('without a right signature, with a foreign cursor, or unknown Payment ID', async () => {
    const stranger = await makeMerchant(test)
    const foreign = await order(stranger)
    expect(await code({ cursor: foreign })).toEqual([400, 1005])
    const unsigned = await post(test, `/payment/orders/${merchant.payment_id}`, { limit: '1' })
    expect(unsigned.status).toBe(401)
    const nobody = await post(test, '/payment/transfers/pay_00000000000000000000', { limit: '1' })
    expect(nobody.status).toBe(404)
  })

  it('while the application waits for its review', async () => {
    const pending = await makeMerchant(test, { approved: false })
    await expect(list('orders', {}, pending)).rejects.toThrow('1009')
  })
})
