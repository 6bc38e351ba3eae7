/**
 * Keeps the data of the forum's members up to date. Any number of processes claim one member at a time, read it from the
 * API and save it. Members with a hint come first (a webhook, a sign-in without an answer of the API, a name that was taken
 * over). Then come members with a session, then the others. Within each group the longest unchecked come first.
 *
 * With b requests a minute and a members in session, their data may be a/b minutes old, or an hour if that is longer. The
 * data of the others may be a day old. No request waits for this, because payments and pages read local state.
 */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { type ForumFailure, fetchForumUser } from './api.ts'
import { parseGroupAliases } from './groups.ts'
import { banDeletedMember, saveMember, savingMembers } from './members.ts'
import { grantPending, importNextScore } from './points.ts'

/** Longer than any answer takes. After this time other processes take the member of a process that died. */
const CLAIM_SECONDS = 60
/** When to ask again after an unusable answer. */
const RETRY_MINUTES = 15
/** Members of one round. The next round takes the rest, so that a round never takes long. */
const ROUND_MAX = 20

type Claimed = { user_id: bigint; forum_id: bigint }

/** Runs one round of the worker: checks due members and imports due scores. It ends early when the process stops. */
export async function syncWithForum(deps: Core, isStopped: () => boolean): Promise<void> {
  if (deps.config.DISCOURSE_URL === undefined) return
  for (let count = 0; count < ROUND_MAX && !isStopped(); count += 1) {
    // In turns, so that a forum with more members than the budget can check does not starve the points bridge.
    const [isChecked, isImported] = [await checkNextMember(deps), await importNextScore(deps)]
    if (!isChecked && !isImported) break
  }
  await grantPending(deps)
}

/** Checks one member. Returns whether more may be due. */
export async function checkNextMember(deps: Core): Promise<boolean> {
  if (deps.config.DISCOURSE_API_KEY === undefined) return false
  // Taken first, because the answer may not contain the change that a later hint is about.
  const asked_at = deps.clock()
  const claimed = await claimNextMember(deps)
  if (claimed === undefined) return false
  const answer = await fetchForumUser(deps, claimed.forum_id, 'background')
  if (answer === 'deleted') {
    await deps.db.transaction().execute((tx) => banDeletedMember(tx, claimed.user_id, asked_at))
    return true
  }
  if ('failure' in answer) {
    await putBack(deps, claimed, answer.failure)
    return answer.failure === 'unreadable' || answer.failure === 'too_large'
  }
  const { forum_group_aliases } = await deps.settings.read()
  const aliases = parseGroupAliases(forum_group_aliases)
  await savingMembers(deps.db, (tx) =>
    saveMember(tx, { user: answer.user, hasApi: true, aliases, now: asked_at }),
  )
  return true
}

async function claimNextMember({ db, clock }: Core): Promise<Claimed | undefined> {
  const now = clock()
  const { rows } = await sql<Claimed>`
    update forum_members as claimed set claimed_until = ${new Date(now.getTime() + CLAIM_SECONDS * 1000)}
    from users
    where users.id = claimed.user_id and claimed.user_id = (
      select member.user_id
      from forum_members as member
      where (member.hinted_at is not null or member.next_check_at <= ${now})
        and (member.retry_at is null or member.retry_at <= ${now})
        and (member.claimed_until is null or member.claimed_until <= ${now})
      order by
        member.hinted_at nulls last,
        exists (select from sessions where user_id = member.user_id and expires_at > ${now}) desc,
        member.checked_at nulls first
      limit 1
      for update skip locked
    )
    returning claimed.user_id, users.forum_id`.execute(db)
  return rows[0]
}

/** Leaves a member due that got no answer. After an unusable answer the member waits, and others go first. */
async function putBack({ db, clock }: Core, { user_id }: Claimed, failure: ForumFailure): Promise<void> {
  const isOwnFault = failure === 'unreadable' || failure === 'too_large'
  const retry_at = isOwnFault ? new Date(clock().getTime() + RETRY_MINUTES * 60_000) : null
  const wasAsked = failure !== 'over_budget' && failure !== 'paused'
  await db
    .updateTable('forum_members')
    .set({ claimed_until: null, retry_at, ...(wasAsked && { failure }) })
    .where('user_id', '=', user_id)
    .execute()
}
