/** Orders of the HMAC API in tests: placed by a merchant, paid past the page, and refunded. */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { makePayOrder } from '../../src/payment/orders/pay.ts'
import { type Refund, refundOrder } from '../../src/payment/orders/refunds.ts'
import { makePerson, type Person } from './cast.ts'
import type { TestApp } from './harness.ts'
import type { Merchant } from './merchant.ts'
import { rowOf } from './rows.ts'

export type PlacedOrder = { transaction_id: string; order_id: string; path: string }

let count = 0

/** Places an order by a signed request. `path` is that of its pay page. */
export async function placeOrder(
  { process }: Pick<Merchant, 'process'>,
  over: { amount?: string; description?: string; order_id?: string } = {},
): Promise<PlacedOrder> {
  const fields = { amount: '100', description: 'Tea', order_id: `order-${++count}`, ...over }
  const { status, body } = await process(fields)
  if (status !== 200) throw new Error(JSON.stringify(body))
  const { pathname } = new URL(String(body.payment_url))
  return { transaction_id: String(body.transaction_id), order_id: fields.order_id, path: pathname }
}

/** Pays an order without the page. */
export async function payOrder(
  test: TestApp,
  { transaction_id }: Pick<PlacedOrder, 'transaction_id'>,
  { id: payer_id }: Pick<Person, 'id'>,
): Promise<void> {
  const { amount } = await rowOf(test, 'orders', { transaction_id })
  const outcome = await makePayOrder(test.deps)({ transaction_id, payer_id, expected_amount: amount })
  if (outcome !== 'paid') throw new Error(`The order is not paid: ${outcome}`)
}

/** Refunds points of an order as an administrator does. */
export async function refund(
  test: TestApp,
  { transaction_id }: Pick<PlacedOrder, 'transaction_id'>,
  amount: bigint,
  over: Partial<Refund> = {},
): Promise<void> {
  const actor_id = over.actor_id ?? (await makePerson(test, { username: 'admin', is_admin: true })).id
  const act = { transaction_id, amount, with_fee: true, key: randomUUID(), reason: 'Torn', ip: '203.0.113.9' }
  await refundOrder(test.deps, { ...act, actor_id, ...over })
}

/** Adds orders to an application that no search but one for hay finds. */
export async function addHay(
  { db, clock }: Pick<TestApp, 'db' | 'clock'>,
  { id }: Pick<Merchant, 'id'>,
  rows: number,
): Promise<void> {
  const now = clock.now()
  await sql`
    insert into orders (app_id, door, order_id, transaction_id, description, amount, expires_at, created_at)
    select ${id}, 'hmac', 'hay-' || i, 'txn_' || lpad(${id}::text || 'h' || i, 24, 'h'), 'Straw', 5, ${now}, ${now}
    from generate_series(1, ${rows}::int) as i`.execute(db)
}
