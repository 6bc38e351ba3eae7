/** What only the first start of a demo does: the name of the site, the other members and shops, and the history of all. */
import { sql } from 'kysely'
import { newSid, SESSION_DAYS } from '../accounts/session/session.ts'
import type { Db } from '../database/connection.ts'
import { rememberConsent } from '../identity/grants/consents.ts'
import { FAMILY_LIFE } from '../identity/grants/tokens.ts'
import type { Parts } from '../parts.ts'
import { applyForPaymentApp, returnWithout } from '../payment/apps/apps.ts'
import { randomToken, sha256 } from '../platform/secrets.ts'
import { type DemoApps, ensurePaymentApp, registerLinked } from './apps.ts'
import { MEMBERS, type MemberName, NEWCOMERS, SHOPS, WAITING } from './cast.ts'
import { type HistoryShop, playHistory } from './history.ts'
import { ensureWindows, makeLinks } from './links.ts'
import { daysBefore, ensureMembers } from './members.ts'
import { planOrders } from './plan.ts'

/** Members may join, and a mail program opens for the administrators. */
const SETTINGS = {
  site_name_en: 'Spark Forum',
  site_name_zh_cn: '星火论坛',
  registration: 'open',
  link_contact: 'mailto:team@spark.example',
} as const
const HOMEPAGE = 'https://shop.example'
const DAY_MS = 86_400_000

type Known = {
  people: Record<'alice' | 'bob' | 'carol' | 'dora', bigint>
  reviewer_id: bigint
  apps: DemoApps
  gateway_shop_url: string
  shop_url: string
  logoOf(name: string): string
}

/** Does nothing once points have moved, so a start cut short leaves a shorter history and whole books. Returns whether it did. */
export async function introduce(deps: Parts, known: Known): Promise<boolean> {
  const moved = await deps.db.selectFrom('journal').select('id').limit(1).executeTakeFirst()
  if (moved !== undefined) return false
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
    cat: await shopOf('cat'),
    library: await shopOf('library'),
  }
  await ensureWindows(deps)
  const { owner, ...waiting } = WAITING
  await applyForPaymentApp(deps, { ...waiting, applicant_id: ids[owner], callback_url: `${HOMEPAGE}/coffee` })
  await signInOften(deps, { ...ids, ...people })
  const client_ids = [
    apps.oauth_app.client_id,
    await addSignIn(deps, shops.library, { ...SHOPS.library, reviewer_id }),
    await addSignIn(deps, shops.cat, { ...SHOPS.cat, reviewer_id }),
  ]
  await lookOlder(deps, client_ids, { ...ids, alice: people.alice })
  const orders = planOrders(deps.clock())
  const sales = await makeLinks(deps, shops.sticker, { orders, buyers: ids })
  await playHistory(deps, {
    ...{ buyers: { ...ids, alice: people.alice }, people: { ...ids, ...people } },
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

const AGENTS = [
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:145.0) Gecko/20100101 Firefox/145.0',
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
]
/** Older sign-ins have left no session, and the newest member who signs in joined eleven days ago. */
const NEWEST_DAYS = Math.min(SESSION_DAYS - 1, 10)

/** Leaves the sessions that the members opened lately. Their tokens are random and kept nowhere. */
async function signInOften({ db, clock }: Parts, ids: Record<string, bigint>): Promise<void> {
  const now = clock()
  const sessions = Object.values(ids).flatMap((user_id, i) =>
    [i % NEWEST_DAYS, (i * 5 + 3) % NEWEST_DAYS].map((days, j) => {
      const auth_time = daysBefore(now, days + 0.1)
      return {
        user_id,
        auth_time,
        token_hash: sha256(randomToken()),
        sid: newSid(),
        amr: ['pwd'],
        ip: `203.0.113.${10 + i}`,
        agent: AGENTS[(i + j) % AGENTS.length]!,
        last_seen_at: new Date(auth_time.getTime() + (i + 1) * 60_000),
        expires_at: new Date(auth_time.getTime() + SESSION_DAYS * DAY_MS),
      }
    }),
  )
  await db.insertInto('sessions').values(sessions).execute()
}

/** The shops are open since this many days, and the staff reviewed them a day later. */
const OPEN_DAYS = 203

/**
 * Dates the shops before their first order. Members have allowed the sign-in of the shops where they buy; alice not yet that of the
 * first, the sticker shop.
 */
async function lookOlder(
  { db, clock }: Parts,
  client_ids: string[],
  ids: Record<MemberName | 'alice', bigint>,
): Promise<void> {
  const now = clock()
  const [created_at, reviewed_at] = [daysBefore(now, OPEN_DAYS), daysBefore(now, OPEN_DAYS - 1)]
  await sql`
    update payment_apps set created_at = ${created_at}, reviewed_at = ${reviewed_at} where status = 'approved'`.execute(
    db,
  )
  // The members read of the reviews then, so the newest alerts stay first.
  await sql`
    update alerts set raised_at = ${reviewed_at}, read_at = ${reviewed_at} where kind = 'reviewed'`.execute(
    db,
  )
  const { rows } = await sql<{ id: bigint }>`
    update oauth_apps set created_at = ${created_at}, reviewed_at = ${reviewed_at} where client_id = any(${client_ids}::text[])
    returning id`.execute(db)
  await db.transaction().execute(async (tx) => {
    for (const [nth, { id: app_id }] of rows.toSorted((a, b) => Number(a.id - b.id)).entries())
      for (const [i, username] of [...MEMBERS.map((member) => member.username), 'alice' as const].entries()) {
        if (username === 'alice' ? nth === 0 : (i + nth) % (nth + 1) > 0) continue
        const app = { app_id, resource_app_id: null, document_version: null, user_id: ids[username] }
        const scopes = nth === 2 ? ['openid', 'profile', 'email'] : ['openid', 'profile']
        // Alice signs in to shops as she buys there.
        const days = username === 'alice' ? 23 * nth : OPEN_DAYS - 9 * (i + nth + 1)
        await rememberConsent(tx, app, scopes, daysBefore(now, days))
      }
    const app_ids = sql`any(${rows.map(({ id }) => id)}::bigint[])`
    await sql`update consents set created_at = updated_at where app_id = ${app_ids}`.execute(tx)
    // The members' latest sessions went on to these shops. No token was issued, so nothing can be done with them.
    await sql`
      insert into grants (app_id, user_id, session_id, scopes, auth_time, amr, created_at, expires_at)
      select app_id, user_id, sessions.id, scopes, auth_time, amr, auth_time + app_id % 60 * interval '1 minute', auth_time + ${FAMILY_LIFE}::interval
      from consents join sessions using (user_id)
      where app_id = ${app_ids} and auth_time > consents.created_at
      order by auth_time`.execute(tx)
    // Their secrets are as old as they are, and were used for these sign-ins.
    await sql`
      update app_secrets set created_at = ${created_at},
        last_used_at = (select max(created_at) from grants where grants.app_id = app_secrets.app_id)
      where app_id = ${app_ids}`.execute(tx)
  })
}

async function findShop(db: Db, payment_id: string): Promise<HistoryShop> {
  const { applicant_id: owner_id, ...app } = await db
    .selectFrom('payment_apps')
    .where('payment_id', '=', payment_id)
    .select(['id', 'payment_id', 'pid', 'applicant_id'])
    .executeTakeFirstOrThrow()
  return { ...app, owner_id }
}
