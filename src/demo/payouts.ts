/** Makes a finished payout of the demo's shop, and its test application with an access key. */
import type { Parts } from '../parts.ts'
import { createAccessKey } from '../payment/access-keys/keys.ts'
import { createTestApp } from '../payment/apps/test-apps.ts'
import { createPayout } from '../payment/payouts/payouts.ts'
import { runPayouts } from '../payment/payouts/run.ts'
import { MEMBERS, type MemberName } from './cast.ts'

const IP = '127.0.0.1'
/** The prizes of a raffle in the order of MEMBERS. */
const PRIZES = [300n, 150n, 80n, ...Array<bigint>(9).fill(20n)]
/** This member has another name than the list says, so the line is refused. */
const RENAMED: MemberName = 'leo'
const TEST_APP = { name: 'Sticker Shop, trial', description: 'Tries what a program does, with test points' }

/** Makes both once. A later start finds them. */
export async function ensurePayout(
  deps: Parts,
  { payment_id }: { payment_id: string },
  owner_id: bigint,
): Promise<void> {
  const { id: app_id } = await deps.db
    .selectFrom('payment_apps')
    .where('payment_id', '=', payment_id)
    .select('id')
    .executeTakeFirstOrThrow()
  const ids = new Map(
    (await deps.db.selectFrom('users').select(['id', 'username']).execute()).map((user) => [
      user.username,
      user.id,
    ]),
  )
  const lines = MEMBERS.map(({ username }, i) => ({
    line_id: String(i + 1),
    to_user_id: ids.get(username)!,
    to_username: username === RENAMED ? `${username}.fischer` : username,
    amount: PRIZES[i]!,
    memo: i < 3 ? `Autumn raffle, prize ${i + 1}` : 'Autumn raffle',
  }))
  const asked = { reference: 'autumn-raffle', mode: 'each' as const, lines }
  await createPayout(deps, { app_id, owner_id }, asked, () => {})
  await runPayouts(deps)
  await ensureTestKey(deps, owner_id)
}

async function ensureTestKey(deps: Parts, owner_id: bigint): Promise<void> {
  const found = await deps.db
    .selectFrom('payment_apps')
    .where('applicant_id', '=', owner_id)
    .where('name', '=', TEST_APP.name)
    .select('id')
    .executeTakeFirst()
  if (found !== undefined) return
  const { payment_id } = await createTestApp(deps, { ...TEST_APP, applicant_id: owner_id, ip: IP })
  const key = {
    name: 'Raffle script',
    scopes: ['orders:read' as const, 'payouts' as const],
    days: 90,
    allowed_addresses: [],
  }
  await createAccessKey(deps, payment_id, key, { user_id: owner_id, ip: IP })
}
