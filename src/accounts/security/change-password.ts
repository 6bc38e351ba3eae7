/** Changes a password for its member. */
import type { FastifyRequest } from 'fastify'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { endSessionsOf, replaceToken, sessionOf } from '../session/session.ts'
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
 * Sets the new password for the member of a request. It ends all other sessions and gives this one a new token, because
 * other people may know the old password and the old cookie. The member proved the password only, so auth_time and amr
 * stay. Returns the number of other signed-in browsers, and the token.
 */
export async function changePassword(
  deps: Core,
  request: FastifyRequest,
  new_password: string,
): Promise<{ others: number; token: string | undefined }> {
  const { id: session_id, user } = sessionOf(request)
  const { id: user_id } = user
  const password_hash = await hashPassword(new_password)
  return deps.db.transaction().execute(async (tx) => {
    await tx
      .updateTable('users')
      .set({ password_hash, must_change_password: false, updated_at: deps.clock() })
      .where('id', '=', user_id)
      .execute()
    const ended = await endSessionsOf(tx, deps, user_id, { except: session_id })
    const token = await replaceToken(tx, request, {}, deps)
    const event = { event: 'password.changed', user_id, actor_id: user_id, ip: request.ip } as const
    await recordSecurityEvent(tx, deps, event)
    return { others: ended.length, token }
  })
}
