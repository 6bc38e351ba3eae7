/** Unfinished sign-ins, which wait between the two pages for their second factor. */
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { randomToken, sha256 } from '../../platform/secrets.ts'
import { isBannedOrSuspended } from '../people/users.ts'

export const PENDING_MINUTES = 10

/** Whether a sign-in to this account requires a second factor. */
export async function hasSecondFactor(db: Db, user_id: bigint): Promise<boolean> {
  const factor = await db
    .selectFrom('second_factors as factor')
    .innerJoin('users', 'users.id', 'factor.user_id')
    .where('factor.user_id', '=', user_id)
    // An account that moved to the forum may have an old factor, which no longer counts.
    .where('users.password_hash', 'is not', null)
    .select('factor.user_id')
    .executeTakeFirst()
  return factor !== undefined
}

/** Stores a sign-in whose first step was right. Returns the token with which the browser finishes it. */
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

/** Returns the unfinished sign-in of this token, or undefined. `hasCodes`: the member has an authenticator app. */
export async function findSecondStep({ db, clock }: Core, token: string | undefined) {
  if (token === undefined) return undefined
  const now = clock()
  const row = await db
    .selectFrom('pending_sign_ins as pending')
    .innerJoin('users', 'users.id', 'pending.user_id')
    .leftJoin('second_factors as factor', 'factor.user_id', 'pending.user_id')
    .where('pending.token_hash', '=', sha256(token))
    .where('pending.expires_at', '>', now)
    .select(['pending.id', 'pending.user_id', 'pending.amr', 'pending.return_to'])
    .select(['users.username', 'users.is_banned', 'users.suspended_till'])
    .select((eb) => eb('factor.secret_encrypted', 'is not', null).$castTo<boolean>().as('hasCodes'))
    .executeTakeFirst()
  return row === undefined || isBannedOrSuspended(row, now) ? undefined : row
}

/** Uses an unfinished sign-in. Returns false when another request used it, or a change of the password ended it. */
export async function endSecondStep(db: Db, id: bigint): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('pending_sign_ins').where('id', '=', id).executeTakeFirst()
  return numDeletedRows === 1n
}
