/**
 * Signs in a member whom the forum has confirmed. Browsers take a nonce to the forum and bring it back. It works once, for 10
 * minutes, in one browser.
 */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Db, Tx } from '../../database/connection.ts'
import { randomToken, sha256 } from '../../platform/secrets.ts'
import { isBannedOrSuspended } from '../people/users.ts'
import { fetchForumUser } from './api.ts'
import type { ForumIdentity } from './connect.ts'
import { noteContact } from './contacts.ts'
import { parseGroupAliases } from './groups.ts'
import { saveMember, savingMembers } from './members.ts'
import type { ForumFailure } from './requests.ts'
import type { ForumUser } from './single-read.ts'
import { suspensionUntil } from './suspension.ts'

/** Uses the nonce and updates the account in one transaction. */
export async function signInMember(
  deps: Core,
  identity: ForumIdentity,
  nonce: NonceUse,
): Promise<{ user_id: bigint } | 'used' | 'suspended'> {
  const hasApi = deps.config.DISCOURSE_API_KEY !== undefined
  const { forum_group_aliases } = await deps.settings.read()
  const asked_at = deps.clock()
  const { user, failure } = hasApi ? await askApi(deps, identity.forum_id) : {}
  const now = deps.clock()
  const known = await deps.db
    .selectFrom('users')
    .where('forum_id', '=', identity.forum_id)
    .select('id')
    .executeTakeFirst()
  // A suspended member of the forum without an account gets none.
  if (known === undefined && user !== undefined) {
    if (isBannedOrSuspended(suspensionUntil(user.suspended_till, now), now)) return 'suspended'
  }
  if (!hasApi) await countClaims(deps.db, identity)
  await noteContact(deps, 'sign_in')
  return savingMembers(deps.db, async (tx) => {
    if (!(await claimNonce(tx, nonce, now))) return 'used'
    const user_id = (await saveMember(tx, {
      identity,
      ...(user && { user }),
      failure,
      hasApi,
      aliases: parseGroupAliases(forum_group_aliases),
      now: asked_at,
    }))!
    const saved = await tx
      .selectFrom('users')
      .where('id', '=', user_id)
      .select(['is_banned', 'suspended_till'])
      .executeTakeFirstOrThrow()
    return isBannedOrSuspended(saved, now) ? 'suspended' : { user_id }
  })
}

/**
 * Reads the member from the API, or returns why not. After a failure the last known values count, and the worker checks the
 * member soon. `deleted` is not believed, because the forum has just confirmed the member.
 */
async function askApi(deps: Core, forum_id: bigint): Promise<{ user?: ForumUser; failure?: ForumFailure }> {
  const answer = await fetchForumUser(deps, forum_id, 'sign_in')
  return answer === 'deleted' ? { failure: 'unreadable' } : answer
}

/** Counts answers in a row that state neither rights nor groups. Without an API nothing else states them. */
async function countClaims(db: Db, { is_admin, is_moderator, group_names }: ForumIdentity): Promise<void> {
  const hasClaims = [is_admin, is_moderator, group_names].some((claim) => claim !== undefined)
  await db
    .updateTable('forum_api')
    .set({ answers_without_claims: hasClaims ? 0 : sql<number>`answers_without_claims + 1` })
    .where(sql<boolean>`${!hasClaims} or answers_without_claims > 0`)
    .execute()
}

export const NONCE_MINUTES = 10

export type NonceFault = 'unknown' | 'other_browser' | 'used' | 'expired'

/** Makes a nonce that only this browser can use. */
export async function issueNonce({ db, clock }: Core, browser: string, return_to: string): Promise<string> {
  const nonce = randomToken()
  const expires_at = new Date(clock().getTime() + NONCE_MINUTES * 60_000)
  await db
    .insertInto('forum_nonces')
    .values({ nonce_hash: sha256(nonce), browser_hash: sha256(browser), return_to, expires_at })
    .execute()
  return nonce
}

export type NonceUse = { nonce: string; browser: string }

/** Checks a nonce before any request or write. claimNonce decides. */
export async function lookAtNonce(
  { db, clock }: Core,
  { nonce, browser }: NonceUse,
): Promise<{ fault: NonceFault | undefined; return_to: string }> {
  const row = await db
    .selectFrom('forum_nonces')
    .where('nonce_hash', '=', sha256(nonce))
    .select(['browser_hash', 'return_to', 'used_at', 'expires_at'])
    .executeTakeFirst()
  if (row === undefined) return { fault: 'unknown', return_to: '/' }
  if (!row.browser_hash.equals(sha256(browser))) return { fault: 'other_browser', return_to: '/' }
  const { return_to } = row
  if (row.used_at !== null) return { fault: 'used', return_to }
  return { fault: row.expires_at <= clock() ? 'expired' : undefined, return_to }
}

/** Uses the nonce. Of any number of requests with one nonce, only one succeeds. */
async function claimNonce(tx: Tx, { nonce, browser }: NonceUse, now: Date): Promise<boolean> {
  const claimed = await tx
    .updateTable('forum_nonces')
    .set({ used_at: now })
    .where('nonce_hash', '=', sha256(nonce))
    .where('browser_hash', '=', sha256(browser))
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return claimed.numUpdatedRows === 1n
}
