/** A member whom the forum has vouched for comes in. */
import type { Core } from '../../core/core.ts'
import { isBannedOrSuspended } from '../people/users.ts'
import { type ForumFailure, type ForumUser, fetchForumUser } from './api.ts'
import type { ForumIdentity } from './connect.ts'
import { parseGroupAliases } from './groups.ts'
import { forumSuspension, saveMember, savingMembers } from './members.ts'
import { claimNonce, type NonceUse } from './nonces.ts'

/** Uses the nonce up and brings the account up to date, in one transaction. */
export async function signInMember(
  deps: Core,
  identity: ForumIdentity,
  nonce: NonceUse,
): Promise<{ user_id: bigint } | 'used' | 'suspended'> {
  const hasApi = deps.config.DISCOURSE_API_KEY !== undefined
  const { forum_group_aliases } = await deps.settings.read()
  const { user, failure } = hasApi ? await askApi(deps, identity.forum_id) : {}
  const now = deps.clock()
  const known = await deps.db
    .selectFrom('users')
    .where('forum_id', '=', identity.forum_id)
    .select('id')
    .executeTakeFirst()
  // Somebody who has never been here and may not come in leaves no account.
  if (known === undefined && user !== undefined) {
    const suspension = forumSuspension(user, now)
    if (isBannedOrSuspended(suspension, now)) return 'suspended'
  }
  return savingMembers(deps.db, async (tx) => {
    if (!(await claimNonce(tx, nonce, now))) return 'used'
    const user_id = (await saveMember(tx, {
      identity,
      ...(user && { user }),
      failure,
      hasApi,
      aliases: parseGroupAliases(forum_group_aliases),
      now,
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
 * The API's word, or why there is none: then the last known values count, and the member is asked about again soon.
 * "Deleted" cannot be true of somebody whom the forum has just vouched for.
 */
async function askApi(deps: Core, forum_id: bigint): Promise<{ user?: ForumUser; failure?: ForumFailure }> {
  const answer = await fetchForumUser(deps, forum_id, 'sign_in')
  return answer === 'deleted' ? { failure: 'unreadable' } : answer
}
