/**
 * Creates the applications whose keys the demo's reference shows: one for sign-in, and a test application for payments
 * with the orders of its examples.
 */

import type { Db } from '../database/connection.ts'
import { askedPayout } from '../docs/operations/payouts.ts'
import {
  type FindSamples,
  SAMPLE_ORDER,
  SAMPLE_TRADE,
  SAMPLE_TRADES,
  type Samples,
} from '../docs/operations/samples.ts'
import { issueCode, makeExchangeCode } from '../identity/grants/codes.ts'
import { ACCESS_TOKEN_SECONDS } from '../identity/grants/tokens.ts'
import { makeAuthenticateClient } from '../identity/oauth/clients.ts'
import type { Parts } from '../parts.ts'
import { createAccessKey, DAYS_MAX, SCOPES } from '../payment/access-keys/keys.ts'
import { issueToken, type ProvenKey, proveKey } from '../payment/access-keys/tokens.ts'
import { makeMerchantPair } from '../payment/apps/key-changes.ts'
import { createTestApp } from '../payment/apps/test-apps.ts'
import { makePlaceOrder } from '../payment/orders/place.ts'
import { makePostTransfer } from '../payment/orders/transfers.ts'
import { createPayout } from '../payment/payouts/payouts.ts'
import { readPayoutRequest } from '../payment/payouts/request.ts'
import { currentKey } from '../payment/signing/keys.ts'
import { pointsOf } from '../payment/wire-fields/money.ts'
import { ensureOauthAppAs, isInForce, type Store } from './apps.ts'
import { ensureMembers } from './members.ts'
import { ensureSampleMandates } from './sample-mandates.ts'

const APP = { name: 'Reference', description: 'Its keys are in the examples of the reference' }
const IP = '127.0.0.1'
const RATE = '100'

/** The examples have their own member and owner of the applications, so no member of the history acts in them. */
const NAME = 'Service account · 服务账号'
const SERVICE = { name: NAME, trust_level: 2, is_service: true, joined: 730 } as const
const MEMBER = { username: 'api-samples', ...SERVICE } as const
const OWNER = { username: 'api-samples-owner', ...SERVICE } as const

/** Creates the two service members. Made before the history, they are not among the newest members. */
export async function ensureSampleMembers(deps: Parts) {
  const ids = await ensureMembers(deps, [MEMBER, OWNER])
  // An older demo has them without the mark.
  await deps.db
    .updateTable('users')
    .set({ name: NAME, is_service: true })
    .where('id', 'in', Object.values(ids))
    .where('is_service', '=', false)
    .execute()
  return ids
}

/** Whether the samples are there. A start makes them last, so one before this came to its end. */
export async function hasSamples(db: Db): Promise<boolean> {
  const app = db.selectFrom('payment_apps').where('name', '=', APP.name).where('book', '=', 'test')
  return (await app.select('id').limit(1).executeTakeFirst()) !== undefined
}

/** Creates what is missing. Returns a function that gives the reference its keys, with a new code of the member at each call. */
export async function ensureSamples(deps: Parts, store: Store, reviewer_id: bigint): Promise<FindSamples> {
  const ids = await ensureSampleMembers(deps)
  const [member_id, owner_id] = [ids[MEMBER.username], ids[OWNER.username]]
  const redirect_uri = `${deps.config.PUBLIC_URL}/docs/identity`
  const oauth = { ...APP, redirect_uris: [redirect_uri] }
  const people = { owner_id, reviewer_id }
  const { client_id, client_secret } = await ensureOauthAppAs('sample_oauth_app', oauth, deps, store, people)
  const { app_id, order, ...payments } = await ensureTestApp(deps, store, owner_id)
  const issue = await ensureAccessKey(deps, store, { ...payments, app_id, order, owner_id, member_id })
  const member = { id: member_id.toString(), username: MEMBER.username }
  await createPayout(deps, { app_id, owner_id }, readPayoutRequest(askedPayout({ member })), () => {})
  const mandates = await ensureSampleMandates(deps, { app_id, member_id })
  const client = { client_id, client_secret, redirect_uri }
  const grant = makeGrant(deps, client, member_id)
  return async () => ({
    isLive: true,
    issuer: deps.config.PUBLIC_URL,
    ...client,
    ...payments,
    mandates,
    ...(await grant()),
    access: await issue(),
    member,
  })
}

type Payments = Pick<Samples, 'payment_id' | 'token' | 'pid' | 'merchant_key' | 'merchant_private_key'>

async function ensureTestApp(
  deps: Parts,
  { saved, save }: Store,
  owner_id: bigint,
): Promise<Payments & { app_id: bigint; order: string }> {
  const found = await deps.db
    .selectFrom('payment_apps')
    .where('applicant_id', '=', owner_id)
    .where('name', '=', APP.name)
    .where('book', '=', 'test')
    .select(['id', 'payment_id', 'pid'])
    .executeTakeFirst()
  const callback_url = `${deps.config.PAYMENT_PUBLIC_URL}/docs/notifications`
  const { id, payment_id, pid } =
    found ?? (await createTestApp(deps, { ...APP, callback_url, applicant_id: owner_id, ip: IP }))
  if (!(await isInForce(deps, id, saved.sample_private_key))) {
    const actor = { user_id: owner_id, ip: IP }
    saved.sample_private_key = (await makeMerchantPair(deps, payment_id, actor)).private_base64
    await save()
  }
  const order = await ensureOrders(deps, { app_id: id, pid: pid.toString() })
  return {
    app_id: id,
    order,
    payment_id,
    pid: pid.toString(),
    token: await currentKey(deps, id, 'token'),
    merchant_key: await currentKey(deps, id, 'merchant_key'),
    merchant_private_key: saved.sample_private_key!,
  }
}

/** Places the orders of the examples. A repeated order number finds the existing order. Returns the transaction_id of the first. */
async function ensureOrders(deps: Parts, { app_id, pid }: { app_id: bigint; pid: string }): Promise<string> {
  const placeOrder = makePlaceOrder(deps)
  const { order_id, amount, description } = SAMPLE_ORDER
  const { transaction_id } = await placeOrder({ app_id, order_id, amount: BigInt(amount), description })
  const { name, money, ...urls } = SAMPLE_TRADE
  for (const [index, out_trade_no] of Object.values(SAMPLE_TRADES).entries()) {
    await placeOrder({
      app_id,
      order_id: out_trade_no,
      description: name,
      amount: pointsOf(money, RATE),
      gateway: {
        ...urls,
        money,
        rate: RATE,
        param: null,
        protocol: 'v1',
        pid_sent: pid,
        // An older demo has an application of the samples with the numbers 1 to 3.
        trade_no: `${app_id}00${index + 1}`,
      },
    })
  }
  return transaction_id
}

/** A page shows the token of an earlier one while that is valid for at least this long. */
const TOKEN_LEFT_MS = 30 * 60_000

type Shown = { app_id: bigint; payment_id: string; order: string; owner_id: bigint; member_id: bigint }

/** Makes an access key and a transfer for the examples. Returns a function that gives a token of the key. */
async function ensureAccessKey(
  deps: Parts,
  store: Store,
  { app_id, payment_id, order, owner_id, member_id }: Shown,
): Promise<() => Promise<Samples['access']>> {
  const sent = await makePostTransfer(deps)({
    app_id,
    from_user_id: owner_id,
    to_user_id: member_id,
    to_username: MEMBER.username,
    amount: 10n,
    order_id: 'sample-transfer',
  })
  let token = ''
  let ends_at = 0
  return async () => {
    if (ends_at - deps.clock().getTime() < TOKEN_LEFT_MS) {
      const key = await provenKey(deps, store, payment_id, owner_id)
      const issued = await issueToken(deps, key, { scope: undefined, ip: IP, usedHeader: false })
      token = issued.access_token
      ends_at = deps.clock().getTime() + issued.expires_in * 1_000
    }
    return { ...store.saved.sample_access_key!, token, order, transfer: sent.transaction_id }
  }
}

/** Proves the saved key, or makes another when it has ended. */
async function provenKey(
  deps: Parts,
  { saved, save }: Store,
  payment_id: string,
  user_id: bigint,
): Promise<ProvenKey> {
  const prove = () => proveKey(deps, { credentials: saved.sample_access_key, usedHeader: false, ip: IP })
  if (saved.sample_access_key !== undefined) {
    const proven = await prove().catch(() => undefined)
    if (proven !== undefined) return proven
  }
  const key = { name: APP.name, scopes: [...SCOPES], days: DAYS_MAX, allowed_addresses: [] }
  const made = await createAccessKey(deps, payment_id, key, { user_id, ip: IP })
  if (typeof made === 'string') throw new Error(`The demo cannot make an access key: ${made}`)
  saved.sample_access_key = made
  await save()
  return prove()
}

/** Issues the code and the access token that a sign-in of the member would give the client. */
function makeGrant(
  deps: Parts,
  { redirect_uri, ...credentials }: Pick<Samples, 'client_id' | 'client_secret' | 'redirect_uri'>,
  user_id: bigint,
): () => Promise<Pick<Samples, 'code' | 'access_token'>> {
  const authenticate = makeAuthenticateClient(deps)
  const exchange = makeExchangeCode(deps.db)
  return async () => {
    const now = deps.clock()
    const client = await authenticate({ headers: {}, ip: IP }, credentials, now)
    const issue = () =>
      issueCode(deps.db, {
        app_id: client.id,
        user_id,
        // The code belongs to no session, because the member did not sign in.
        session_id: 0n,
        redirect_uri,
        redirect_uri_sent: true,
        scopes: ['openid', 'profile'],
        resource_app_id: null,
        mandate_id: null,
        nonce: undefined,
        code_challenge: undefined,
        auth_time: now,
        amr: [],
        now,
      })
    const code = await issue()
    const spent = { client, code: await issue(), redirect_uri, code_verifier: undefined, address: IP, now }
    await deleteEnded(deps.db, client.id, now)
    return { code, access_token: (await exchange(spent)).access_token }
  }
}

/** Deletes the grants whose access tokens have ended. The act that ends a grant keeps its row for 30 days. */
async function deleteEnded(db: Db, app_id: bigint, now: Date): Promise<void> {
  await db
    .deleteFrom('grants')
    .where('app_id', '=', app_id)
    .where('created_at', '<', new Date(now.getTime() - ACCESS_TOKEN_SECONDS * 1_000))
    .execute()
}
