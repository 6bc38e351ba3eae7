/** Tips in tests: their application, members who may give and receive, and tips past the pages. */
import { sql } from 'kysely'
import type { Core } from '../../src/core/core.ts'
import { makePayOrder, type PayOutcome } from '../../src/payment/orders/pay.ts'
import { placeTip } from '../../src/payment/tips/place.ts'
import { nameTipsApp } from '../../src/payment/tips/setup.ts'
import { changePerson, makePerson, type Person } from './cast.ts'
import { setSetting, type TestApp } from './harness.ts'
import { type Merchant, makeMerchant } from './merchant.ts'

const YEAR_MS = 365 * 86_400_000

/** Switches tips on, with an application for them and no limit of how many are begun. */
export async function switchTips(test: TestApp): Promise<Merchant> {
  const app = await makeMerchant(test)
  const staff = await makePerson(test, { username: 'admin', is_admin: true })
  await nameTipsApp(test.deps, app.payment_id, { user_id: staff.id, ip: '203.0.113.7' })
  await setSetting(test, 'tips', 'on')
  await setSetting(test, 'limit_tips', '0')
  return app
}

/** A member whose account is a year old, and who has signed in. */
export async function makeTipper(
  test: TestApp,
  over: Parameters<typeof makePerson>[1] = {},
): Promise<Person> {
  const person = await makePerson(test, { points: 10_000n, ...over })
  await changePerson(test, person, { has_signed_in: true })
  await setAge(test, person, YEAR_MS)
  return person
}

/** Makes an account look as old as this. */
export async function setAge(
  { db, clock }: TestApp,
  { id }: Pick<Person, 'id'>,
  age_ms: number,
): Promise<void> {
  const at = new Date(clock.now().getTime() - age_ms)
  await sql`update users set created_at = ${at} where id = ${id}`.execute(db)
}

type Giving = { amount?: bigint; post_path?: string | null }

/** Begins a tip. Returns the refusal, or the order's transaction_id. */
export async function beginTip(
  deps: Core,
  { id: from_id }: Pick<Person, 'id'>,
  { id: to_id }: Pick<Person, 'id'>,
  { amount = 10n, post_path = null }: Giving = {},
): Promise<string> {
  const placed = await placeTip(deps, { from_id, to_id, amount, post_path })
  return placed.refusal ?? placed.transaction_id
}

/** Begins a tip and pays it. Returns the refusal, or the outcome of the payment. */
export async function tip(
  deps: Core,
  from: Pick<Person, 'id'>,
  to: Pick<Person, 'id'>,
  giving: Giving = {},
): Promise<{ outcome: PayOutcome | string; transaction_id: string }> {
  const transaction_id = await beginTip(deps, from, to, giving)
  if (!transaction_id.startsWith('txn_')) return { outcome: transaction_id, transaction_id }
  return { outcome: await payTip(deps, transaction_id, from, giving.amount), transaction_id }
}

/** Pays the order of a tip. */
export function payTip(
  deps: Core,
  transaction_id: string,
  { id: payer_id }: Pick<Person, 'id'>,
  expected_amount = 10n,
): Promise<PayOutcome> {
  return makePayOrder(deps)({ transaction_id, payer_id, expected_amount })
}
