/** Who acts in a run: members with points, shops of other members, an application, an administrator. */
import { sql } from 'kysely'
import { newSid } from '../../src/accounts/session/session.ts'
import type { Core } from '../../src/core/core.ts'
import { openSettings } from '../../src/core/settings.ts'
import type { Db } from '../../src/database/connection.ts'
import { registerApp } from '../../src/identity/apps/apps.ts'
import { type AccessKeyCredentials, createAccessKey } from '../../src/payment/access-keys/keys.ts'
import { setEventsUrl } from '../../src/payment/events/events.ts'
import { changeLink, createLink } from '../../src/payment/links/acts.ts'
import { addCodes } from '../../src/payment/links/codes.ts'
import { makeSecrets, randomToken, sha256 } from '../../src/platform/secrets.ts'
import { formToken } from '../../src/web/forms/form-guard.ts'
import {
  APP_SECRET,
  type Buyer,
  makeBuyer,
  makeShop,
  type Shop,
  START_POINTS,
} from '../../test/faults/world.ts'
import { details } from '../../test/harness/links.ts'
import type { Merchants } from './merchants.ts'

export const REDIRECT_URI = 'http://127.0.0.1:9/back'
const DAY_MS = 86_400_000
const CLIENTS_A_SHOP = 6
/** One client in so many minds a shop with links. */
const CLIENTS_A_KEEPER = 10
const CLIENTS_A_UNIT = 1.5
const KEEPERS_POINTS = 10_000n
const PRICE_MIN = 100
/** A link is looked for this long, beside the next one. So many buyers meet at few links. */
export const LISTING_MS = 10_000

/** A shop sells by the HMAC API with events, or at the gateway with notifications. */
export type Seller = Shop & { name: string; isGateway: boolean; notify_url: string }
/** A shop with links and an access key. Its owner has few points, so its payouts halt until it has sold more. */
export type Keeper = Seller & { owner: Buyer; key: AccessKeyCredentials }
/** A link: its price for a unit, and the codes or the stock that it has. */
export type Listing = { seller: Keeper; slug: string; sells: 'codes' | 'text'; price: number; limit: number }
/** A session that a member may end. */
export type Spare = { name: string; cookie: string; form_token: string }

export type People = {
  buyers: Buyer[]
  sellers: Seller[]
  keepers: Keeper[]
  listings: Listing[]
  admin: Buyer
  app: { client_id: string; authorization: string }
  opening: Map<string, number>
  /** The names of all members by their ids. */
  names: Map<string, string>
  /** Makes sessions of a member that nobody has used. */
  spareSessions(db: Db, member: Buyer, count: number): Promise<Spare[]>
}

/** Everything comes from one address, so the limits for one address are off. */
const SETTINGS = {
  limit_pages: '0',
  limit_api_requests: '0',
  limit_token_failures: '0',
  limit_refreshes: '0',
  limit_links_created: '0',
  limit_link_orders: '0',
  limit_payouts: '0',
  limit_access_tokens: '0',
  reauthenticate_minutes: '1440',
}

export async function settle(
  db: Db,
  { clients, merchants, minutes }: { clients: number; merchants: Merchants; minutes: number },
): Promise<People> {
  for (const [name, value] of Object.entries(SETTINGS))
    await db.insertInto('site_settings').values({ name, value }).execute()
  const buyers: Buyer[] = []
  for (let n = 1; n <= clients; n += 1) buyers.push(await makeBuyer(db, `member${n}`))
  const sellers: Seller[] = []
  const count = Math.max(4, Math.ceil(clients / CLIENTS_A_SHOP))
  for (let n = 0; n < count; n += 1) sellers.push(await makeSeller(db, n, merchants))
  const admin = await makeBuyer(db, 'administrator')
  await db.updateTable('users').set({ is_admin: true }).where('id', '=', admin.id).execute()
  const keepers: Keeper[] = []
  for (let n = 0; n < Math.max(2, Math.ceil(clients / CLIENTS_A_KEEPER)); n += 1)
    keepers.push(await makeKeeper(db, n))
  const listings: Listing[] = []
  for (let n = 0; n < Math.ceil((minutes * 60_000) / LISTING_MS); n += 1)
    listings.push(await makeListing(db, keepers[n % keepers.length]!, { n, clients }))
  const members = [...buyers, ...sellers.map(({ owner }) => owner), admin]
  return {
    buyers,
    sellers,
    keepers,
    listings,
    admin,
    app: await makeApp(db, admin, buyers),
    opening: new Map([
      ...members.map(({ username }) => [username, Number(START_POINTS)] as const),
      ...keepers.map(({ owner }) => [owner.username, Number(KEEPERS_POINTS)] as const),
    ]),
    names: new Map(
      [...members, ...keepers.map(({ owner }) => owner)].map(({ id, username }) => [String(id), username]),
    ),
    spareSessions,
  }
}

async function makeSeller(db: Db, n: number, merchants: Merchants): Promise<Seller> {
  const name = `shop${n + 1}`
  const shop = await makeShop(db, `owner${n + 1}`)
  const isGateway = n % 2 === 0
  // Half of either kind deal with the server that misbehaves.
  const isFaulty = n % 4 >= 2
  const at = isFaulty ? merchants.urls.bad : merchants.urls.good
  if (isFaulty) merchants.faulty.add(name)
  const deps = depsOf(db)
  const actor = { user_id: shop.owner.id, ip: '127.0.0.1' }
  const secret = isGateway
    ? undefined
    : await setEventsUrl(deps, shop.payment_id, `${at}/events/${name}`, actor)
  merchants.keys.set(name, { merchant_key: shop.merchant_key, event_secret: secret ?? '' })
  return { ...shop, name, isGateway, notify_url: `${at}/notify/${name}` }
}

const depsOf = (db: Db) =>
  ({
    db,
    clock: () => new Date(),
    secrets: makeSecrets(APP_SECRET),
    settings: openSettings(db),
    config: { production: false },
    limits: { hit: async () => {} },
  }) as unknown as Core

async function makeKeeper(db: Db, n: number): Promise<Keeper> {
  const owner = await makeBuyer(db, `keeper${n + 1}`, undefined, KEEPERS_POINTS)
  const shop = await makeShop(db, owner.username, owner)
  const asked = { name: 'Nemesis', scopes: ['payouts' as const], days: 1, allowed_addresses: [] }
  const key = await createAccessKey(depsOf(db), shop.payment_id, asked, {
    user_id: owner.id,
    ip: '127.0.0.1',
  })
  if (typeof key === 'string') throw new Error(`No key: ${key}`)
  return { ...shop, owner, key, name: `links${n + 1}`, isGateway: false, notify_url: '' }
}

/** A link that its buyers soon have emptied: every other one sells codes, the others a text of a small stock. */
async function makeListing(
  db: Db,
  seller: Keeper,
  { n, clients }: { n: number; clients: number },
): Promise<Listing> {
  const deps = depsOf(db)
  const actor = { user_id: seller.owner.id, ip: '127.0.0.1' }
  const sells = n % 2 === 0 ? 'codes' : 'text'
  const limit = Math.max(4, Math.ceil(clients / CLIENTS_A_UNIT))
  const price = PRICE_MIN + n
  const slug = await createLink(
    deps,
    seller.payment_id,
    details({
      ...{ title: `Thing ${n + 1}`, amount: BigInt(price), quantity_max: 3, delivery: sells },
      ...(sells === 'text' ? { stock: limit, delivered: `text-${n + 1}` } : {}),
    }),
    actor,
  )
  const codes = Array.from({ length: limit }, (_, i) => `code-${n + 1}-${i + 1}`)
  if (sells === 'codes') await addCodes(deps, seller.payment_id, { slug, file: codes.join('\n') }, actor)
  await changeLink(deps, seller.payment_id, { slug, change: 'publish' }, actor)
  return { seller, slug, sells, price, limit }
}

/** An application that every buyer has allowed already. */
async function makeApp(db: Db, owner: Buyer, buyers: Buyer[]): Promise<People['app']> {
  const { id, client_id, client_secret } = await registerApp(db, {
    owner_id: owner.id,
    name: 'Relying party',
    id_token_signed_response_alg: 'ES256',
    description: '',
    redirect_uris: [REDIRECT_URI],
    allow_groups: [],
    deny_groups: [],
  })
  const scopes = ['openid', 'profile']
  await db
    .insertInto('consents')
    .values(buyers.map(({ id: user_id }) => ({ user_id, app_id: id, scopes })))
    .execute()
  const authorization = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`
  return { client_id, authorization }
}

async function spareSessions(db: Db, { id, username }: Buyer, count: number): Promise<Spare[]> {
  const spares = Array.from({ length: count }, () => randomToken())
  const now = new Date()
  await db
    .insertInto('sessions')
    .values(
      spares.map((session) => ({
        sid: newSid(),
        token_hash: sha256(session),
        user_id: id,
        auth_time: now,
        amr: ['pwd'],
        ip: '127.0.0.1',
        agent: 'test',
        expires_at: new Date(now.getTime() + DAY_MS),
      })),
    )
    .execute()
  return spares.map((session) => ({
    name: `${username}/${session.slice(0, 8)}`,
    cookie: `tessera_session=${session}`,
    form_token: formToken(makeSecrets(APP_SECRET), session),
  }))
}

/** How many notifications are still to be sent. Those whose retry is minutes away are sent now. */
export async function hurryNotifications(db: Db): Promise<number> {
  await sql`
    update notifications set next_attempt_at = now() - interval '1 second'
    where status = 'due' and claimed_until is null and next_attempt_at > now()`.execute(db)
  const { rows } = await sql<{ due: number }>`
    select count(*)::integer as due from notifications where status = 'due'`.execute(db)
  return rows[0]!.due
}
