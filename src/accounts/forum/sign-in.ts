/** Signs in a member whom the forum has confirmed. */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { isBannedOrSuspended } from '../people/users.ts'
import { type ForumFailure, fetchForumUser } from './api.ts'
import type { ForumIdentity } from './connect.ts'
import { parseGroupAliases } from './groups.ts'
import { saveMember, savingMembers } from './members.ts'
import { claimNonce, type NonceUse } from './nonces.ts'
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
