/** One-time links, sent by mail or made at the command line. Only the hash of a link's token is kept; who claims it first has used it. */
import type { Db, Tx } from '../../database/connection.ts'
import { randomToken, sha256 } from '../../platform/secrets.ts'

export type LinkPurpose = 'recover_password' | 'confirm_email' | 'sign_in'

/** Makes a link and returns its token, which is in the link and nowhere else. */
export async function issueLink(
  tx: Tx,
  link: { user_id: bigint; purpose: LinkPurpose; email: string; expires_at: Date },
): Promise<string> {
  const token = randomToken()
  await tx
    .insertInto('account_links')
    .values({ ...link, token_hash: sha256(token) })
    .execute()
  return token
}

/** Ends what is left of a member's links of a kind. */
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

export type LinkToken = { token: string; purpose: LinkPurpose; now: Date }

/** What a link that can still be used is about. Looking uses nothing up. */
export async function findLink(
  db: Db,
  { token, purpose, now }: LinkToken,
): Promise<{ user_id: bigint; username: string; email: string } | undefined> {
  return db
    .selectFrom('account_links as link')
    .innerJoin('users', 'users.id', 'link.user_id')
    .where('link.token_hash', '=', sha256(token))
    .where('link.purpose', '=', purpose)
    .where('link.used_at', 'is', null)
    .where('link.expires_at', '>', now)
    .select(['link.user_id', 'link.email', 'users.username'])
    .executeTakeFirst()
}

/**
 * Uses the link: of any number of requests at once, one.
 * @param user_id whose link it has to be, if the request says who is asking.
 */
export async function claimLink(
  tx: Tx,
  { token, purpose, now, user_id }: LinkToken & { user_id?: bigint },
): Promise<{ user_id: bigint; email: string } | undefined> {
  return tx
    .updateTable('account_links')
    .set({ used_at: now })
    .where('token_hash', '=', sha256(token))
    .where('purpose', '=', purpose)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .$if(user_id !== undefined, (query) => query.where('user_id', '=', user_id!))
    .returning(['user_id', 'email'])
    .executeTakeFirst()
}
