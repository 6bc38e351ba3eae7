/** Mandates in tests: the right to hold them, offers that a member accepts, and charges. */
import { expect } from 'vitest'
import type { ChargeMandate, ChargeRequest } from '../../src/payment/mandates/charge.ts'
import { acceptMandate } from '../../src/payment/mandates/consent.ts'
import { type OfferedTerms, offerMandate } from '../../src/payment/mandates/offers.ts'
import { askMandateRight, decideMandateRight } from '../../src/payment/mandates/right.ts'
import { AppError } from '../../src/platform/errors.ts'
import type { Person } from './cast.ts'
import { setSetting, type TestApp } from './harness.ts'
import { type Merchant, makeMerchant } from './merchant.ts'

export const IP = '203.0.113.7'
let count = 0

/** Switches mandates on, past the pages. */
export async function switchMandates(test: TestApp, value: 'on' | 'off' = 'on'): Promise<void> {
  await setSetting(test, 'mandates', value)
}

/** Gives a merchant the right to mandates. */
export async function giveRight(test: TestApp, merchant: Merchant, daily_max = 1_000_000n): Promise<void> {
  const actor = { user_id: merchant.owner.id, ip: IP }
  await askMandateRight(test.deps, merchant.payment_id, 'Subscriptions of a test', actor)
  await decideRight(test, merchant, { decision: 'grant', daily_max })
}

/** Creates a merchant who has the right to mandates. */
export async function makeMandateMerchant(test: TestApp, daily_max?: bigint): Promise<Merchant> {
  const merchant = await makeMerchant(test)
  await giveRight(test, merchant, daily_max)
  return merchant
}

export async function decideRight(
  test: TestApp,
  { payment_id }: Merchant,
  decided: { decision: 'grant'; daily_max: bigint } | { decision: 'refuse' | 'withdraw' },
): Promise<void> {
  await decideMandateRight(
    test.deps,
    payment_id,
    { ...decided, reason: 'test' },
    { actor_id: null, ip: null },
  )
}

/** The terms of an offer: up to 100 points each and 250 a month, unless the test says otherwise. */
export function termsOf(over: Partial<OfferedTerms> = {}): OfferedTerms {
  return {
    reference: `ref-${++count}`,
    purpose: 'A service',
    caps: { charge_max: 100n, period_max: 250n },
    period: 'month',
    starts_on: undefined,
    ends_on: undefined,
    user_id: undefined,
    with_token: false,
    replaces: undefined,
    ...over,
  }
}

/** Offers a mandate by a merchant's verb. Returns its mandate_id. */
export async function offer(
  test: TestApp,
  { id, book = 'live' }: Pick<Merchant, 'id'> & { book?: 'live' | 'test' },
  over: Partial<OfferedTerms> = {},
): Promise<string> {
  const offerer = { app_id: id, book, isFormerOwners: false }
  return (await offerMandate(test.deps, offerer, termsOf(over), async () => {})).mandate_id
}

/** Offers a mandate, and accepts it as this member. Returns its mandate_id. */
export async function makeMandate(
  test: TestApp,
  merchant: Pick<Merchant, 'id'> & { book?: 'live' | 'test' },
  { id: user_id }: Pick<Person, 'id'>,
  over: Partial<OfferedTerms> = {},
): Promise<string> {
  const mandate_id = await offer(test, merchant, over)
  expect(await acceptMandate(test.deps, mandate_id, { user_id, ip: IP, isFresh: true })).toBeUndefined()
  return mandate_id
}

/** The request of a charge with an order_id of its own. */
export function chargeOf(
  { id, owner }: Pick<Merchant, 'id' | 'owner'>,
  mandate_id: string,
  amount: bigint,
  over: Partial<ChargeRequest> = {},
): ChargeRequest {
  return {
    app_id: id,
    mandate_id,
    order_id: `charge-${++count}`,
    amount,
    description: 'Tea',
    owner_id: owner.id,
    access_token: undefined,
    ...over,
  }
}

/** What became of an act: `done`, or the code of its refusal with its data. */
export async function outcomeOf(act: Promise<unknown>): Promise<unknown> {
  return act.then(
    () => 'done',
    (error: unknown) => {
      if (!(error instanceof AppError)) throw error
      return error.data === undefined ? error.code : [error.code, error.data]
    },
  )
}

/** What became of a charge: the sum of its period, or the refusal as of `outcomeOf`. */
export async function chargedOr(charge: ReturnType<ChargeMandate>): Promise<unknown> {
  let spent: bigint | undefined
  const outcome = await outcomeOf(
    charge.then((made) => {
      spent = made.spent
    }),
  )
  return outcome === 'done' ? spent : outcome
}
