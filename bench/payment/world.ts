/** Creates the members of the bench with points and sessions, and approved applications of different members. */

import { createUser } from '../../src/accounts/people/users.ts'
import { newSid } from '../../src/accounts/session/session.ts'
import type { Core } from '../../src/core/core.ts'
import { grantPoints } from '../../src/ledger/points.ts'
import { dayOf, daysAfter } from '../../src/payment/mandates/periods.ts'
import { secretKeyOf } from '../../src/payment/signing/hmac.ts'
import {
  newMerchantKey,
  newRsaPair,
  newToken,
  type RsaPair,
  storeKey,
} from '../../src/payment/signing/keys.ts'
import { LOWER_ALNUM, randomText, randomToken, sha256 } from '../../src/platform/secrets.ts'
import { formToken } from '../../src/web/forms/form-guard.ts'

const MEMBERS = 1_000
const SHOPS = 200
const POINTS = 1_000_000_000n
const DAY_MS = 86_400_000
const INSERT_ROWS = 1_000

export type Member = { id: bigint; username: string; session: string; form_token: string }
export type Shop = {
  app_id: bigint
  payment_id: string
  pid: bigint
  secret_key: string
  merchant_key: string
  owner_id: bigint
}
/** A mandate of a shop, by its place in `shops`, that holds any number of charges of up to 100 points. */
export type Mandate = { mandate_id: string; shop: number }
export type World = { deps: Core; members: Member[]; shops: Shop[]; mandates: Mandate[] }

export async function makeWorld(deps: Core, shopCount = SHOPS): Promise<World> {
  const { db } = deps
  const limits = ['limit_api_requests', 'limit_pages']
  await db
    .insertInto('site_settings')
    .values(limits.map((name) => ({ name, value: '1000000' })))
    .execute()
  const members: Member[] = []
  for (let n = 0; n < MEMBERS; n += 1) members.push(await makeMember(deps, n))
  const platform = await newRsaPair()
  const shops: Shop[] = []
  for (let n = 0; n < shopCount; n += 1) shops.push(await makeShop(deps, members[n]!, platform))
  return { deps, members, shops, mandates: await makeMandates(deps, shops, members) }
}

/** A mandate of each member who has no shop, at a shop of its own turn. */
async function makeMandates({ db }: Core, shops: Shop[], members: Member[]): Promise<Mandate[]> {
  await db.insertInto('site_settings').values({ name: 'mandates', value: 'on' }).execute()
  const now = new Date()
  await db
    .updateTable('payment_apps')
    .set({
      mandate_right: 'granted',
      mandate_right_purpose: 'Charges of the bench',
      mandate_right_at: now,
      mandate_daily_max: POINTS * 1_000n,
    })
    .execute()
  const today = dayOf(now)
  const rows = members.slice(shops.length).map((member, n) => {
    const shop = n % shops.length
    const { app_id, owner_id: payee_id } = shops[shop]!
    const [charge_max, period_max] = [100n, POINTS]
    const terms = {
      ...{ charge_max, period_max, asked_charge_max: charge_max, asked_period_max: period_max },
      ...{ starts_on: today, ends_on: daysAfter(today, 365), agreed_on: today, accepted_at: now },
    }
    const parties = { app_id, book: 'live', user_id: member.id, payee_id } as const
    const kinds = { kind: 'up_to', period: 'month', status: 'active', notice: 'daily' } as const
    const row = {
      ...{ ...parties, ...kinds, ...terms, offer_expires_at: now, with_token: false },
      ...{ mandate_id: `mdt_${randomText(24, LOWER_ALNUM)}`, reference: `m${n}`, purpose: 'Bench' },
    }
    return { row, shop }
  })
  await db
    .insertInto('mandates')
    .values(rows.map(({ row }) => row))
    .execute()
  return rows.map(({ row: { mandate_id }, shop }) => ({ mandate_id, shop }))
}

async function makeMember({ db, secrets }: Core, n: number): Promise<Member> {
  const username = `member${n}`
  const id = await createUser(db, { username, password_hash: 'none', trust_level: 2 })
  const now = new Date()
  const grant = { user_id: id, amount: POINTS, reference: username, reason: 'bench', actor_id: null, now }
  await grantPoints(db, grant)
  const session = randomToken()
  await db
    .insertInto('sessions')
    .values({
      sid: newSid(),
      token_hash: sha256(session),
      user_id: id,
      auth_time: now,
      amr: ['pwd'],
      ip: '127.0.0.1',
      agent: 'bench',
      expires_at: new Date(now.getTime() + DAY_MS),
    })
    .execute()
  return { id, username, session, form_token: formToken(secrets, session) }
}

/** Creates an approved application. All share one RSA key pair, because generating one takes a good part of a second. */
async function makeShop({ db, secrets }: Core, owner: Member, platform: RsaPair): Promise<Shop> {
  const payment_id = `pay_${randomText(20, LOWER_ALNUM)}`
  const [token, merchant_key] = [newToken(), newMerchantKey()]
  return db.transaction().execute(async (tx) => {
    const { id: app_id, pid } = await tx
      .insertInto('payment_apps')
      .values({
        payment_id,
        applicant_id: owner.id,
        name: `Shop of ${owner.username}`,
        description: '',
        callback_url: 'https://shop.example/paid',
        status: 'approved',
        reviewed_by: owner.id,
        reviewed_at: new Date(),
      })
      .returning(['id', 'pid'])
      .executeTakeFirstOrThrow()
    await storeKey(tx, secrets, app_id, 'token', token)
    await storeKey(tx, secrets, app_id, 'merchant_key', merchant_key)
    await storeKey(tx, secrets, app_id, 'platform_private_key', platform.private_base64)
    return { app_id, payment_id, pid, secret_key: secretKeyOf(token), merchant_key, owner_id: owner.id }
  })
}

let ordered = 0
const RUN = randomText(6, LOWER_ALNUM)

/** A new order_id. */
export function newOrderId(): string {
  ordered += 1
  return `${RUN}-${ordered}`
}

export type UnpaidOrder = { transaction_id: string; amount: bigint }

/** Creates unpaid orders, one for each of these shops. */
export async function makeOrders({ deps: { db } }: World, shops: Shop[]): Promise<UnpaidOrder[]> {
  const now = new Date()
  const rows = shops.map(({ app_id }) => ({
    app_id,
    door: 'hmac' as const,
    order_id: newOrderId(),
    transaction_id: `txn_${randomText(24, LOWER_ALNUM)}`,
    description: 'Something of the shop',
    amount: BigInt(1 + Math.floor(Math.random() * 100)),
    expires_at: new Date(now.getTime() + DAY_MS),
    created_at: now,
    updated_at: now,
  }))
  for (let start = 0; start < rows.length; start += INSERT_ROWS)
    await db
      .insertInto('orders')
      .values(rows.slice(start, start + INSERT_ROWS))
      .execute()
  return rows
}
