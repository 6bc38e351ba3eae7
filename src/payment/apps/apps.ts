/** Payment applications: applied for by a member, approved by an administrator, known to merchants by their keys. */
import { sql } from 'kysely'
import { z } from 'zod'
import { explainAnonymised, lockUser } from '../../accounts/people/users.ts'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Db, Tx } from '../../database/connection.ts'
import type { Book, PaymentAppStatus } from '../../database/tables.ts'
import { isLoopback } from '../../platform/config.ts'
import { AppError } from '../../platform/errors.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { isHonestProse, isHonestText } from '../../web/parameters.ts'
import { raiseAlert } from '../alerts/alerts.ts'
import { secretKeyOf } from '../signing/hmac.ts'
import { newMerchantKey, newPaymentId, newRsaPair, newToken, storeKey } from '../signing/keys.ts'

/**
 * A callback address: absolute, https (http on loopback, outside production), and nothing after the path,
 * because the signed parameters follow it. decisions.md 4.6.
 */
export function isCallbackUrl(text: string, production: boolean): boolean {
  // The address goes into a header as it is, so it must be printable ASCII, with international parts encoded.
  if (text.length > 1_000 || !/^[!-~]+$/.test(text) || /[\\?#"<>^`{|}]/.test(text)) return false
  if (/%(?![0-9a-f]{2})/i.test(text) || !URL.canParse(text)) return false
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && !production && isLoopback(text))
}

/** Of one member: somebody has to look at each, and those of others wait behind them. */
export const PENDING_APPS_MAX = 5
const DECIDED_MAX = 200

/** What an applicant fills in. */
export const paymentAppForm = (production: boolean) =>
  z.object({
    name: z.string().trim().min(1).max(60).refine(isHonestText),
    description: z.string().trim().max(500).refine(isHonestProse),
    callback_url: z
      .string()
      .trim()
      .refine((text) => isCallbackUrl(text, production)),
  })

export type NewPaymentApp = { applicant_id: bigint; name: string; description: string; callback_url: string }

/** The token and the Secret Key derived from it are told this once. */
export type PaymentAppCredentials = {
  id: bigint
  payment_id: string
  pid: bigint
  token: string
  secret_key: string
  merchant_key: string
}

/**
 * Applies for a payment application. Throws forbidden below trust level TL1 (interface.md, Limits), and conflict while
 * PENDING_APPS_MAX of the member wait; then no key has been made.
 */
export async function applyForPaymentApp(deps: Core, app: NewPaymentApp): Promise<PaymentAppCredentials> {
  const { payment_apps_min_trust_level } = await deps.settings.read()
  const admit = async (tx: Tx) => {
    const { trust_level } = await lockUser(tx, app.applicant_id)
    if (trust_level < payment_apps_min_trust_level)
      throw new AppError('forbidden', `Applying needs trust level ${payment_apps_min_trust_level}`)
    await refuseLongQueue(tx, app.applicant_id)
  }
  return withNewKeys(deps, 'live', admit, async (tx, { payment_id, ...keys }) => {
    const row = await tx
      .insertInto('payment_apps')
      .values({ payment_id, ...app })
      .returning(['id', 'pid'])
      .executeTakeFirstOrThrow()
    const credentials = await storeCredentials(tx, deps.secrets, row.id, keys)
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

/** Throws conflict where as many of a member’s applications wait as may. The caller holds the member’s row. */
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

type NewKeys = Record<'payment_id' | 'token' | 'merchant_key' | 'platform_private_key', string>

/**
 * Makes an application with a Payment ID and keys of its own. The keys are what costs: a good fraction of a second, outside
 * of any transaction. So it is admitted before they are made, and again after, because others may have been made meanwhile.
 */
export async function withNewKeys<Made>(
  { db }: Core,
  book: Book,
  admit: (tx: Tx) => Promise<void>,
  make: (tx: Tx, keys: NewKeys) => Promise<Made>,
): Promise<Made> {
  await db.transaction().execute(admit)
  const { private_base64: platform_private_key } = await newRsaPair()
  const own = { payment_id: newPaymentId(book), token: newToken(book), merchant_key: newMerchantKey(book) }
  return db.transaction().execute(async (tx) => {
    await admit(tx)
    return make(tx, { ...own, platform_private_key })
  })
}

/** Stores the keys of a new application. Answers what its owner is told. */
export async function storeCredentials(
  tx: Tx,
  secrets: Secrets,
  app_id: bigint,
  keys: Omit<NewKeys, 'payment_id'>,
) {
  const { token, merchant_key } = keys
  for (const kind of ['token', 'merchant_key', 'platform_private_key'] as const)
    await storeKey(tx, secrets, app_id, kind, keys[kind])
  return { token, secret_key: secretKeyOf(token), merchant_key }
}

export type Decision = 'approve' | 'reject' | 'suspend' | 'reinstate'

/** From which state each decision leads where; what was changed since it was approved is approved again. decisions.md 4.1. */
const DECISIONS = {
  approve: { from: 'pending', to: 'approved' },
  reject: { from: 'pending', to: 'rejected' },
  suspend: { from: 'approved', to: 'suspended' },
  reinstate: { from: 'suspended', to: 'approved' },
} satisfies Record<Decision, { from: PaymentAppStatus; to: PaymentAppStatus }>

/** These take something from the applicant, who reads why. */
export const DECISIONS_WITH_REASON: readonly Decision[] = ['reject', 'suspend']

export type Review = {
  payment_id: string
  decision: Decision
  reason: string
  reviewer_id: bigint
  /** The last change that the reviewer has seen; without one, none was made since the application was last approved. */
  seen_change_at?: Date | null
}

/**
 * An administrator's decision on an application, with its entry in the audit log. Throws not_found, conflict when the
 * application is not (any more) in a state to decide on so, or would be approved otherwise than it was seen, and
 * invalid_form when a reason is missing.
 */
export async function reviewPaymentApp(
  deps: Core,
  { payment_id, decision, reason, reviewer_id, seen_change_at }: Review,
): Promise<void> {
  const now = deps.clock()
  const { from, to } = DECISIONS[decision]
  if (DECISIONS_WITH_REASON.includes(decision) && reason === '') {
    throw new AppError('invalid_form', 'This decision needs a reason')
  }
  await deps.db.transaction().execute(async (tx) => {
    const reviewed = await tx
      .updateTable('payment_apps')
      .set({
        status: to,
        review_reason: reason || null,
        reviewed_by: reviewer_id,
        reviewed_at: now,
        updated_at: now,
      })
      .$if(decision === 'approve', (query) =>
        query
          .set({ unreviewed_change_at: null })
          .where('unreviewed_change_at', 'is not distinct from', seen_change_at ?? null),
      )
      .where('payment_id', '=', payment_id)
      .where((eb) => {
        const isChanged = eb('unreviewed_change_at', 'is not', null)
        const isApprovedAgain = eb.and([eb.lit(decision === 'approve'), eb('status', '=', to), isChanged])
        return eb.or([eb('status', '=', from), isApprovedAgain])
      })
      .returning(['id', 'applicant_id'])
      .executeTakeFirst()
      // That of its owner.
      .catch(explainAnonymised)
    if (reviewed === undefined) throw await explainUndecided(tx, payment_id, decision)
    await recordAudit(tx, {
      actor_id: reviewer_id,
      action: `payment_app.${decision}`,
      subject: payment_id,
      detail: { reason },
      ip: null,
    })
    await raiseAlert(tx, deps, {
      app_id: reviewed.id,
      kind: 'reviewed',
      cause: `${decision} ${now.toISOString()}`,
      facts: { decision, reason },
      to: { user_id: reviewed.applicant_id },
    })
  })
}

async function explainUndecided(tx: Tx, payment_id: string, decision: Decision): Promise<AppError> {
  const { status } = await getPaymentApp(tx, payment_id)
  const isOtherThanSeen = decision === 'approve' && (status === 'pending' || status === 'approved')
  const why = isOtherThanSeen
    ? 'This application was decided on or changed since it was looked at'
    : `This application is not ${DECISIONS[decision].from}`
  return new AppError('conflict', why)
}

/** The applications in which a member has a role, newest first, with what each has taken in. */
export async function applicationsOf(db: Db, user_id: bigint) {
  return db
    .selectFrom('payment_app_roles as mine')
    .innerJoin('payment_apps as app', 'app.id', 'mine.app_id')
    .innerJoin('users as owner', 'owner.id', 'app.applicant_id')
    .where('mine.user_id', '=', user_id)
    .orderBy('app.id', 'desc')
    .select((eb) => [
      'mine.role',
      'owner.username as owner_username',
      'app.id',
      'app.payment_id',
      'app.pid',
      'app.book',
      'app.name',
      'app.description',
      'app.callback_url',
      'app.status',
      'app.review_reason',
      'app.exchange_rate',
      'app.created_at',
      eb
        .selectFrom('orders')
        .whereRef('orders.app_id', '=', 'app.id')
        // By their own index: a shop may have many more that nobody has paid.
        .where('orders.paid_at', 'is not', null)
        .select((e) => e.fn.coalesce(e.fn.sum<bigint>('orders.merchant_points'), e.lit(0)).as('points'))
        .as('takings'),
    ])
    .execute()
}

/** New ones, and those in use that were changed since they were approved. Each half has its index. */
const waitsForReview = sql<boolean>`(status = 'pending' or status = 'approved' and unreviewed_change_at is not null)`

/**
 * Applications that wait for an administrator, oldest first: those after one by its number, or from one on by its Payment
 * ID, if it still waits. `others` counts what else the applicant has.
 */
export async function reviewQueue(
  db: Db,
  { after = 0n, from }: { after?: bigint | undefined; from?: string | undefined },
  max: number,
) {
  return db
    .selectFrom('payment_apps as app')
    .innerJoin('users as applicant', 'applicant.id', 'app.applicant_id')
    .where(waitsForReview)
    .where('app.id', '>', after)
    .$if(from !== undefined, (query) =>
      query.where(
        sql<boolean>`app.id >= coalesce((select id from payment_apps where payment_id = ${from} and ${waitsForReview}), 0)`,
      ),
    )
    .orderBy('app.id')
    .limit(max)
    .select(['app.id', 'app.payment_id', 'app.name', 'app.description', 'app.callback_url', 'app.homepage'])
    .select(['app.logo_url', 'app.status', 'app.unreviewed_change_at', 'app.created_at', 'app.applicant_id'])
    .select(['applicant.username', 'applicant.trust_level', 'applicant.created_at as member_since'])
    .select((eb) =>
      eb
        .selectFrom('payment_apps as other')
        .whereRef('other.applicant_id', '=', 'app.applicant_id')
        .whereRef('other.id', '<>', 'app.id')
        .select((e) => e.fn.countAll<bigint>().as('count'))
        .as('others'),
    )
    .execute()
}

/** One application as an administrator sees it. Throws not_found. */
export async function getPaymentApp(db: Db, payment_id: string) {
  const app = await db
    .selectFrom('payment_apps as app')
    .innerJoin('users as applicant', 'applicant.id', 'app.applicant_id')
    .where('app.payment_id', '=', payment_id)
    .select(['app.id', 'app.payment_id', 'app.pid', 'app.name', 'app.description', 'app.callback_url'])
    .select(['app.book', 'app.homepage', 'app.exchange_rate', 'app.status', 'app.review_reason'])
    .select(['app.applicant_id', 'app.created_at', 'app.logo_url', 'app.unreviewed_change_at'])
    .select(['applicant.username', 'applicant.trust_level', 'applicant.created_at as member_since'])
    .executeTakeFirst()
  if (app === undefined) throw new AppError('not_found', `There is no application ${payment_id}`)
  return app
}

/** Live applications in use or out of it that wait for no review, for an administrator: suspended ones first, then the newest. */
export async function decidedPaymentApps(db: Db) {
  return db
    .selectFrom('payment_apps as app')
    .innerJoin('users as applicant', 'applicant.id', 'app.applicant_id')
    .where('app.status', 'in', ['approved', 'suspended'])
    .where('app.book', '=', 'live')
    .where((eb) => eb.not(waitsForReview))
    .orderBy('app.status', 'desc')
    .orderBy('app.id', 'desc')
    .limit(DECIDED_MAX)
    .select(['app.payment_id', 'app.name', 'app.status', 'app.review_reason', 'applicant.username'])
    .execute()
}
