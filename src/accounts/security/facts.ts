/** What the account page tells of each part of an account's security, so that a member need not open a page to learn it. */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'

/** The newest audit entries of the account in which the last change of the password is looked for. */
const LOOKED_AT_MAX = 200

export type AccountFacts = {
  /** When the password was set last. Null if the entries that were looked at do not tell it. */
  password_set_at: Date | null
  /** Whether two-step verification takes codes of an app, and not passkeys alone. */
  has_app: boolean
  /** Passkeys of this and of former addresses of the site. */
  passkeys: number
  /** Browsers that are signed in, with the one that asks. */
  browsers: number
  /** Applications that the member has authorised. */
  apps: number
  /** Shops that may charge under a mandate, a paused one included. */
  mandates: number
}

/** Reads the facts of an account in one statement. */
export async function accountFacts({ db, clock }: Core, user_id: bigint): Promise<AccountFacts> {
  const { rows } = await sql<AccountFacts>`
    select
      (
        select max(created_at) from (
          select action, created_at from audit_log
          where subject = ${`user:${user_id}`} order by id desc limit ${LOOKED_AT_MAX}
        ) as entry
        where action in ('account.password.changed', 'account.password.recovered', 'account.registered')
      ) as password_set_at,
      exists (
        select from second_factors where user_id = ${user_id} and secret_encrypted is not null
      ) as has_app,
      (select count(*)::integer from passkeys where user_id = ${user_id}) as passkeys,
      (select count(*)::integer from sessions where user_id = ${user_id} and expires_at > ${clock()}) as browsers,
      (select count(*)::integer from consents where user_id = ${user_id}) as apps,
      (
        select count(distinct app_id)::integer from mandates where user_id = ${user_id} and status in ('active', 'paused')
      ) as mandates`.execute(db)
  return rows[0]!
}
