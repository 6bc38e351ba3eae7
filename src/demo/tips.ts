/** Tips in the demo's forum: their application, the accounts of two of its members, and the tip that one gave the other. */
import { sql } from 'kysely'
import { saveMember, savingMembers } from '../accounts/forum/members.ts'
import { postPoints } from '../ledger/points.ts'
import type { Parts } from '../parts.ts'
import { makePayOrder } from '../payment/orders/pay.ts'
import { placeTip } from '../payment/tips/place.ts'
import { hasTips, nameTipsApp } from '../payment/tips/setup.ts'
import { ensurePaymentApp } from './apps.ts'
import { turnOn } from './mandates.ts'
import { daysBefore } from './members.ts'

const IP = '127.0.0.1'
const TIP = 50n
/** The members of examples/forum who have signed in here, and their numbers there. The third author has no account. */
export const AUTHORS = [
  { forum_id: 11n, username: 'erin', name: 'Erin Moore', trust_level: 2, joined: 60 },
  { forum_id: 12n, username: 'frank', name: 'Frank Ito', trust_level: 1, joined: 34 },
] as const

/** Does nothing once a tip was ordered. A setting or an application that administrators have changed stays so. */
export async function ensureTips(
  deps: Parts,
  { admin_id, base_url }: { admin_id: bigint; base_url: string },
): Promise<void> {
  if (await hasTips(deps.db)) return
  const facts = {
    name: 'Tips',
    description: 'Points that members give to authors in the forum',
    callback_url: `${base_url}/account`,
    homepage: null,
  }
  const { payment_id } = await ensurePaymentApp(
    deps,
    { owner_id: admin_id, reviewer_id: admin_id, logo_url: null },
    facts,
  )
  await nameTipsApp(deps, payment_id, { user_id: admin_id, ip: IP })
  await turnOn(deps.db, ['tips'])
  const [from_id, to_id] = [await ensureAuthor(deps, AUTHORS[0]), await ensureAuthor(deps, AUTHORS[1])]
  const now = deps.clock()
  await postPoints(deps.db, {
    lines: [{ user_id: from_id, amount: TIP, reference: 'demo:welcome:erin' }],
    ...{ reason: 'Welcome gift', actor_id: null, now },
  })
  const placed = await placeTip(deps, { from_id, to_id, amount: TIP, post_path: '/t/ginger-cat-photos/12/2' })
  if (placed.refusal !== undefined) throw new Error(`The demo's tip: ${placed.refusal}`)
  const { transaction_id } = placed
  await makePayOrder(deps)({ transaction_id, payer_id: from_id, expected_amount: TIP })
}

/** Finds or makes the account that a sign-in through the forum would make, some weeks old. */
export async function ensureAuthor(
  { db, clock }: Parts,
  { joined, ...stated }: (typeof AUTHORS)[number],
): Promise<bigint> {
  const now = clock()
  const { forum_id, username, name } = stated
  const unknown = { email: undefined, avatar_url: undefined, group_names: undefined }
  const none = { is_admin: false, is_moderator: false, suspended_till: null, silenced_till: null }
  return savingMembers(db, async (tx) => {
    const id = await saveMember(tx, {
      identity: { forum_id, username, name, is_admin: false, is_moderator: false, ...unknown },
      user: { ...stated, ...none, groups: undefined },
      ...{ hasApi: true, aliases: new Map(), now },
    })
    await tx
      .updateTable('users')
      .set({
        created_at: sql`least(created_at, ${daysBefore(now, joined)}::timestamptz)`,
        has_signed_in: true,
      })
      .where('id', '=', id!)
      .execute()
    return id!
  })
}
