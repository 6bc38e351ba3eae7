// This room: `npm start -- --demo`: the service with members, two shops and sixty days of history.
// Verbs: startDemo, seedDemo, playHistory, describeDemo.
/** Creates the applications of the demo's shops, and updates their addresses when the ports change. */
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { sql } from 'kysely'
import { getApp, markReviewed, reviewedVersion } from '../identity/apps/acts.ts'
import { GRANT_TYPES, registerApp } from '../identity/apps/apps.ts'
import type { Parts } from '../parts.ts'
import { applyForPaymentApp } from '../payment/apps/apps.ts'
import { gatewayCard } from '../payment/apps/gateway-card.ts'
import { makeMerchantPair } from '../payment/apps/key-changes.ts'
import { reviewPaymentApp } from '../payment/apps/review.ts'
import { secretKeyOf } from '../payment/signing/hmac.ts'
import { currentKey, currentKeys } from '../payment/signing/keys.ts'
import { sha256 } from '../platform/secrets.ts'
import { linkApps, linkedPaymentApp } from '../shops/links.ts'

const SHOP = {
  name: 'Sticker Shop',
  description: 'Weatherproof stickers, and a club for those who love them',
}
const GATEWAY_SHOP = {
  name: 'Mug Shop',
  description: 'Enamel mugs for the desk and the tent',
}

/** The credentials and addresses of the shops. */
export type DemoApps = {
  oauth_app: { client_id: string; client_secret: string; redirect_uris: string[] }
  payment_app: {
    payment_id: string
    pid: number
    token: string
    secret_key: string
    merchant_key: string
    callback_url: string
    applicant: string
  }
  gateway_app: {
    payment_id: string
    pid: number
    v1_address: string
    v2_address: string
    merchant_key: string
    merchant_private_key: string
    platform_public_key: string
    applicant: string
    /** Points for 1.00. */
    rate: string
  }
}

/** Credentials that the demo prints at every start, and that the database keeps as a hash or not at all. */
export type SavedApps = {
  oauth_app?: { client_id: string; client_secret: string }
  merchant_private_key?: string
  /** For the examples of the reference. */
  sample_oauth_app?: { client_id: string; client_secret: string }
  sample_private_key?: string
  sample_access_key?: { client_id: string; client_secret: string }
}

export type Store = { saved: SavedApps; save: () => Promise<void> }
type Shop = { owner_id: bigint; reviewer_id: bigint; shop_url: string; logo_url: string }

type Reviewed = Pick<Shop, 'owner_id' | 'reviewer_id'>

type OauthApp = { name: string; description: string; redirect_uris: string[] }

/** Finds or creates the shop's OAuth application. */
export function ensureOauthApp(deps: Parts, store: Store, shop: Shop): Promise<DemoApps['oauth_app']> {
  const redirect_uris = [`${shop.shop_url}/login/callback`]
  return ensureOauthAppAs('oauth_app', { ...SHOP, redirect_uris }, deps, store, shop)
}

/** Finds or creates a reviewed OAuth application. Its credentials are saved as `kept_as`. */
export async function ensureOauthAppAs(
  kept_as: 'oauth_app' | 'sample_oauth_app',
  app: OauthApp,
  deps: Pick<Parts, 'db' | 'clock'>,
  store: Store,
  { owner_id, reviewer_id }: Reviewed,
): Promise<DemoApps['oauth_app']> {
  const made = await findOrRegister(kept_as, app, deps, store, owner_id)
  await review(deps, made.client_id, reviewer_id)
  return made
}

async function review(
  deps: Pick<Parts, 'db' | 'clock'>,
  client_id: string,
  reviewer_id: bigint,
): Promise<void> {
  const seen = reviewedVersion(await getApp(deps.db, { client_id }))
  const act = { client_id, actor_id: reviewer_id, now: deps.clock(), ip: '127.0.0.1' }
  await markReviewed(deps.db, { ...act, isReviewed: true, seen })
}

/** Links the two applications of the shop, so that members meet one shop with the logo of its payment application. */
export async function ensureLinked(
  deps: Parts,
  { oauth_app: { client_id }, payment_app: { payment_id } }: Pick<DemoApps, 'oauth_app' | 'payment_app'>,
  { owner_id, reviewer_id }: Reviewed,
): Promise<void> {
  const { id } = await getApp(deps.db, { client_id })
  if ((await linkedPaymentApp(deps.db, id)) !== undefined) return
  const actor = { user_id: owner_id, ip: '127.0.0.1' }
  await linkApps(deps, { client_id, payment_id, named_by: 'payment', actor })
  await review(deps, client_id, reviewer_id)
}

/** Registers a reviewed sign-in application of a shop, and links it with the shop's payment application. Returns its client_id. */
export async function registerLinked(
  deps: Parts,
  { payment_id, ...app }: OauthApp & { payment_id: string },
  { owner_id, reviewer_id }: Reviewed,
): Promise<string> {
  const groups = { allow_groups: [], deny_groups: [] }
  const values = { ...app, ...groups, owner_id, post_logout_redirect_uris: [], grant_types: [...GRANT_TYPES] }
  const { client_id } = await registerApp(deps.db, values)
  await linkApps(deps, {
    client_id,
    payment_id,
    named_by: 'payment',
    actor: { user_id: owner_id, ip: '127.0.0.1' },
  })
  await review(deps, client_id, reviewer_id)
  return client_id
}

async function findOrRegister(
  kept_as: 'oauth_app' | 'sample_oauth_app',
  { redirect_uris, ...app }: OauthApp,
  { db }: Pick<Parts, 'db'>,
  { saved, save }: Store,
  owner_id: bigint,
): Promise<DemoApps['oauth_app']> {
  const known = saved[kept_as]
  if (known !== undefined) {
    const kept = await db
      .updateTable('oauth_apps as app')
      .set({ redirect_uris, post_logout_redirect_uris: redirect_uris })
      .where('client_id', '=', known.client_id)
      .where((eb) =>
        eb.exists(
          eb
            .selectFrom('app_secrets as secret')
            .whereRef('secret.app_id', '=', 'app.id')
            .where('secret.secret_hash', '=', sha256(known.client_secret))
            .select('secret.id'),
        ),
      )
      .returning('client_id')
      .executeTakeFirst()
    if (kept !== undefined) return { ...known, redirect_uris }
  }
  // A start cut short may have lost the secret: the application without it is useless.
  await db.deleteFrom('oauth_apps').where('owner_id', '=', owner_id).where('name', '=', app.name).execute()
  const { client_id, client_secret } = await registerApp(db, {
    ...app,
    owner_id,
    redirect_uris,
    // The documentation has an example of each operation.
    post_logout_redirect_uris: redirect_uris,
    grant_types: [...GRANT_TYPES],
    allow_groups: [],
    deny_groups: [],
  })
  saved[kept_as] = { client_id, client_secret }
  await save()
  return { client_id, client_secret, redirect_uris }
}

/** Finds or creates the payment application of the shop that uses the HMAC API. */
export async function ensureShopApp(deps: Parts, shop: Shop): Promise<DemoApps['payment_app']> {
  const callback_url = `${shop.shop_url}/payment/callback`
  const facts = { ...SHOP, callback_url, homepage: shop.shop_url }
  const { id, payment_id, pid } = await ensurePaymentApp(deps, shop, facts)
  await moveEvents(deps, id, shop.shop_url)
  const token = await currentKey(deps, id, 'token')
  const merchant_key = await currentKey(deps, id, 'merchant_key')
  return {
    payment_id,
    pid: Number(pid),
    token,
    secret_key: secretKeyOf(token),
    merchant_key,
    callback_url,
    applicant: 'bob',
  }
}

/** Where the shop takes events. */
export const eventsUrl = (shop_url: string) => `${shop_url}/events`

/** Lets the events follow the port of the shop. Events that are off, or go to another program, stay so. */
async function moveEvents({ db }: Parts, app_id: bigint, shop_url: string): Promise<void> {
  const anyPort = new URL(eventsUrl(shop_url))
  await db
    .updateTable('payment_apps')
    .set({ events_url: eventsUrl(shop_url) })
    .where('id', '=', app_id)
    .where('events_url', 'like', `http://${anyPort.hostname}:%${anyPort.pathname}`)
    .execute()
}

/** Returns the secret of the shop's events. Undefined before they were ever on. */
export async function eventsSecretOf(
  deps: Parts,
  { payment_app: { payment_id } }: Pick<DemoApps, 'payment_app'>,
): Promise<string | undefined> {
  const { id } = await deps.db
    .selectFrom('payment_apps')
    .where('payment_id', '=', payment_id)
    .select('id')
    .executeTakeFirstOrThrow()
  return (await currentKeys(deps, [id], 'event_secret')).get(id)
}

/** Finds or creates the payment application of the shop that uses the gateway, with a key pair for V2. */
export async function ensureGatewayApp(
  deps: Parts,
  { saved, save }: Store,
  shop: Shop,
): Promise<DemoApps['gateway_app']> {
  const callback_url = `${shop.shop_url}/return`
  const facts = { ...GATEWAY_SHOP, callback_url, homepage: shop.shop_url }
  const { id, payment_id, pid } = await ensurePaymentApp(deps, shop, facts)
  if (!(await isInForce(deps, id, saved.merchant_private_key))) {
    const actor = { user_id: shop.owner_id, ip: '127.0.0.1' }
    saved.merchant_private_key = (await makeMerchantPair(deps, payment_id, actor)).private_base64
    await save()
  }
  const card = await gatewayCard(deps, id)
  const { rate } = await deps.db
    .selectFrom('payment_apps')
    .where('id', '=', id)
    .select(sql<string>`trim_scale(exchange_rate)::text`.as('rate'))
    .executeTakeFirstOrThrow()
  return {
    payment_id,
    pid: Number(pid),
    v1_address: card.v1Address,
    v2_address: card.v2Address,
    merchant_key: await currentKey(deps, id, 'merchant_key'),
    merchant_private_key: saved.merchant_private_key!,
    platform_public_key: card.platform.bare,
    applicant: 'bob',
    rate,
  }
}

/** Whether the application accepts this private key. A start cut short may have lost the key. */
export async function isInForce({ gatewayKeys }: Parts, app_id: bigint, private_base64: string | undefined) {
  const app = await gatewayKeys.findApp({ app_id })
  const publicKey = app && (await gatewayKeys.merchantPublicKey(app))
  if (private_base64 === undefined || publicKey === undefined) return false
  const key = createPrivateKey({ key: Buffer.from(private_base64, 'base64'), format: 'der', type: 'pkcs8' })
  return createPublicKey(key).equals(publicKey)
}

export type AppFacts = { name: string; description: string; callback_url: string; homepage: string | null }

/** Finds or creates an approved payment application of this name, and updates its addresses. */
export async function ensurePaymentApp(
  deps: Parts,
  { owner_id, reviewer_id, logo_url }: Reviewed & { logo_url: string | null },
  values: AppFacts,
): Promise<{ id: bigint; payment_id: string; pid: bigint }> {
  const { name, description, callback_url, homepage } = values
  const update = () =>
    deps.db.transaction().execute(async (tx) => {
      const found = await tx
        .updateTable('payment_apps')
        .set({ callback_url, homepage, logo_url, updated_at: deps.clock() })
        .where('applicant_id', '=', owner_id)
        .where('name', '=', name)
        .where('book', '=', 'live')
        .returning(['id', 'payment_id', 'pid', 'status', 'unreviewed_change_at'])
        .executeTakeFirst()
      // The port of the logo may have changed, and linked applications have one logo.
      if (found !== undefined)
        await tx
          .updateTable('oauth_apps')
          .set({ logo_url })
          .where('id', '=', (eb) =>
            eb.selectFrom('shop_links').where('payment_app_id', '=', found.id).select('oauth_app_id'),
          )
          .execute()
      return found
    })
  let app = await update()
  if (app === undefined) {
    await applyForPaymentApp(deps, { applicant_id: owner_id, name, description, callback_url })
    app = (await update())!
  }
  const { status, payment_id, unreviewed_change_at: seen_change_at } = app
  if (status === 'pending' || (status === 'approved' && seen_change_at !== null)) {
    const review = { payment_id, decision: 'approve', reason: description, reviewer_id } as const
    await reviewPaymentApp(deps, { ...review, seen_change_at })
  }
  return app
}
