/** Changes a password for its member. */
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { endSessionsOf } from '../session/session.ts'
import { hashPassword, verifyPassword } from './password.ts'
import { recordSecurityEvent } from './security-events.ts'

/** Whether this is the member's password. It takes the same time for a member without a password. */
export async function isPasswordOf(db: Db, user_id: bigint, password: string): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .where('id', '=', user_id)
    .select('password_hash')
    .executeTakeFirst()
  return verifyPassword(password, row?.password_hash)
}

/**
 * Sets the new password and ends all sessions, because other people may know the old one. Returns how many other browsers
 * were signed in.
 */
export async function changePassword(
  deps: Core,
  { user_id, new_password, ip }: { user_id: bigint; new_password: string; ip: string },
): Promise<number> {
  const password_hash = await hashPassword(new_password)
  return deps.db.transaction().execute(async (tx) => {
    await tx
      .updateTable('users')
      .set({ password_hash, must_change_password: false, updated_at: deps.clock() })
      .where('id', '=', user_id)
      .execute()
    const ended = await endSessionsOf(tx, deps, user_id)
    await recordSecurityEvent(tx, deps, { event: 'password.changed', user_id, actor_id: user_id, ip })
    return Math.max(0, ended.length - 1)
  })
}
