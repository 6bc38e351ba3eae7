/** Makes the mandates of the reference's examples, in its test application. */
import { MADE_UP_MANDATE, type Samples } from '../docs/operations/samples.ts'
import type { Parts } from '../parts.ts'
import { acceptMandate } from '../payment/mandates/consent.ts'
import { findMandate } from '../payment/mandates/mandates.ts'
import { type OfferedTerms, offerMandate } from '../payment/mandates/offers.ts'
import { dayOf } from '../payment/mandates/periods.ts'
import { refillPlayPoints } from '../payment/orders/test-mode.ts'
import { AppError } from '../platform/errors.ts'

const IP = '127.0.0.1'
/** The references of the sample mandates. The example of an offer uses other ones. */
const CHARGED = 'sample-'
const REVOKED = 'to-revoke'
/** Enough for every example of a day. */
const TERMS = {
  purpose: 'Examples of the reference',
  caps: { charge_max: 100n, period_max: 100_000n },
  period: 'day',
  starts_on: undefined,
  ends_on: undefined,
  user_id: undefined,
  with_token: false,
  replaces: undefined,
} satisfies Omit<OfferedTerms, 'reference'>

type Members = { app_id: bigint; member_id: bigint }

/** Makes what is missing: a mandate that the member has allowed, and one to revoke. Made-up ones while mandates are off. */
export async function ensureSampleMandates(deps: Parts, members: Members): Promise<Samples['mandates']> {
  await refillPlayPoints(deps, members.member_id)
  try {
    return { charged: await ensureCharged(deps, members), revoked: await ensureRevoked(deps, members) }
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'mandates_unavailable')) throw error
    return { charged: MADE_UP_MANDATE, revoked: MADE_UP_MANDATE }
  }
}

async function ensureCharged(deps: Parts, { app_id, member_id }: Members): Promise<string> {
  const now = deps.clock()
  const found = await deps.db
    .selectFrom('mandates')
    .where('app_id', '=', app_id)
    .where('user_id', '=', member_id)
    .where('reference', 'like', `${CHARGED}%`)
    .where('status', '=', 'active')
    .where('ends_on', '>', dayOf(now))
    .select('mandate_id')
    .executeTakeFirst()
  if (found !== undefined) return found.mandate_id
  const mandate_id = await offer(deps, app_id, `${CHARGED}${now.getTime()}`)
  await acceptMandate(deps, mandate_id, { user_id: member_id, ip: IP, isFresh: true })
  return mandate_id
}

async function ensureRevoked(deps: Parts, { app_id }: Members): Promise<string> {
  const found = await findMandate(deps.db, { app_id, reference: REVOKED }, deps.clock())
  return found?.mandate_id ?? (await offer(deps, app_id, REVOKED))
}

async function offer(deps: Parts, app_id: bigint, reference: string): Promise<string> {
  const offerer = { app_id, book: 'test', isFormerOwners: false } as const
  return (await offerMandate(deps, offerer, { ...TERMS, reference }, async () => {})).mandate_id
}
