/** What is asked of the forum's API about one member. spec/accounts 5.3. */
import type { Core } from '../../core/core.ts'
import { endOf, idOf, objectOf } from './facts.ts'
import { askForum, type ForumFailure, failedWith, type Lane, pause } from './requests.ts'
import { type ForumUser, readSingle } from './single-read.ts'

/** Discourse's account "system". Every forum has it, and every administrator can see it. */
const SYSTEM_ID = -1n
/** Answers 200 to a key that may read members, and so shows whether a key works. */
export const SYSTEM_PATH = `/admin/users/${SYSTEM_ID}.json`

/** Reads one member. Returns `deleted` only when the forum shows other members but not this one. */
export async function fetchForumUser(
  deps: Core,
  forum_id: bigint,
  lane: Lane,
): Promise<{ user: ForumUser } | { failure: ForumFailure } | 'deleted'> {
  const answer = await ask(deps, `/admin/users/${forum_id}.json`, lane)
  if (answer === 'not_found') return (await findsSystemUser(deps)) ?? 'deleted'
  if ('failure' in answer) return answer
  const user = readSingle(answer.body, forum_id, deps.clock())
  if (user === undefined) return failedWith(deps, 'wrong_member')
  countUnknown(deps, answer.body, user)
  return { user }
}

/** Counts the fields that are in no right form, so that an operator sees a change of the forum's answers. */
function countUnknown({ metrics }: Core, { suspended_till }: Record<string, unknown>, user: ForumUser): void {
  const { username, trust_level, is_admin, is_moderator, silenced_till, groups } = user
  const read = {
    username,
    trust_level,
    admin: is_admin,
    moderator: is_moderator,
    suspended_till: endOf(suspended_till),
    silenced_till,
    groups,
  }
  for (const [field, value] of Object.entries(read))
    if (value === undefined) metrics?.forumUnknownFields.inc({ field })
}

/** Finds a member by name, and reads it, as an administrator does to see that the connection works. */
export async function findForumUser(
  deps: Core,
  username: string,
): Promise<{ user: ForumUser } | { failure: ForumFailure } | 'not_found'> {
  const answer = await ask(deps, `/u/${encodeURIComponent(username)}.json`, 'sign_in')
  if (answer === 'not_found') return answer
  if ('failure' in answer) return answer
  const forum_id = idOf(objectOf(answer.body.user)?.id)
  if (forum_id === undefined) return failedWith(deps, 'unreadable')
  const found = await fetchForumUser(deps, forum_id, 'sign_in')
  return found === 'deleted' ? 'not_found' : found
}

/**
 * Checks that the key may read members, by reading an account that always exists. To a key without that right, Discourse
 * answers 404 for every member, and without this check all members would be banned.
 */
async function findsSystemUser(deps: Core): Promise<{ failure: ForumFailure } | undefined> {
  const answer = await ask(deps, SYSTEM_PATH, 'sign_in')
  if (answer === 'not_found') {
    await pause(deps.db, deps.clock())
    return { failure: 'not_permitted' }
  }
  if ('failure' in answer) return answer
  return answer.body.id === Number(SYSTEM_ID) ? undefined : failedWith(deps, 'wrong_member')
}

export type ScoreAnswer = { score: bigint } | { failure: ForumFailure } | 'renamed' | 'no_score'

/**
 * Reads a member's gamification score by the last known name. Returns `renamed` when another member has that name now, and
 * `no_score` also for a score of 0, which the forum answers too when it does not know the score.
 */
export async function fetchScore(
  deps: Core,
  { forum_id, username }: { forum_id: bigint; username: string },
  lane: Lane,
): Promise<ScoreAnswer> {
  const answer = await ask(deps, `/u/${encodeURIComponent(username)}.json`, lane)
  if (answer === 'not_found') return 'renamed'
  if ('failure' in answer) return answer
  const user = objectOf(answer.body.user)
  if (user === undefined || idOf(user.id) !== forum_id) return 'renamed'
  const score = user.gamification_score
  return Number.isSafeInteger(score) && score !== 0 ? { score: BigInt(score as number) } : 'no_score'
}

/** Asks for a JSON object. */
async function ask(
  deps: Core,
  path: string,
  lane: Lane,
): Promise<{ body: Record<string, unknown> } | { failure: ForumFailure } | 'not_found'> {
  const answer = await askForum(deps, { path, lane })
  if (answer === 'not_found' || 'failure' in answer) return answer
  const body = objectOf(answer.body)
  return body === undefined ? failedWith(deps, 'unreadable') : { body }
}
