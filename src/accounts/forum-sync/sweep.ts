/**
 * Keeps the data of the forum's members up to date. In each round come members with a hint (a webhook, a list, a sign-in without an
 * answer of the API, a name that was taken over), and of these the urgent; then newcomers without a score; then pages of the lists; then
 * scores and single reads of members who are due. While lists are due, hints have two requests of three, so neither keeps the other waiting.
 *
 * Members with a session are read within an hour, others within a day. While the lists are fresh, they state all that takes away, and
 * these times become a day and 30 days. No request waits for this, because payments and pages read local state.
 * spec/accounts 5.5.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { fetchForumUser } from '../forum/api.ts'
import { parseGroupAliases } from '../forum/groups.ts'
import { banDeletedMember, saveMember, savingMembers } from '../forum/members.ts'
import { grantPending, importNextScore } from '../forum/points.ts'
import { type ForumFailure, isOfAll, isPausing } from '../forum/requests.ts'
import { lapseRights } from '../forum/staff.ts'
import { areListsFresh, hintMissing, readNextPage } from './passes.ts'

/** Longer than any answer takes. After this time other processes take the member of a process that died. */
const CLAIM_SECONDS = 60
/** How long a member waits after one, two and three unusable answers in a row, and after more. */
const RETRY_MINUTES = [15, 60, 240] as const
const RETRY_MINUTES_MAX = 1_440
/** A hint that is not urgent waits this long after the last single read, so no member uses up the budget. */
const HINT_AFTER_MS = 60_000
/** The newest sessions, and the longest due members, that a claim looks at. */
const LOOKED_AT_MAX = 500
/** Members of one round. The next round takes the rest, so that a round never takes long. */
const ROUND_MAX = 20

/** While lists are due, a page of them follows so many members with a hint, and newcomers. */
const HINTS_A_PAGE = 2
/** While the lists are fresh, single reads wait so much longer: a day in all with a session, and 30 days without. */
const SESSION_HOURS_LATER = 23
const OTHERS_HOURS_LATER = 29 * 24

type Claimed = { user_id: bigint; forum_id: bigint; failure: string | null; failures: number }
type Failure = ForumFailure | 'not_saved'

/** Runs one round of the worker. It ends early when the process stops. */
export async function syncWithForum(deps: Core, isStopped: () => boolean): Promise<void> {
  const { DISCOURSE_URL, DISCOURSE_API_KEY } = deps.config
  if (DISCOURSE_URL === undefined) return
  await hintMissing(deps)
  for (let count = 0; count < ROUND_MAX && !isStopped(); count += 1) {
    let hints = 0
    while (
      hints < HINTS_A_PAGE &&
      ((await checkNextMember(deps, 'hinted')) || (await importNextScore(deps, 'newcomers')))
    )
      hints += 1
    const isRead = await readNextPage(deps)
    if (hints > 0 || isRead) continue
    // In turns, so that a forum with more members than the budget can check does not starve the points bridge.
    const [isImported, isChecked] = [await importNextScore(deps), await checkNextMember(deps)]
    if (!isChecked && !isImported) break
  }
  await lapseRights(deps, { hasApi: DISCOURSE_API_KEY !== undefined })
  await grantPending(deps)
}

/** Checks one member, or only one with a hint. Returns whether more may be due. */
export async function checkNextMember(deps: Core, which: 'hinted' | 'any' = 'any'): Promise<boolean> {
  if (deps.config.DISCOURSE_API_KEY === undefined) return false
  // Taken first, because the answer may not contain the change that a later hint is about.
  const asked_at = deps.clock()
  const claimed = await claimNextMember(deps, which)
  if (claimed === undefined) return false
  const answer = await fetchForumUser(deps, claimed.forum_id, 'worker')
  if (answer === 'deleted') {
    await deps.db.transaction().execute((tx) => banDeletedMember(tx, claimed.user_id, asked_at))
    return true
  }
  if ('failure' in answer) {
    await putBack(deps, claimed, answer.failure)
    return !isOfAll(answer.failure)
  }
  const { forum_group_aliases } = await deps.settings.read()
  const facts = {
    user: answer.user,
    hasApi: true,
    aliases: parseGroupAliases(forum_group_aliases),
    now: asked_at,
  }
  try {
    await savingMembers(deps.db, (tx) => saveMember(tx, facts))
  } catch (error) {
    // An answer that the database refuses must not be asked for again at once, before all other members.
    await putBack(deps, claimed, 'not_saved')
    throw error
  }
  return true
}

/** Until when a member's next check must have been due, if checks wait so many hours longer. */
function dueBefore(now: Date, hours_later: number): Date {
  return new Date(now.getTime() - hours_later * 3_600_000)
}

/** Returns how much later than `next_check_at` members without a session are read, in milliseconds. */
export async function readLater(db: Db, now: Date): Promise<number> {
  return (await areListsFresh(db, now)) ? OTHERS_HOURS_LATER * 3_600_000 : 0
}

/**
 * Claims the next member. Each part of the order reads few rows by an index, however many members are due: after an outage, all are.
 */
export async function claimNextMember(
  { db, clock }: Pick<Core, 'db' | 'clock'>,
  which: 'hinted' | 'any',
): Promise<Claimed | undefined> {
  const now = clock()
  // Hints wait for no list.
  const isFresh = which === 'any' && (await areListsFresh(db, now))
  const isDueSince = (hours: number) =>
    sql<SqlBool>`member.next_check_at <= ${dueBefore(now, isFresh ? hours : 0)}`
  const isDue = sql<SqlBool>`member.next_check_at <= ${now}`
  const [isDueInSession, isDueOtherwise] = [isDueSince(SESSION_HOURS_LATER), isDueSince(OTHERS_HOURS_LATER)]
  const isFree = sql<SqlBool>`(member.retry_at is null or member.retry_at <= ${now})
    and (member.claimed_until is null or member.claimed_until <= ${now})`
  const hasSession = sql<SqlBool>`exists (select from sessions where user_id = member.user_id and expires_at > ${now})`
  const first = (isNext: RawBuilder<SqlBool>, order: RawBuilder<unknown>) => sql`(
    select member.user_id from forum_members as member where ${isNext} and ${isFree} order by ${order} limit 1 for update skip locked
  )`
  const hinted = first(
    sql`member.hinted_at is not null and (
      ${isDue} or member.hint_is_urgent or member.checked_at is null
      or member.checked_at <= ${new Date(now.getTime() - HINT_AFTER_MS)}
    )`,
    sql`member.hint_is_urgent desc, member.hinted_at`,
  )
  const staff = first(
    sql`${isDueInSession} and member.user_id in (select id from users where forum_id is not null and (is_admin or is_moderator))`,
    sql`${hasSession} desc, member.checked_at nulls first`,
  )
  const present = first(
    sql`${isDueInSession} and member.user_id in (
      select user_id from (select user_id, expires_at from sessions order by id desc limit ${LOOKED_AT_MAX}) as newest
      where expires_at > ${now}
    )`,
    sql`member.checked_at nulls first`,
  )
  const others = first(
    sql`${isDueOtherwise} and member.user_id in (
      select user_id from forum_members as member where ${isDueOtherwise} and ${isFree} order by next_check_at limit ${LOOKED_AT_MAX}
    )`,
    sql`${hasSession} desc, member.checked_at nulls first`,
  )
  const next = which === 'hinted' ? hinted : sql`coalesce(${hinted}, ${staff}, ${present}, ${others})`
  const { rows } = await sql<Claimed>`
    update forum_members as claimed set claimed_until = ${new Date(now.getTime() + CLAIM_SECONDS * 1000)}
    from users
    where users.id = claimed.user_id and claimed.user_id = ${next}
    returning claimed.user_id, users.forum_id, claimed.failure, claimed.failures`.execute(db)
  return rows[0]
}

/**
 * Leaves a member due who got no usable answer. After unusable answers the member waits ever longer, and others go first. So
 * does one for whom the forum failed twice in a row, because it may fail for this member alone.
 */
async function putBack(deps: Core, claimed: Claimed, failure: Failure): Promise<void> {
  const now = deps.clock()
  const wasAsked = isPausing(failure) || !isOfAll(failure)
  await deps.db
    .updateTable('forum_members')
    .set({ claimed_until: null, ...(wasAsked && waitAfter(failure, claimed, now)) })
    .where('user_id', '=', claimed.user_id)
    .execute()
  if (wasAsked) await lapseRights(deps, { hasApi: true, failed: claimed.user_id })
}

function waitAfter(failure: Failure, before: Claimed, now: Date) {
  const later = (minutes: number) => new Date(now.getTime() + minutes * 60_000)
  if (isPausing(failure))
    return { failure, retry_at: isPausing(before.failure) ? later(RETRY_MINUTES[0]) : null }
  const retry_at = later(RETRY_MINUTES[before.failures] ?? RETRY_MINUTES_MAX)
  return { failure, failures: before.failures + 1, retry_at }
}
