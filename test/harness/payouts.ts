/** Payouts in tests: their lines, and the rounds of the worker. */
import type { Core } from '../../src/core/core.ts'
import { createPayout, type NewPayout, type Payout } from '../../src/payment/payouts/payouts.ts'
import type { PayoutLine } from '../../src/payment/payouts/request.ts'
import type { Person } from './cast.ts'
import type { Merchant } from './merchant.ts'

/** A line to a member: 10 points, unless the test says otherwise. */
export const line = (
  line_id: string,
  { id, username }: Pick<Person, 'id' | 'username'>,
  amount = 10n,
): PayoutLine => ({ line_id, to_user_id: id, to_username: username, amount, memo: '' })

/** Lines to these members by turns. */
export const lines = (count: number, people: Pick<Person, 'id' | 'username'>[], amount = 10n): PayoutLine[] =>
  Array.from({ length: count }, (_, i) => line(`l${i + 1}`, people[i % people.length]!, amount))

/** Creates a payout as the API does. */
export async function startPayout(
  deps: Core,
  { id: app_id, owner }: Pick<Merchant, 'id' | 'owner'>,
  asked: Partial<NewPayout> & Pick<NewPayout, 'reference' | 'lines'>,
): Promise<Payout> {
  return createPayout(deps, { app_id, owner_id: owner.id }, { mode: 'each', ...asked }, () => {})
}
