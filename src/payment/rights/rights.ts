/**
 * Who may do what with a payment application, and what those do who may change it: correct it, and change how it is
 * reached. Every verb finds the application through the member's role in it, so for everybody else it is simply not there,
 * and leaves an audit entry.
 */
import { sql } from 'kysely'
import { z } from 'zod'
import { lockUser } from '../../accounts/people/users.ts'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Db, Tx } from '../../database/connection.ts'
import type { TeamRole } from '../../database/tables.ts'
import { AppError } from '../../platform/errors.ts'
import { isCallbackUrl, paymentAppForm, refuseLongQueue } from '../apps/apps.ts'
import { ALLOWED_ADDRESSES_MAX, isAddressRange } from '../values/addresses.ts'

const LOGO_URL_LENGTH_MAX = 500

/** Points per unit of currency: decisions.md 4.5. */
const EXCHANGE_RATE = /^\d{1,6}(\.\d{1,6})?$/

/** What an owner may change, as the form sends it. */
export const paymentAppEdit = (production: boolean) =>
  paymentAppForm(production).extend({
    homepage: z
      .string()
      .trim()
      .refine((text) => text === '' || isCallbackUrl(text.split(/[?#]/)[0]!, production)),
    logo_url: z
      .string()
      .trim()
      .refine((text) => text === '' || isLogoUrl(text)),
    exchange_rate: z
      .string()
      .trim()
      .refine((text) => EXCHANGE_RATE.test(text) && /[1-9]/.test(text)),
    allowed_addresses: z
      .string()
      .transform((text) => text.split(/[\s,]+/).filter((part) => part !== ''))
      .refine((list) => list.length <= ALLOWED_ADDRESSES_MAX && list.every(isAddressRange)),
  })

/** Pages may load pictures by https only. */
function isLogoUrl(text: string): boolean {
  return (
    text.length <= LOGO_URL_LENGTH_MAX &&
    text.startsWith('https://') &&
    isCallbackUrl(text.split('?')[0]!, true)
  )
}

export type PaymentAppEdit = z.output<ReturnType<typeof paymentAppEdit>>

export type Role = 'owner' | TeamRole

/** From the one who may do most. Each may do what those after it may. */
const ROLES: readonly Role[] = ['owner', 'manager', 'operator', 'viewer']

/** Which role an act takes at least. What moves points from the owner's wallet, or the application itself, is the owner's alone. */
const RIGHTS = {
  /** Its facts, its terms and its team. */
  'application.read': 'viewer',
  /** Orders, transfers, notifications and statistics. */
  'orders.read': 'viewer',
  'notifications.redeliver': 'operator',
  /** Points move only when an administrator agrees. */
  'refunds.ask': 'operator',
  'signatures.debug': 'operator',
  'addresses.try': 'operator',
  'settings.edit': 'manager',
  /** NOTE: whoever knows a key can transfer points through the API; the team's page says so. */
  'keys.manage': 'manager',
  'points.transfer': 'owner',
  'team.manage': 'owner',
  'application.hand_over': 'owner',
} as const satisfies Record<string, Role>

export type Right = keyof typeof RIGHTS

const ALL_RIGHTS = Object.keys(RIGHTS) as Right[]

/** The roles that have a right. */
export function rolesWith(right: Right): Role[] {
  return ROLES.slice(0, ROLES.indexOf(RIGHTS[right]) + 1)
}

export function may(role: Role, right: Right): boolean {
  return rolesWith(right).includes(role)
}

export type Actor = { user_id: bigint; ip: string }

/** An application in which somebody has a right, their role in it, and all the rights that come with it. */
export type Permitted = Awaited<ReturnType<typeof getPermitted>>

/**
 * The one verb that decides a right, for whoever looks: throws not_found for a member without a role in the
 * application, forbidden when theirs lacks the right. Whatever is read below it is found by the id that this answers.
 */
export async function getPermitted(db: Db, payment_id: string, user_id: bigint, right: Right) {
  const app = await db
    .selectFrom('payment_apps as app')
    .innerJoin('payment_app_roles as mine', 'mine.app_id', 'app.id')
    .innerJoin('users as owner', 'owner.id', 'app.applicant_id')
    .where('app.payment_id', '=', payment_id)
    .where('mine.user_id', '=', user_id)
    .select(['app.id', 'app.payment_id', 'app.name', 'app.status', 'app.applicant_id', 'app.callback_url'])
    .select(['app.book', 'app.homepage', 'mine.role', 'owner.username as owner_username'])
    .executeTakeFirst()
  if (app === undefined) throw new AppError('not_found', 'There is no such payment application')
  if (!may(app.role, right)) throw new AppError('forbidden', `This needs the role ${RIGHTS[right]}`)
  return { ...app, rights: ALL_RIGHTS.filter((each) => may(app.role, each)) }
}

/** The same for whoever acts: locks the application too, so that the right holds until the end of the transaction. */
export async function lockPermitted(
  tx: Tx,
  payment_id: string,
  { user_id }: Actor,
  right: Right,
): Promise<Permitted> {
  // Apart from the look at the role, which must see what was committed while this waited.
  await tx
    .selectFrom('payment_apps')
    .where('payment_id', '=', payment_id)
    .select('id')
    // Orders and transfers in flight hold the row by its key.
    .forNoKeyUpdate()
    .execute()
  return getPermitted(tx, payment_id, user_id, right)
}

/**
 * Changes an application. A rejected one goes back to the review with it, if not too many of its owner wait there; one in
 * use too, when what was approved changes, and sells on meanwhile; a suspended one cannot be changed. Throws conflict.
 */
export async function editPaymentApp(
  deps: Core,
  payment_id: string,
  edit: PaymentAppEdit,
  actor: Actor,
): Promise<void> {
  const now = deps.clock()
  await deps.db.transaction().execute(async (tx) => {
    const { status, applicant_id } = await getPermitted(tx, payment_id, actor.user_id, 'settings.edit')
    const isReapplied = status === 'rejected'
    // Members are locked before their applications, here as everywhere.
    if (isReapplied) await lockUser(tx, applicant_id)
    const app = await lockPermitted(tx, payment_id, actor, 'settings.edit')
    if (app.status === 'suspended')
      throw new AppError('conflict', 'A suspended application cannot be changed')
    if (app.applicant_id !== applicant_id || (app.status === 'rejected') !== isReapplied)
      throw new AppError('conflict', 'This application was just changed by somebody else')
    if (isReapplied) await refuseLongQueue(tx, applicant_id)
    const { allowed_addresses, homepage, logo_url, ...rest } = edit
    const { unreviewed_change_at } = await tx
      .updateTable('payment_apps')
      .set({
        ...rest,
        homepage: homepage || null,
        logo_url: logo_url || null,
        allowed_addresses: sql`${allowed_addresses}::text[]::inet[]`,
        updated_at: now,
      })
      .$if(isReapplied, (query) => query.set({ status: 'pending', review_reason: null }))
      .where('id', '=', app.id)
      .returning('unreviewed_change_at')
      .executeTakeFirstOrThrow()
    await audit(tx, isReapplied ? 'payment_app.reapply' : 'payment_app.edit', payment_id, { ...edit }, actor)
    if (unreviewed_change_at?.getTime() === now.getTime())
      await audit(tx, 'payment_app.change_unreviewed', payment_id, {}, actor)
  })
}

/** Says which versions of the gateway take requests. One that is off refuses; what was paid is still told. */
export async function switchVersions(
  deps: Core,
  payment_id: string,
  enabled: { v1: boolean; v2: boolean },
  actor: Actor,
): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    const { id } = await lockPermitted(tx, payment_id, actor, 'settings.edit')
    await tx
      .updateTable('payment_apps')
      .set({ v1_enabled: enabled.v1, v2_enabled: enabled.v2, updated_at: deps.clock() })
      .where('id', '=', id)
      .execute()
    await audit(tx, 'payment_app.switch_versions', payment_id, { ...enabled }, actor)
  })
}

/** Tells the owner when the wallet falls below so many points; null is never. A new choice is a new cause. */
export async function setLowBalance(
  deps: Core,
  payment_id: string,
  points: bigint | null,
  actor: Actor,
): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    const { id } = await lockPermitted(tx, payment_id, actor, 'points.transfer')
    await tx
      .updateTable('payment_apps')
      .set({ low_balance_points: points, low_balance_at: null })
      .where('id', '=', id)
      .execute()
    const detail = { points: points === null ? null : String(points) }
    await audit(tx, 'payment_app.set_low_balance', payment_id, detail, actor)
  })
}

/** Notes in the audit log what somebody has done with an application. */
export async function audit(
  tx: Tx,
  action: string,
  subject: string,
  detail: Record<string, unknown>,
  { user_id, ip }: Actor,
): Promise<void> {
  await recordAudit(tx, { actor_id: user_id, action, subject, detail, ip })
}

/** One application as somebody with this right sees it, with its keys' ages and the reader's role. Throws as getPermitted. */
export async function getOwned(deps: Core, payment_id: string, user_id: bigint, right: Right) {
  const { id, role, rights, owner_username } = await getPermitted(deps.db, payment_id, user_id, right)
  const app = await deps.db
    .selectFrom('payment_apps as app')
    .where('app.id', '=', id)
    .select([
      'app.id',
      'app.payment_id',
      'app.pid',
      'app.book',
      'app.live_app_id',
      'app.name',
      'app.description',
      'app.callback_url',
      'app.homepage',
      'app.logo_url',
      'app.status',
      'app.review_reason',
      'app.unreviewed_change_at',
      'app.events_url',
      'app.events_gone_at',
      'app.v1_enabled',
      'app.v2_enabled',
      'app.low_balance_points',
    ])
    .select([
      // As the owner typed it: 100, not 100.000000.
      sql<string>`trim_scale(app.exchange_rate)::text`.as('exchange_rate'),
      sql<string[]>`app.allowed_addresses::text[]`.as('allowed_addresses'),
    ])
    .executeTakeFirstOrThrow()
  const tokens = await deps.db
    .selectFrom('payment_app_keys')
    .where('app_id', '=', app.id)
    .where('kind', '=', 'token')
    .where((eb) => eb.or([eb('valid_to', 'is', null), eb('valid_to', '>', deps.clock())]))
    .orderBy('id', 'desc')
    .select(['id', 'created_at', 'last_used_at', 'valid_to', 'is_former_owners'])
    .execute()
  return { ...app, role, rights, owner_username, tokens }
}
