/**
 * Keeping what we know of the forum's members true: one at a time is claimed, asked about and brought up to date, by
 * any number of processes. Whoever somebody hinted at comes first (a webhook, a sign-in without the API, a name that
 * was taken over), then members with an open session, then the others, those not asked about for longest first.
 *
 * How stale an account can be: with b requests a minute and a members in session, about a/b minutes and never less
 * than an hour for them, a day for the others. Nobody waits for any of this: payments and pages read local state.
 */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { type ForumFailure, fetchForumUser } from './api.ts'
import { parseGroupAliases } from './groups.ts'
import { barDeletedMember, saveMember, savingMembers } from './members.ts'
import { grantPending, importNextScore } from './points.ts'

/** Longer than any answer may take: a process that dies leaves its member to the others after this. */
const CLAIM_SECONDS = 60
/** When to ask again after an answer that could not be used. */
const RETRY_MINUTES = 15
/** Members of one round: the rest can wait for the next, so that no other job waits for long. */
const ROUND_MAX = 20

type Claimed = { user_id: bigint; forum_id: bigint }

/** One round of the worker's: what is due, within bounds. Ends early when the process is to stop. */
export async function keepInStepWithForum(deps: Core, isStopped: () => boolean): Promise<void> {
  if (deps.config.DISCOURSE_URL === undefined) return
  for (let count = 0; count < ROUND_MAX && !isStopped(); count += 1) {
    // By turns: a forum with more members than the budget can keep up with must not starve the bridge.
    const [isChecked, isImported] = [await checkNextMember(deps), await importNextScore(deps)]
    if (!isChecked && !isImported) break
  }
  await grantPending(deps)
}

/** Brings one member up to date. Answers whether there may be more to do at once. */
export async function checkNextMember(deps: Core): Promise<boolean> {
  if (deps.config.DISCOURSE_API_KEY === undefined) return false
  // Before anything else: a hint that comes from now on may be about what the answer does not know yet.
  const asked_at = deps.clock()
  const claimed = await claimNextMember(deps)
  if (claimed === undefined) return false
  const answer = await fetchForumUser(deps, claimed.forum_id, 'background')
  if (answer === 'deleted') {
    await deps.db.transaction().execute((tx) => barDeletedMember(tx, claimed.user_id, asked_at))
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

/** Without an answer the member stays due. Only a faulty answer of its own makes it wait: others may fare better. */
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
