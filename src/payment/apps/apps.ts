/** Payment applications: a member applies for one, gets its keys, and sees it in the list. */
import { type RawBuilder, sql } from 'kysely'
import { z } from 'zod'
import { lockUser } from '../../accounts/people/users.ts'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import type { Book } from '../../database/tables/columns.ts'
import { isLoopback } from '../../platform/config.ts'
import { AppError } from '../../platform/errors.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { isHonestProse, isHonestText } from '../../web/parameters.ts'
import { startOfLastDays } from '../../web/periods/days.ts'
import { Callback, MandateCallback, secretKeyOf } from '../signing/hmac.ts'
import { newMerchantKey, newPaymentId, newToken, storeKey } from '../signing/keys.ts'

/** The parameters of the gateway's returns, which go to the callback address of an order without a return_url. */
const RETURNED =
  'addtime api_trade_no buyer endtime money name out_trade_no param pid sign sign_type timestamp trade_no trade_status type'

/** The names of the parameters that a callback or a return adds. */
const OUR_NAMES = new Set([
  ...RETURNED.split(' '),
  ...[Callback, MandateCallback].flatMap(({ shape }) => Object.keys(shape)),
])

/**
 * Whether the text is an address without query and fragment: absolute, and https, or http on the loopback outside production.
 * A callback address may have a query too: isSignedCallbackUrl. spec/payment-api 1.3.
 */
export function isCallbackUrl(text: string, production: boolean): boolean {
  // A header carries the address unchanged, so it must be printable ASCII, with international parts encoded.
  if (text.length > 1_000 || !/^[!-~]+$/.test(text) || /[\\?#"<>^`{|}]/.test(text)) return false
  if (/%(?![0-9a-f]{2})/i.test(text) || !URL.canParse(text)) return false
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && !production && isLoopback(text))
}

/**
 * Whether the text is a callback address. It may have a query, which the signature covers. The query's names are neither
 * ours nor doubled, and no value contains `&`, so the signed string has one reading.
 */
function isSignedCallbackUrl(text: string, production: boolean): boolean {
  const [address = '', query, ...rest] = text.split('?')
  if (rest.length > 0 || !isCallbackUrl(address, production)) return false
  if (query === undefined) return true
  if (text.length > 1_000 || !/^[!-~]+$/.test(query) || /[\\#"<>^`{|}]|%(?![0-9a-f]{2})/i.test(query))
    return false
  const own = [...new URLSearchParams(query)]
  const names = new Set(own.map(([name]) => name))
  return (
    names.size === own.length &&
    own.every(([name, value]) => /^[\w.-]+$/.test(name) && !OUR_NAMES.has(name) && !value.includes('&'))
  )
}

/** The limit for each member, because an administrator reviews every application in turn. */
export const PENDING_APPS_MAX = 5

/** The form that applies for a payment application. */
export const paymentAppForm = (production: boolean) =>
  z.object({
    name: z.string().trim().min(1).max(60).refine(isHonestText),
    description: z.string().trim().max(500).refine(isHonestProse),
    callback_url: z
      .string()
      .trim()
      .refine((text) => isSignedCallbackUrl(text, production)),
  })

/** The form that makes an application. One that only sells by links has no callback address. */
export const newAppForm = (production: boolean) => {
  const form = paymentAppForm(production)
  const { callback_url } = form.shape
  return form.extend({ callback_url: z.union([z.literal('').transform(() => undefined), callback_url]) })
}

export type NewPaymentApp = { applicant_id: bigint; name: string; description: string; callback_url: string }

/** Where the buyers of an application return that has no address of its own: to their payments. spec/payment-api 1.3. */
export const returnWithout = ({ config }: Pick<Core, 'config'>) => `${config.PUBLIC_URL}/account/payments`

/** The credentials of a new application. The token and its Secret Key are shown only this once. */
export type PaymentAppCredentials = {
  id: bigint
  payment_id: string
  pid: bigint
  token: string
  secret_key: string
  merchant_key: string
}

/**
 * Applies for a payment application. With `test_app_id` it takes the settings of that test application of the member, and becomes
 * its live application: conflict if it has one. Throws forbidden below the needed trust level (spec/payment-api 1.1), and conflict
 * while PENDING_APPS_MAX applications of the member are pending.
 */
export async function applyForPaymentApp(
  deps: Core,
  app: NewPaymentApp,
  { test_app_id }: { test_app_id?: bigint } = {},
): Promise<PaymentAppCredentials> {
  const { payment_apps_min_trust_level } = await deps.settings.read()
  return deps.db.transaction().execute(async (tx) => {
    const { trust_level } = await lockUser(tx, app.applicant_id)
    if (trust_level < payment_apps_min_trust_level)
      throw new AppError('forbidden', `Applying needs trust level ${payment_apps_min_trust_level}`)
    await refuseLongQueue(tx, app.applicant_id)
    const { payment_id, ...keys } = newKeys('live')
    const row = await tx
      .insertInto('payment_apps')
      .values({ payment_id, ...app })
      .returning(['id', 'pid'])
      .executeTakeFirstOrThrow()
    const credentials = await storeCredentials(tx, deps.secrets, row.id, keys)
    if (test_app_id !== undefined) await takeSettings(tx, { ...row, test_app_id, owner_id: app.applicant_id })
    await recordAudit(tx, {
      actor_id: app.applicant_id,
      action: 'payment_app.apply',
      subject: payment_id,
      detail: { name: app.name, description: app.description, callback_url: app.callback_url },
      ip: null,
    })
    return { ...row, payment_id, ...credentials }
  })
}

/** Gives a live application the settings of a test application, which belongs to it from now on. Throws conflict. */
async function takeSettings(
  tx: Tx,
  { id, test_app_id, owner_id }: { id: bigint; test_app_id: bigint; owner_id: bigint },
): Promise<void> {
  const test = await tx
    .updateTable('payment_apps')
    .set({ live_app_id: id })
    .where('id', '=', test_app_id)
    .where('applicant_id', '=', owner_id)
    .where('live_app_id', 'is', null)
    .returning([
      'notify_url',
      'homepage',
      'logo_url',
      'exchange_rate',
      'order_minutes',
      'v1_enabled',
      'v2_enabled',
    ])
    .returning(sql<string[]>`allowed_addresses::text[]`.as('allowed_addresses'))
    .executeTakeFirst()
  if (test === undefined)
    throw new AppError('conflict', 'This test application has a live application already')
  const allowed_addresses = sql<string[]>`${test.allowed_addresses}::text[]::inet[]`
  await tx
    .updateTable('payment_apps')
    .set({ ...test, allowed_addresses })
    .where('id', '=', id)
    .execute()
}

/** Throws conflict while PENDING_APPS_MAX applications of a member are pending. The caller locks the member's row. */
export async function refuseLongQueue(tx: Tx, applicant_id: bigint): Promise<void> {
  const { count } = await tx
    .selectFrom('payment_apps')
    .where('applicant_id', '=', applicant_id)
    .where('status', '=', 'pending')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .executeTakeFirstOrThrow()
  if (count >= PENDING_APPS_MAX)
    throw new AppError(
      'conflict',
      `At most ${PENDING_APPS_MAX} applications of a member wait for their review`,
    )
}

type NewKeys = Record<'payment_id' | 'token' | 'merchant_key', string>

/** Makes the Payment ID and the keys of a new application. Its platform key is made when it is first needed. */
export function newKeys(book: Book): NewKeys {
  return { payment_id: newPaymentId(book), token: newToken(book), merchant_key: newMerchantKey(book) }
}

/** Stores the keys of a new application. Returns the credentials that its owner sees. */
export async function storeCredentials(
  tx: Tx,
  secrets: Secrets,
  app_id: bigint,
  keys: Omit<NewKeys, 'payment_id'>,
) {
  const { token, merchant_key } = keys
  for (const kind of ['token', 'merchant_key'] as const) await storeKey(tx, secrets, app_id, kind, keys[kind])
  return { token, secret_key: secretKeyOf(token), merchant_key }
}

/** The days of the list of applications and of the overview, which statistics begin with. */
export const OVERVIEW_DAYS = 30

/**
 * The applications in which a member has a role, the newest first, with the points that each received in the days of the overview:
 * today and the 29 days before it, in the site's time zone.
 */
export async function applicationsOf({ db, clock, settings }: Core, user_id: bigint) {
  const { time_zone: zone } = await settings.read()
  const since = startOfLastDays(zone, clock(), OVERVIEW_DAYS)
  return db
    .selectFrom('payment_app_roles as mine')
    .innerJoin('payment_apps as app', 'app.id', 'mine.app_id')
    .innerJoin('users as owner', 'owner.id', 'app.applicant_id')
    .where('mine.user_id', '=', user_id)
    .orderBy('app.id', 'desc')
    .select([
      'mine.role',
      'owner.username as owner_username',
      'app.id',
      'app.payment_id',
      'app.pid',
      'app.book',
    ])
    .select(['app.name', 'app.logo_url', 'app.status'])
    .select(merchantPointsSince(since).as('takings'))
    .execute()
}

/** The merchant's points of all payments to `app` since a moment: the difference of two totals, and the payments after them. */
function merchantPointsSince(moment: Date): RawBuilder<bigint> {
  const before = (at: RawBuilder<unknown>) => sql`(
    select coalesce(total.merchant_points, 0) + (
      select coalesce(sum(merchant_points), 0) from orders
      where app_id = app.id and paid_at >= coalesce(total.until, '-infinity') and paid_at < ${at}
    )
    from (values (1)) as one left join lateral (
      select until, merchant_points from payment_app_takings
      where app_id = app.id and until <= ${at} order by until desc limit 1
    ) as total on true
  )`
  return sql<bigint>`(${before(sql`'infinity'::timestamptz`)} - ${before(sql`${moment}::timestamptz`)})::bigint`
}
