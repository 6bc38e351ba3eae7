/**
 * The points bridge grants members their gain in the forum's gamification score, once a day (UTC). It never sets a balance
 * and never takes points back. A falling score leaves a debt, and later gains pay it off before they count. So the sum of
 * all grants is the highest score ever seen, less the score where counting began. No score is granted twice.
 *
 * NOTE: Counting begins at the first score, which grants nothing unless the setting forum_points_for_past_score is on. A
 * score of 0 is no score: Discourse answers 0 also while its leaderboard is not ready, for suspended members and for those
 * outside the leaderboard. If counting began there, a member's whole past would count as a gain. While the bridge is off, no scores are read; the first import after that grants the
 * gains since.
 *
 * It is safe in any number of processes, and when one dies. A conditional write decides the grant of a day once, before the
 * ledger posts it. The ledger's reference makes the grant happen once, and a later round posts a decided grant.
 * spec/accounts 5.7.
 */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { SettingValues } from '../../core/setting-values.ts'
import type { Tx } from '../../database/connection.ts'
import { grantPoints } from '../../ledger/points.ts'
import type { Config } from '../../platform/config.ts'
import { fetchScore, type ScoreAnswer } from './api.ts'
import { type ForumFailure, isOfAll } from './requests.ts'
import { forumScoreReason } from './score-reason.ts'

const DAY_MS = 86_400_000
/** Longer than any answer takes. After this time other processes take the member of a process that died. */
const RETRY_MS = 3_600_000
const PENDING_MAX = 50
/** How often a member's score is asked for again while the forum computes it, before the next day. */
const NOT_READY_TRIES_MAX = 8
const NOT_READY_MS = 900_000
/** So long after its creation, an account without a score goes before the lists. */
const NEWCOMER_MS = 3_600_000
/** Longer than a sign-in takes: an account can be older than its row, which a pass then did not find. */
const SIGN_IN_MS = 60_000
/** After this time without a whole pass of the leaderboard, each member's score is asked for again. */
const LEADERBOARD_MS_MAX = 2 * DAY_MS

/** Returns the address of the forum where members earn points, or undefined if they earn none there. */
export function earningForum(
  { DISCOURSE_URL, DISCOURSE_API_KEY }: Config,
  { forum_points_bridge, link_forum }: SettingValues,
): string | undefined {
  const isBridged = forum_points_bridge !== 'off' && DISCOURSE_API_KEY !== undefined
  return isBridged ? link_forum || DISCOURSE_URL : undefined
}

export type ScoreState = { score: bigint; debt: bigint }

/** Returns the points to grant for a new score, and the remaining debt. */
export function countScore(before: ScoreState, score: bigint): ScoreState & { granted: bigint } {
  const change = score - before.score
  if (change < 0n) return { score, debt: before.debt - change, granted: 0n }
  const repaid = change < before.debt ? change : before.debt
  return { score, debt: before.debt - repaid, granted: change - repaid }
}

type DueMember = { user_id: bigint; forum_id: bigint; username: string; score_tries: number }

/** Whether scores are read member by member. The forum shows a member's score of its default leaderboard only. */
async function areScoresRead({ config, settings }: Core): Promise<boolean> {
  const values = await settings.read()
  return earningForum(config, values) !== undefined && values.forum_leaderboard_id === ''
}

/** Imports the score of one due member, or only of one who came lately. Returns whether more may be due. */
export async function importNextScore(deps: Core, which: 'newcomers' | 'any' = 'any'): Promise<boolean> {
  if (!(await areScoresRead(deps))) return false
  const member = await claimDueMember(deps, which)
  if (member === undefined) return false
  return keepScore(deps, member, await fetchScore(deps, member, 'worker'))
}

/**
 * Asks for the score of a member who signs in and has none, so their points are there with the first page. Returns undefined when no
 * score is awaited. What the forum does not answer, the worker asks for.
 */
export async function askFirstScore(
  deps: Core,
  member: { forum_id: bigint; username: string },
): Promise<ScoreAnswer | undefined> {
  if (!(await areScoresRead(deps))) return undefined
  // The worker may be asking already, but the member's first page comes sooner. Two answers of a day grant once.
  const later = new Date(deps.clock().getTime() + RETRY_MS)
  const { rows } = await sql`
    select from users as person join forum_members as member on member.user_id = person.id
    where person.forum_id = ${member.forum_id}
      and (member.score_due_at > ${later} or exists (select from forum_scores where user_id = person.id))`.execute(
    deps.db,
  )
  return rows.length > 0 ? undefined : fetchScore(deps, member, 'first_score')
}

/** Grants what askFirstScore has read. Throws AggregateError when the ledger refuses; then the worker posts the grant. */
export async function keepFirstScore(deps: Core, user_id: bigint, answer: ScoreAnswer): Promise<void> {
  const member = await deps.db
    .selectFrom('forum_members as member')
    .innerJoin('users as person', 'person.id', 'member.user_id')
    .where('member.user_id', '=', user_id)
    .where('person.forum_id', 'is not', null)
    .select(['member.user_id', 'person.forum_id', 'member.username', 'member.score_tries'])
    .$narrowType<{ forum_id: bigint }>()
    .executeTakeFirst()
  if (member !== undefined) await keepScore(deps, member, answer)
}

/** Grants by an answer, and says when to ask again. Returns false when the forum answers nobody now. */
async function keepScore(deps: Core, member: DueMember, answer: ScoreAnswer): Promise<boolean> {
  if (answer === 'renamed') {
    await askAgain(deps, member)
    return true
  }
  if (answer === 'no_score') {
    await makeDue(deps, member, nextDay(deps.clock()))
    return true
  }
  if ('failure' in answer) return tryLater(deps, member, answer.failure)
  const isPastCounted = (await deps.settings.read()).forum_points_for_past_score === 'on'
  await grantPending(deps, member.user_id)
  const now = deps.clock()
  await deps.db
    .transaction()
    .execute((tx) => decideGrant(tx, member.user_id, answer.score, { isPastCounted, now }))
  await makeDue(deps, member, nextDay(now))
  await grantPending(deps, member.user_id)
  return true
}

/** Leaves the score for later. Returns false when the forum answers nobody now. */
async function tryLater(deps: Core, member: DueMember, failure: ForumFailure): Promise<boolean> {
  const now = deps.clock()
  if (isOfAll(failure)) {
    await makeDue(deps, member, now)
    return false
  }
  if (failure === 'not_ready' && member.score_tries < NOT_READY_TRIES_MAX)
    await makeDue(deps, member, new Date(now.getTime() + NOT_READY_MS), member.score_tries + 1)
  else await makeDue(deps, member, nextDay(now))
  return true
}

type Pending = {
  user_id: bigint
  forum_id: bigint | null
  imported_on: string
  pending_amount: bigint | null
}

/** Posts grants that were decided and perhaps not posted, of one member or of all. Throws AggregateError. */
export async function grantPending(deps: Core, user_id?: bigint): Promise<void> {
  let query = deps.db
    .selectFrom('forum_scores')
    .innerJoin('users', 'users.id', 'forum_scores.user_id')
    .where('pending_amount', 'is not', null)
    .select(['user_id', 'forum_id', 'imported_on', 'pending_amount'])
    .limit(PENDING_MAX)
  if (user_id !== undefined) query = query.where('user_id', '=', user_id)
  const failures: unknown[] = []
  for (const row of await query.execute()) {
    // A grant that the ledger refuses must not delay the others.
    await postPending(deps, row).catch((error) => failures.push(error))
  }
  if (failures.length > 0) throw new AggregateError(failures, 'grants of the points bridge failed')
}

async function postPending({ db, clock }: Core, { user_id, forum_id, imported_on, pending_amount }: Pending) {
  await grantPoints(db, {
    user_id,
    amount: pending_amount!,
    reference: `forum:${forum_id}:${imported_on}`,
    reason: forumScoreReason(imported_on),
    actor_id: null,
    now: clock(),
  })
  await db
    .updateTable('forum_scores')
    .set({ pending_amount: null, updated_at: clock() })
    .where('user_id', '=', user_id)
    .where('imported_on', '=', imported_on)
    .execute()
}

/**
 * Claims a due member by setting the time of the next try. Suspended and banned members wait. While the leaderboard states the scores,
 * only members who came after its last pass are asked for. Newcomers have no score yet.
 */
async function claimDueMember(
  { db, clock }: Core,
  which: 'newcomers' | 'any',
): Promise<DueMember | undefined> {
  const now = clock()
  const listed = await db
    .selectFrom('forum_sources')
    .where('name', '=', 'scores')
    .where('finished_at', '>=', new Date(now.getTime() - LEADERBOARD_MS_MAX))
    .select('started_at')
    .executeTakeFirst()
  const [isUnlisted, order] =
    listed === undefined
      ? [sql<boolean>`true`, sql.ref('member.score_due_at')]
      : [
          sql<boolean>`member.created_at > ${new Date(listed.started_at!.getTime() - SIGN_IN_MS)}`,
          sql.ref('member.created_at'),
        ]
  const isNew = sql<boolean>`member.created_at > ${new Date(now.getTime() - NEWCOMER_MS)}
    and not exists (select from forum_scores where user_id = member.user_id)`
  const { rows } = await sql<DueMember>`
    update forum_members as claimed set score_due_at = ${new Date(now.getTime() + RETRY_MS)}
    from users
    where users.id = claimed.user_id and claimed.user_id = (
      select member.user_id
      from forum_members as member join users as person on person.id = member.user_id
      where member.score_due_at <= ${now} and ${which === 'newcomers' ? isNew : isUnlisted}
        and not is_banned_or_suspended(person.is_banned, person.suspended_till, ${now})
      order by ${order}
      limit 1
      for update of member skip locked
    )
    returning claimed.user_id, users.forum_id, claimed.username, claimed.score_tries`.execute(db)
  return rows[0]
}

/** Marks a member for a check, because the forum has no member of this name or another one. */
async function askAgain({ db, clock }: Core, { user_id }: DueMember): Promise<void> {
  await db.updateTable('forum_members').set({ hinted_at: clock() }).where('user_id', '=', user_id).execute()
}

async function makeDue(
  { db }: Pick<Core, 'db'>,
  { user_id }: DueMember,
  score_due_at: Date,
  score_tries = 0,
): Promise<void> {
  await db
    .updateTable('forum_members')
    .set({ score_due_at, score_tries })
    .where('user_id', '=', user_id)
    .execute()
}

/**
 * Stores the grant of this day's import, once a day, and never replaces a grant that is not posted yet. Returns the points that are
 * to be granted.
 */
export async function decideGrant(
  tx: Tx,
  user_id: bigint,
  score: bigint,
  { isPastCounted, now }: { isPastCounted: boolean; now: Date },
): Promise<bigint> {
  const imported_on = now.toISOString().slice(0, 10)
  const before = await tx
    .selectFrom('forum_scores')
    .where('user_id', '=', user_id)
    .select(['score', 'debt', 'imported_on', 'pending_amount'])
    .forUpdate()
    .executeTakeFirst()
  if (before !== undefined && (before.imported_on >= imported_on || before.pending_amount !== null)) return 0n
  const origin = { score: isPastCounted ? 0n : score, debt: 0n }
  const { granted, ...counted } = countScore(before ?? origin, score)
  const row = { ...counted, imported_on, pending_amount: granted > 0n ? granted : null, updated_at: now }
  await tx
    .insertInto('forum_scores')
    .values({ user_id, ...row })
    // When two first imports run at once, the second one is dropped.
    .onConflict((conflict) =>
      before === undefined ? conflict.doNothing() : conflict.column('user_id').doUpdateSet(row),
    )
    .execute()
  return granted
}

function nextDay(now: Date): Date {
  return new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS + DAY_MS)
}
