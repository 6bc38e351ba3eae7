/**
 * The roles in a payment application and their rights. Every verb finds the application through the member's role in it,
 * so members without a role get not_found.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { recordAudit } from '../../core/audit.ts'
import type { Db, Tx } from '../../database/connection.ts'
import type { TeamRole } from '../../database/tables/payment-apps.ts'
import { AppError } from '../../platform/errors.ts'

export type Role = 'owner' | TeamRole

/** The strongest role first. Each role has the rights of all the roles after it. */
const ROLES: readonly Role[] = ['owner', 'manager', 'operator', 'viewer']

/** The lowest role with each right. Only the owner may move points from the owner's wallet or hand the application over. */
const RIGHTS = {
  /** Its details, its terms and its team. */
  'application.read': 'viewer',
  /** Orders, transfers, notifications and statistics. */
  'orders.read': 'viewer',
  'notifications.redeliver': 'operator',
  /** A request moves no points until an administrator accepts it. */
  'refunds.ask': 'operator',
  'signatures.debug': 'operator',
  'addresses.try': 'operator',
  'mandates.revoke': 'operator',
  /** What buyers left at links. */
  'links.moderate': 'operator',
  'settings.edit': 'manager',
  /** NOTE: a member who knows a key can transfer points through the API. The team page warns about it. */
  'keys.manage': 'manager',
  'points.transfer': 'owner',
  /** The link with a sign-in application of the owner, and what both show. */
  'shop.link': 'owner',
  'team.manage': 'owner',
  'application.hand_over': 'owner',
  /** A live application from a test one. */
  'application.go_live': 'owner',
} as const satisfies Record<string, Role>

export type Right = keyof typeof RIGHTS
const ALL_RIGHTS = Object.keys(RIGHTS) as Right[]

/** The roles that include a right, the strongest first. */
export function rolesWith(right: Right): Role[] {
  return ROLES.slice(0, ROLES.indexOf(RIGHTS[right]) + 1)
}

/** Whether a role includes a right. */
export function may(role: Role, right: Right): boolean {
  return rolesWith(right).includes(role)
}

/** A condition on `payment_apps`: the member has a role with this right. */
export function permits(user_id: bigint, right: Right): RawBuilder<SqlBool> {
  return sql<SqlBool>`payment_apps.id in (
    select app_id from payment_app_roles where user_id = ${user_id} and role = any(${rolesWith(right)}::text[])
  )`
}

export type Actor = { user_id: bigint; ip: string }

/** An application, the member's role in it, and all the rights of that role. */
export type Permitted = Awaited<ReturnType<typeof getPermitted>>

/**
 * Checks a right before a read. Throws not_found for a member without a role in the application, and forbidden if
 * the role lacks the right. Callers find everything else by the id that this returns.
 */
export async function getPermitted(db: Db, payment_id: string, user_id: bigint, right: Right) {
  const app = await db
    .selectFrom('payment_apps as app')
    .innerJoin('payment_app_roles as mine', 'mine.app_id', 'app.id')
    .innerJoin('users as owner', 'owner.id', 'app.applicant_id')
    .where('app.payment_id', '=', payment_id)
    .where('mine.user_id', '=', user_id)
    .select([
      'app.id',
      'app.payment_id',
      'app.name',
      'app.status',
      'app.applicant_id',
      'app.callback_url',
      'app.notify_url',
    ])
    .select(['app.book', 'app.pid', 'app.homepage', 'app.logo_url', 'mine.role'])
    .select('owner.username as owner_username')
    .executeTakeFirst()
  if (app === undefined) throw new AppError('not_found', 'There is no such payment application')
  if (!may(app.role, right)) throw new AppError('forbidden', `This needs the role ${RIGHTS[right]}`)
  return { ...app, rights: ALL_RIGHTS.filter((each) => may(app.role, each)) }
}

/** Checks a right before an act. Locks the application, so that the right holds until the transaction ends. */
export async function lockPermitted(
  tx: Tx,
  payment_id: string,
  { user_id }: Actor,
  right: Right,
): Promise<Permitted> {
  // A separate statement, which sees the role as others committed it while this one waited.
  await tx
    .selectFrom('payment_apps')
    .where('payment_id', '=', payment_id)
    .select('id')
    // Concurrent orders and transfers lock the row's key.
    .forNoKeyUpdate()
    .execute()
  return getPermitted(tx, payment_id, user_id, right)
}

/** Writes an act on an application to the audit log. */
export async function audit(
  tx: Tx,
  action: string,
  subject: string,
  detail: Record<string, unknown>,
  { user_id, ip }: Actor,
): Promise<void> {
  await recordAudit(tx, { actor_id: user_id, action, subject, detail, ip })
}
