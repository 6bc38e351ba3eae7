/**
 * Orders placed together in one statement: each ends as it would by itself, and no deadlock occurs.
 * spec/points 3.1.
 */
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { rowArray } from '../../src/database/rows.ts'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { ASKED_ORDER, type CreateOrder, makeCreateOrder } from '../../src/payment/orders/place.ts'
import { expectSoundBooks } from '../harness/books.ts'
import { makePerson } from '../harness/cast.ts'
import { useTestApp } from '../harness/harness.ts'
import { makeMerchant } from '../harness/merchant.ts'
import { lockRows, rowOf, rowsOf } from '../harness/rows.ts'

const test = await useTestApp()
const merchant = await makeMerchant(test)

const newOrder = (order_id: string, amount = 10n) => ({
  app_id: merchant.id,
  order_id,
  description: 'Tea',
  amount,
})

/** Places these orders as one batch. */
const together = (createOrder: CreateOrder, orders: ReturnType<typeof newOrder>[]) =>
  Promise.allSettled(orders.map((order) => createOrder(order)))

it('the same order_id is one transaction; another amount is refused', async () => {
  const outcomes = await together(makeCreateOrder(test.deps), [
    newOrder('a'),
    newOrder('a'),
    newOrder('b'),
    newOrder('a', 11n),
  ])
  const [first, same, other, changed] = outcomes
  expect(first).toMatchObject({ status: 'fulfilled', value: { order_id: 'a', amount: 10n } })
  expect(same).toEqual(first)
  expect(other).toMatchObject({ status: 'fulfilled', value: { order_id: 'b' } })
  expect(changed).toMatchObject({ status: 'rejected', reason: { code: 'parameter_invalid' } })
  const rows = await rowsOf(test, 'orders', { order_id: 'a' })
  expect(rows.map(({ amount }) => amount)).toEqual([10n])
})

it('an expired order begins again as its first request of the same amount says', async () => {
  const { transaction_id } = await makeCreateOrder(test.deps)(newOrder('expired'))
  test.clock.advance(31 * 60_000)
  const now = test.clock.now()
  const asked = [11n, 10n, 10n].map((amount, n) => {
    const expires_at = new Date(now.getTime() + (n + 1) * 60_000)
    return { ...newOrder('expired', amount), door: 'hmac', transaction_id: `txn_${n}`, expires_at, now }
  })
  const begin = sql<{ left_out: string[] | null }>`
    select begin_again(${rowArray(ASKED_ORDER, asked)}, true)::text[] as left_out`
  const { id } = await rowOf(test, 'orders', { transaction_id })
  await test.db.transaction().execute(async (tx) => {
    await lockRows(tx, 'orders', { id })
    expect((await begin.execute(test.db)).rows).toEqual([{ left_out: [String(id)] }])
  })
  expect((await begin.execute(test.db)).rows).toEqual([{ left_out: [] }])
  expect(await rowOf(test, 'orders', { id })).toMatchObject({
    status: 'unpaid',
    expires_at: asked[1]!.expires_at,
  })
})

it('an order that cannot be stored harms none of its batch', async () => {
  const outcomes = await together(makeCreateOrder(test.deps), [
    newOrder('c'),
    newOrder('d', 0n),
    newOrder('e'),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

it('orders repeated and paid at once in any order all end', async () => {
  const payer = await makePerson(test, { points: 10_000n })
  const asked = Array.from({ length: 40 }, (_, n) => newOrder(`again-${n}`))
  const place = makeCreateOrder(test.deps)
  const placed = await Promise.all(asked.map((order) => place(order)))
  test.clock.advance(31 * 60_000)
  const lanes = [0, 1, 2].map(() => ({ create: makeCreateOrder(test.deps), pay: makePayOrder(test.deps) }))
  const acts = lanes.flatMap(({ create, pay }, lane) => {
    const mine = lane % 2 === 0 ? asked : asked.toReversed()
    const payments = placed.map(({ transaction_id }) => ({
      transaction_id,
      payer_id: payer.id,
      expected_amount: 10n,
    }))
    return [
      ...mine.map((order) => create(order)),
      ...(lane % 2 === 0 ? payments.toReversed() : payments).map(pay),
    ]
  })
  const outcomes = await Promise.allSettled(acts)
  const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []))
  // Only for orders that others had already paid.
  expect(new Set(reasons)).toEqual(new Set(reasons.length === 0 ? [] : ['order_exists']))
  const paid = await Promise.all(
    placed.map(({ transaction_id }) =>
      lanes[0]!.pay({ transaction_id, payer_id: payer.id, expected_amount: 10n }),
    ),
  )
  expect(paid.filter((outcome) => outcome !== 'paid' && outcome !== 'paid_before')).toEqual([])
  await expectSoundBooks(test.db)
})
