/** Codes of a sign-in that an owner tries on the own application. They become no tokens. spec/registry 3.5. */
import { sql } from 'kysely'
import type { Db } from '../../database/connection.ts'
import { sha256 } from '../../platform/secrets.ts'
import { challengeOf } from './codes.ts'

export type Trial = {
  code: string
  app_id: bigint
  user_id: bigint
  session_id: bigint
  redirect_uri: string
  code_verifier: string
  now: Date
}

/** What the tokens of the code would say. `sid` and `silenced_till` as they are now. */
export type TrialCode = {
  scopes: string[]
  nonce: string | null
  auth_time: Date
  amr: string[]
  sid: string | null
  silenced_till: Date | null
}

/**
 * Uses a code of a trial, once, in the session in which it was issued. Returns undefined for any other code, and for one that
 * is used or expired.
 */
export async function redeemTrialCode(
  db: Db,
  { code, code_verifier, now, ...bound }: Trial,
): Promise<TrialCode | undefined> {
  return db
    .updateTable('authorization_codes')
    .set({ used_at: now })
    .where('code_hash', '=', sha256(code))
    .where('app_id', '=', bound.app_id)
    .where('user_id', '=', bound.user_id)
    .where('session_id', '=', bound.session_id)
    .where('redirect_uri', '=', bound.redirect_uri)
    .where('code_challenge', '=', challengeOf(code_verifier))
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .returning(['scopes', 'nonce', 'auth_time', 'amr'])
    .returning(sql<string | null>`(select sid from sessions where id = session_id)`.as('sid'))
    .returning(sql<Date | null>`silenced_till(user_id)`.as('silenced_till'))
    .executeTakeFirst()
}
