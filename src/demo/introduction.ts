/** What only the first start of a demo does: the name of the site, the other members and shops, and the history of all. */
import { sql } from 'kysely'
import type { Db } from '../database/connection.ts'
import { rememberConsent } from '../identity/grants/consents.ts'
import type { Parts } from '../parts.ts'
import { applyForPaymentApp, returnWithout } from '../payment/apps/apps.ts'
import { type DemoApps, ensurePaymentApp, registerLinked } from './apps.ts'
import { MEMBERS, type MemberName, NEWCOMERS, SHOPS, type ShopName, WAITING } from './cast.ts'
import { type HistoryShop, playHistory } from './history.ts'
import { ensureWindows, makeLinks } from './links.ts'
import { daysBefore, ensureMembers } from './members.ts'
import { planOrders } from './plan.ts'
import { addPasskeys, signInOften } from './sign-ins.ts'

/** Members may join, and a mail program opens for the administrators. */
const SETTINGS = {
  site_name_en: 'Spark Forum',
  site_name_zh_cn: '星火论坛',
  registration: 'open',
  link_contact: 'mailto:team@spark.example',
} as const
const HOMEPAGE = 'https://shop.example'

type Known = {
  people: Record<'alice' | 'bob' | 'carol' | 'dora', bigint>
  reviewer_id: bigint
  apps: DemoApps
  gateway_shop_url: string
  shop_url: string
  logoOf(name: string): string
}

/** Whether no points have moved yet. */
export async function isUntouched(db: Db): Promise<boolean> {
  return (await db.selectFrom('journal').select('id').limit(1).executeTakeFirst()) === undefined
}

/** Does nothing once points have moved, so a start cut short leaves a shorter history and whole books. Returns whether it did. */
export async function introduce(deps: Parts, known: Known): Promise<boolean> {
  if (!(await isUntouched(deps.db))) return false
  for (const name of ['site_name_en', 'site_name_zh_cn', 'registration', 'link_contact'] as const)
    await deps.settings.change({ name, value: SETTINGS[name], actor_id: null, ip: null, now: deps.clock() })
  const finished = { name: 'set_up_finished', value: 'on', actor_id: null, ip: null } as const
  await deps.settings.change({ ...finished, now: deps.clock() })
  const ids = await ensureMembers(deps, [...MEMBERS, ...NEWCOMERS])
  const { people, reviewer_id, apps, logoOf } = known
  const shopOf = async (shop: 'cat' | 'library'): Promise<HistoryShop> => {
    const { owner, name, description } = SHOPS[shop]
    const owner_id = ids[owner]
    // They run no program. Their homepage is the page of a link: see ensureWindows.
    const facts = { name, description, callback_url: returnWithout(deps), homepage: null }
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
    library: await shopOf('library'),
    cat: await shopOf('cat'),
  }
  await ensureWindows(deps)
  const { owner, ...waiting } = WAITING
  await applyForPaymentApp(deps, { ...waiting, applicant_id: ids[owner], callback_url: `${HOMEPAGE}/coffee` })
  const client_ids = {
    sticker: apps.oauth_app.client_id,
    library: await addSignIn(deps, shops.library, { ...SHOPS.library, reviewer_id }),
    cat: await addSignIn(deps, shops.cat, { ...SHOPS.cat, reviewer_id }),
  }
  const buyers = { ...ids, alice: people.alice }
  await lookOlder(deps, shops, client_ids)
  await allowSignIns(deps, client_ids, buyers)
  await signInOften(deps, Object.values({ ...ids, ...people }), Object.values(client_ids))
  await useSecrets(deps.db, Object.values(client_ids))
  await addPasskeys(deps, buyers)
  const orders = planOrders(deps.clock())
  const sales = await makeLinks(deps, shops.sticker, { orders, buyers: ids })
  await playHistory(deps, {
    ...{ buyers, people: { ...ids, ...people } },
    ...{
      orders,
      sales,
      shops,
      admin_id: reviewer_id,
      gateway_shop_url: known.gateway_shop_url,
      shop_url: known.shop_url,
    },
  })
  return true
}

/** Registers a sign-in application that is one shop with the payment application. Returns its client_id; no program uses it. */
async function addSignIn(
  deps: Parts,
  { payment_id, owner_id }: HistoryShop,
  { name, description, reviewer_id }: { name: string; description: string; reviewer_id: bigint },
): Promise<string> {
  const app = { name, description, redirect_uris: [`${HOMEPAGE}/${payment_id}/signed-in`] }
  return registerLinked(deps, { ...app, payment_id }, { owner_id, reviewer_id })
}

/** The shops are open since so many days, and the staff reviewed each a day later. */
const OPENED = { sticker: 203, mug: 190, library: 171, cat: 139 } as const satisfies Record<ShopName, number>
/** In the order in which they opened. The mug shop has no sign-in. */
const WITH_SIGN_IN = ['sticker', 'library', 'cat'] as const

/** Dates the shops before their first order, and what the members read of their reviews. */
async function lookOlder(
  { db, clock }: Parts,
  shops: Record<ShopName, HistoryShop>,
  client_ids: Record<(typeof WITH_SIGN_IN)[number], string>,
): Promise<void> {
  const now = clock()
  for (const [shop, days] of Object.entries(OPENED) as [ShopName, number][]) {
    const [created_at, reviewed_at] = [daysBefore(now, days), daysBefore(now, days - 1)]
    const { id } = shops[shop]
    await sql`
      update payment_apps set created_at = ${created_at}, reviewed_at = ${reviewed_at} where id = ${id}`.execute(
      db,
    )
    await sql`
      update alerts set raised_at = ${reviewed_at}, read_at = ${reviewed_at} where app_id = ${id} and kind = 'reviewed'`.execute(
      db,
    )
    if (shop === 'mug') continue
    await sql`
      with app as (
        update oauth_apps set created_at = ${created_at}, reviewed_at = ${reviewed_at}
        where client_id = ${client_ids[shop]} returning id
      )
      update app_secrets set created_at = ${created_at} from app where app_id = app.id`.execute(db)
  }
  await sql`update payment_apps set created_at = ${daysBefore(now, 1)} where status = 'pending'`.execute(db)
}

/** Members have allowed the sign-in of the shops where they buy; alice not yet that of the first, the sticker shop. */
async function allowSignIns(
  { db, clock }: Parts,
  client_ids: Record<(typeof WITH_SIGN_IN)[number], string>,
  ids: Record<MemberName | 'alice', bigint>,
): Promise<void> {
  const now = clock()
  for (const [nth, shop] of WITH_SIGN_IN.entries()) {
    const { id: app_id } = await db
      .selectFrom('oauth_apps')
      .where('client_id', '=', client_ids[shop])
      .select('id')
      .executeTakeFirstOrThrow()
    const scopes = shop === 'cat' ? ['openid', 'profile', 'email'] : ['openid', 'profile']
    const people = MEMBERS.map(({ username, joined }, i) => ({
      username,
      days: Math.min(joined - 1, OPENED[shop] - 8 * (i + 1)),
    })).filter((_, i) => (i + nth) % (nth + 1) === 0)
    // Alice signs in to shops as she buys there.
    const alice = { username: 'alice' as const, days: 23 * nth }
    await db.transaction().execute(async (tx) => {
      for (const { username, days } of nth === 0 ? people : [...people, alice]) {
        const app = { app_id, resource_app_id: null, document_version: null, user_id: ids[username] }
        await rememberConsent(tx, app, scopes, daysBefore(now, days))
      }
      await sql`update consents set created_at = updated_at where app_id = ${app_id}`.execute(tx)
    })
  }
}

/** The secrets of these applications were used for their sign-ins. */
async function useSecrets(db: Db, client_ids: string[]): Promise<void> {
  await sql`
    update app_secrets set
      last_used_at = (select max(created_at) from grants where grants.app_id = app_secrets.app_id)
    where app_id in (select id from oauth_apps where client_id = any(${client_ids}::text[]))`.execute(db)
}

async function findShop(db: Db, payment_id: string): Promise<HistoryShop> {
  const { applicant_id: owner_id, ...app } = await db
    .selectFrom('payment_apps')
    .where('payment_id', '=', payment_id)
    .select(['id', 'payment_id', 'pid', 'applicant_id'])
    .executeTakeFirstOrThrow()
  return { ...app, owner_id }
}
