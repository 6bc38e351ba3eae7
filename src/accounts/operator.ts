/**
 * The operator's acts on accounts from the command line, for a site where no administrator can sign in or none exists yet.
 * The audit log has each act without an actor, except for accounts that an administrator makes on a page.
 */
import { sql } from 'kysely'
import { recordAudit } from '../core/audit.ts'
import type { Core } from '../core/core.ts'
import type { Tx } from '../database/connection.ts'
import { AppError } from '../platform/errors.ts'
import { ALNUM, randomText } from '../platform/secrets.ts'
import { confirmRights } from './forum/staff.ts'
import { isLastAdministrator, lockWithAdministrators } from './members.ts'
import {
  createUser,
  findUserByUsername,
  isBannedOrSuspended,
  type NewUser,
  type User,
} from './people/users.ts'
import { endLinks, issueLink } from './security/account-links.ts'
import { hashPassword } from './security/password.ts'
import { resetSecondFactor } from './security/second-factor.ts'
import { recordSecurityEvent } from './security/security-events.ts'
import { endSessionsOf } from './session/session.ts'
import { SIGN_IN_LINK } from './sign-in/link.page.ts'

const PASSWORD_LENGTH = 16
const LINK_MINUTES = 15

/** Makes a password that must be changed at the first sign-in. */
async function oneTimePassword() {
  const password = randomText(PASSWORD_LENGTH, ALNUM)
  return { password, password_hash: await hashPassword(password) }
}

/** Throws not_found when no member has this username. */
async function getMember({ db }: Pick<Core, 'db'>, username: string): Promise<User> {
  const user = await findUserByUsername(db, username)
  if (user === undefined) throw new AppError('not_found', `There is no member ${username}`)
  return user
}

/**
 * Creates a local account and returns its one-time password, which cannot be read again. Throws conflict when the name is
 * taken.
 * @param by the administrator who acts on a page; absent for the operator.
 */
export async function createAccount(
  { db }: Pick<Core, 'db'>,
  account: Omit<NewUser, 'password_hash' | 'must_change_password'>,
  by: { actor_id: bigint; ip: string } | undefined = undefined,
): Promise<{ id: bigint; password: string }> {
  const { password, password_hash } = await oneTimePassword()
  const { username, is_admin = false, trust_level = 0, is_service } = account
  const detail = { username, is_admin, trust_level, ...(is_service && { is_service }) }
  const values = { ...account, password_hash, must_change_password: true }
  const id = await createUser(db, values, (tx, user_id) =>
    recordAudit(tx, { ...byOperator('account.created', user_id, detail), ...by }),
  )
  return { id, password }
}

/** Grants or revokes administration. Throws not_found, and conflict when it would revoke the last administrator. */
export async function setAdministrator(deps: Core, username: string, is_admin: boolean): Promise<void> {
  const { id } = await getMember(deps, username)
  const now = deps.clock()
  await deps.db.transaction().execute(async (tx) => {
    if (!is_admin) await requireAnother(tx, { id, username }, now)
    await tx.updateTable('users').set({ is_admin, updated_at: now }).where('id', '=', id).execute()
    if (is_admin) await confirmRights(tx, id, now)
    await recordAudit(tx, byOperator(is_admin ? 'account.admin_granted' : 'account.admin_revoked', id, {}))
  })
}

/** Throws conflict for the last administrator. Otherwise all others stay administrators until the transaction ends. */
async function requireAnother(
  tx: Tx,
  { id, username }: Pick<User, 'id' | 'username'>,
  now: Date,
): Promise<void> {
  await lockWithAdministrators(tx, id)
  const { rows } = await sql`select where ${isLastAdministrator(id, now)}`.execute(tx)
  if (rows.length > 0)
    throw new AppError(
      'conflict',
      `Without ${username} no administrator could sign in: make somebody else one first, by \`tessera user grant-admin\``,
    )
}

/**
 * Gives a local account a one-time password, which cannot be read again, and ends its sessions. Throws not_found, and
 * conflict for an account that signs in at the forum.
 */
export async function resetPassword(deps: Core, username: string): Promise<string> {
  const { id: user_id } = await getMember(deps, username)
  const { password, password_hash } = await oneTimePassword()
  await deps.db.transaction().execute(async (tx) => {
    const reset = await tx
      .updateTable('users')
      .set({ password_hash, must_change_password: true, updated_at: deps.clock() })
      .where('id', '=', user_id)
      .where('forum_id', 'is', null)
      .executeTakeFirst()
    if (reset.numUpdatedRows !== 1n)
      throw new AppError('conflict', `${username} signs in at the forum and has no password here`)
    await endSessionsOf(tx, deps, user_id)
    await recordSecurityEvent(tx, deps, { event: 'password.changed', user_id, actor_id: null, ip: null })
  })
  return password
}

/** Turns a member's second factor off and removes all passkeys. Throws not_found, and conflict without either. */
export async function dropSecondFactor(deps: Core, username: string, reason: string): Promise<void> {
  const { id: user_id } = await getMember(deps, username)
  await resetSecondFactor(deps, { user_id, admin_id: null, reason, ip: null })
}

/**
 * Makes a link that signs in once, within 15 minutes, even when the forum is down. It still asks for a second factor.
 * Earlier links of the member end. Throws not_found, and conflict for a member who is suspended or banned.
 */
export async function makeSignInLink(
  deps: Core,
  username: string,
): Promise<{ url: string; expires_at: Date }> {
  const user = await getMember(deps, username)
  const { id: user_id } = user
  const now = deps.clock()
  if (isBannedOrSuspended(user, now))
    throw new AppError('conflict', `${username} is suspended or banned and cannot sign in`)
  const expires_at = new Date(now.getTime() + LINK_MINUTES * 60_000)
  const token = await deps.db.transaction().execute(async (tx) => {
    await endLinks(tx, { user_id, purpose: 'sign_in', now })
    await recordAudit(tx, byOperator('account.sign_in_link', user_id, { expires_at }))
    return issueLink(tx, { user_id, purpose: 'sign_in', email: '', expires_at })
  })
  return { url: `${deps.config.PUBLIC_URL}${SIGN_IN_LINK}?token=${token}`, expires_at }
}

function byOperator(action: string, user_id: bigint, detail: Record<string, unknown>) {
  return { actor_id: null, action, subject: `user:${user_id}`, detail, ip: null }
}
