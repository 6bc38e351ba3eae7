/** What only the first start of a demo does: the name of the site, the other members and shops, and the history of all. */
import { createUser, findUserByUsername } from '../accounts/people/users.ts'
import { hashPassword } from '../accounts/security/password.ts'
import type { Db } from '../database/connection.ts'
import type { Parts } from '../parts.ts'
import { applyForPaymentApp } from '../payment/apps/apps.ts'
import { randomToken } from '../platform/secrets.ts'
import { type DemoApps, ensurePaymentApp } from './apps.ts'
import { MEMBERS, type MemberName, SHOPS, WAITING } from './cast.ts'
import { type HistoryShop, playHistory } from './history.ts'

const NAMES = { site_name_en: 'Spark Forum', site_name_zh_cn: '星火论坛' } as const
const HOMEPAGE = 'https://shop.example'

type Known = {
  alice_id: bigint
  reviewer_id: bigint
  apps: DemoApps
  gateway_shop_url: string
  logoOf(name: string): string
}

/** Does nothing once points have moved, so a start cut short leaves a shorter history and whole books. */
export async function introduce(deps: Parts, known: Known): Promise<void> {
  const moved = await deps.db.selectFrom('journal').select('id').limit(1).executeTakeFirst()
  if (moved !== undefined) return
  for (const name of ['site_name_en', 'site_name_zh_cn'] as const)
    await deps.settings.change({ name, value: NAMES[name], actor_id: null, ip: null, now: deps.clock() })
  const finished = { name: 'set_up_finished', value: 'on', actor_id: null, ip: null } as const
  await deps.settings.change({ ...finished, now: deps.clock() })
  const ids = await ensureMembers(deps.db)
  const { reviewer_id, apps, logoOf } = known
  const shopOf = async (shop: 'cat' | 'library'): Promise<HistoryShop> => {
    const { owner, name, description } = SHOPS[shop]
    const owner_id = ids[owner]
    const facts = { name, description, callback_url: `${HOMEPAGE}/paid`, homepage: HOMEPAGE }
    const made = await ensurePaymentApp(
      deps,
      { owner_id, reviewer_id, logo_url: logoOf(`${shop}-shop`) },
      facts,
    )
    return { ...made, owner_id }
  }
  const shops = {
    sticker: await findShop(deps.db, apps.payment_app.payment_id),
    mug: await findShop(deps.db, apps.gateway_app.payment_id),
    cat: await shopOf('cat'),
    library: await shopOf('library'),
  }
  const { owner, ...waiting } = WAITING
  await applyForPaymentApp(deps, { ...waiting, applicant_id: ids[owner], callback_url: `${HOMEPAGE}/coffee` })
  await playHistory(deps, {
    buyers: { ...ids, alice: known.alice_id },
    shops,
    admin_id: reviewer_id,
    gateway_shop_url: known.gateway_shop_url,
  })
}

/** Their password is random and printed nowhere: nobody signs in as one of them. */
async function ensureMembers(db: Db): Promise<Record<MemberName, bigint>> {
  const password_hash = await hashPassword(randomToken())
  const ids: Partial<Record<MemberName, bigint>> = {}
  for (const { username, ...values } of MEMBERS) {
    const found = await findUserByUsername(db, username)
    ids[username] = found?.id ?? (await createUser(db, { ...values, username, password_hash }))
  }
  return ids as Record<MemberName, bigint>
}

async function findShop(db: Db, payment_id: string): Promise<HistoryShop> {
  const { applicant_id: owner_id, ...app } = await db
    .selectFrom('payment_apps')
    .where('payment_id', '=', payment_id)
    .select(['id', 'payment_id', 'pid', 'applicant_id'])
    .executeTakeFirstOrThrow()
  return { ...app, owner_id }
}
