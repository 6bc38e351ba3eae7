/** Sign-ins that wait for their second step, between the two pages. */
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { randomToken, sha256 } from '../../platform/secrets.ts'
import { isBannedOrSuspended } from '../people/users.ts'

export const PENDING_MINUTES = 10

/** Whether signing in to this account asks for a second factor. */
export async function hasSecondFactor(db: Db, user_id: bigint): Promise<boolean> {
  const factor = await db
    .selectFrom('second_factors as factor')
    .innerJoin('users', 'users.id', 'factor.user_id')
    .where('factor.user_id', '=', user_id)
    // A factor left from before the account went over to the forum is asked for no more.
    .where('users.password_hash', 'is not', null)
    .select('factor.user_id')
    .executeTakeFirst()
  return factor !== undefined
}

/** Keeps a sign-in whose first step was right. Answers the token that the browser finishes it with. */
export async function beginSecondStep(
  { db, clock }: Core,
  first: { user_id: bigint; amr: string[]; return_to: string },
): Promise<string> {
  const token = randomToken()
  const expires_at = new Date(clock().getTime() + PENDING_MINUTES * 60_000)
  await db
    .insertInto('pending_sign_ins')
    .values({ ...first, token_hash: sha256(token), expires_at })
    .execute()
  return token
}

/** The sign-in that this token finishes, if it still waits. */
export async function findSecondStep({ db, clock }: Core, token: string | undefined) {
  if (token === undefined) return undefined
  const now = clock()
  const row = await db
    .selectFrom('pending_sign_ins as pending')
    .innerJoin('users', 'users.id', 'pending.user_id')
    .where('pending.token_hash', '=', sha256(token))
    .where('pending.expires_at', '>', now)
    .select(['pending.id', 'pending.user_id', 'pending.amr', 'pending.return_to'])
    .select(['users.username', 'users.is_banned', 'users.suspended_till'])
    .executeTakeFirst()
  return row === undefined || isBannedOrSuspended(row, now) ? undefined : row
}

/** Uses a sign-in up. False when another request did, or a change of the password ended it. */
export async function endSecondStep(db: Db, id: bigint): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('pending_sign_ins').where('id', '=', id).executeTakeFirst()
  return numDeletedRows === 1n
}
