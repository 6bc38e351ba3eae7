// This room: passwords, e-mail addresses, second factors, recovery, and the security events of an account.
// Verbs: changePassword, confirmAddress, turnOnSecondFactor, acceptCode, recoverPassword, noteSignIn.
// Tables: account_links, second_factors, recovery_codes, recovery_requests.
// Clauses: spec/accounts 2.4, 3.4, 4.1–4.2.
/** One-time links, sent by mail or made at the command line. Only the hash of a link's token is stored. */
import type { Db, Tx } from '../../database/connection.ts'
import { randomToken, sha256 } from '../../platform/secrets.ts'

export type LinkPurpose = 'recover_password' | 'confirm_email' | 'sign_in' | 'not_me'

/** Makes a link and returns its token, which only the link contains. */
export async function issueLink(
  tx: Tx,
  link: {
    user_id: bigint
    purpose: LinkPurpose
    email: string
    expires_at: Date
    /** The path to which the link leads on. */
    return_to?: string
    /** The notice that a link of “This wasn't me” denies. */
    event?: string
  },
): Promise<string> {
  const token = randomToken()
  await tx
    .insertInto('account_links')
    .values({ ...link, token_hash: sha256(token) })
    .execute()
  return token
}

/** Ends a member's unused links of one purpose. */
export async function endLinks(
  tx: Tx,
  { user_id, purpose, now }: { user_id: bigint; purpose: LinkPurpose; now: Date },
): Promise<void> {
  await tx
    .updateTable('account_links')
    .set({ used_at: now })
    .where('user_id', '=', user_id)
    .where('purpose', '=', purpose)
    .where('used_at', 'is', null)
    .execute()
}

/** Ends a member's unused links of every purpose that are newer than this one. */
export async function endNewerLinks(
  tx: Tx,
  { user_id, id, now }: { user_id: bigint; id: bigint; now: Date },
): Promise<void> {
  await tx
    .updateTable('account_links')
    .set({ used_at: now })
    .where('user_id', '=', user_id)
    .where('id', '>', id)
    .where('used_at', 'is', null)
    .execute()
}

export type LinkToken = { token: string; purpose: LinkPurpose; now: Date }

/** Finds a usable link without using it. */
export async function findLink(
  db: Db,
  { token, purpose, now }: LinkToken,
): Promise<
  | {
      user_id: bigint
      username: string
      email: string
      expires_at: Date
      event: string | null
      return_to: string
    }
  | undefined
> {
  return db
    .selectFrom('account_links as link')
    .innerJoin('users', 'users.id', 'link.user_id')
    .where('link.token_hash', '=', sha256(token))
    .where('link.purpose', '=', purpose)
    .where('link.used_at', 'is', null)
    .where('link.expires_at', '>', now)
    .select([
      'link.user_id',
      'link.email',
      'link.expires_at',
      'link.event',
      'link.return_to',
      'users.username',
    ])
    .executeTakeFirst()
}

/**
 * Uses the link. Of simultaneous requests, only one succeeds. Returns undefined for an unusable link.
 * @param user_id the member whose link it must be, if a member is signed in.
 */
export async function claimLink(
  tx: Tx,
  { token, purpose, now, user_id }: LinkToken & { user_id?: bigint },
): Promise<{ id: bigint; user_id: bigint; email: string; expires_at: Date; return_to: string } | undefined> {
  return tx
    .updateTable('account_links')
    .set({ used_at: now })
    .where('token_hash', '=', sha256(token))
    .where('purpose', '=', purpose)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .$if(user_id !== undefined, (query) => query.where('user_id', '=', user_id!))
    .returning(['id', 'user_id', 'email', 'expires_at', 'return_to'])
    .executeTakeFirst()
}
