/**
 * Who may do what with a payment application, and what those do who may change it: correct it, and change how it is
 * reached. Every verb finds the application through the member's role in it, so for everybody else it is simply not there,
 * and leaves an audit entry.
 */
import { recordAudit } from '../../core/audit.ts'
import type { Db, Tx } from '../../database/connection.ts'
import type { TeamRole } from '../../database/tables/payment-apps.ts'
import { AppError } from '../../platform/errors.ts'

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
