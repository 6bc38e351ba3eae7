/**
 * The points bridge: once a day (UTC) a member's gain in the forum's gamification score becomes a grant of as many
 * points. Balances are never set, and nothing is ever taken back: a score that falls leaves a debt, which later gains
 * pay off before they count. So what was granted in all is always the highest score ever seen, less where counting
 * began, and no score is paid for twice.
 *
 * NOTE: Counting begins at the score of the first import, which grants nothing unless the setting
 * forum_points_for_past_score says so. While the bridge is off nothing is looked at; once it is on again, what was
 * gained meanwhile is granted with the next import.
 *
 * Safe in any number of processes, and wherever one dies: what a day's import grants is decided once, by a
 * conditional write, before the ledger hears of it; the ledger's reference makes the grant itself happen once; and
 * whoever comes next finishes what was decided.
 */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import { grantPoints } from '../../ledger/post.ts'
import { fetchScore } from './api.ts'

const DAY_MS = 86_400_000
/** Longer than any answer takes: a process that dies leaves its member to the others after this. */
const RETRY_MS = 3_600_000
const PENDING_MAX = 50

export type ScoreState = { score: bigint; debt: bigint }

/** What a newly seen score means: how many points to grant, and what is still owed. Pure. */
export function countScore(before: ScoreState, score: bigint): ScoreState & { granted: bigint } {
  const change = score - before.score
  if (change < 0n) return { score, debt: before.debt - change, granted: 0n }
  const repaid = change < before.debt ? change : before.debt
  return { score, debt: before.debt - repaid, granted: change - repaid }
}

type DueMember = { user_id: bigint; forum_id: bigint; username: string }

/** Imports the score of one member who is due. Answers whether there may be more to do at once. */
export async function importNextScore(deps: Core): Promise<boolean> {
  const { forum_points_bridge, forum_points_for_past_score } = await deps.settings.read()
  if (forum_points_bridge === 'off' || deps.config.DISCOURSE_API_KEY === undefined) return false
  const member = await claimDueMember(deps)
  if (member === undefined) return false
  const answer = await fetchScore(deps, member)
  if (answer === 'renamed') {
    await askAgain(deps, member)
    return true
  }
  // The member has no score, or the forum no such plugin.
  if (answer === 'no_score') {
    await makeDue(deps, member.user_id, nextDay(deps.clock()))
    return true
  }
  if ('failure' in answer) {
    await makeDue(deps, member.user_id, deps.clock())
    return false
  }
  const isPastCounted = forum_points_for_past_score === 'on'
  await grantPending(deps, member.user_id)
  await decideGrant(deps, member, answer.score, isPastCounted)
  await grantPending(deps, member.user_id)
  return true
}

type Pending = {
  user_id: bigint
  forum_id: bigint | null
  imported_on: string
  pending_amount: bigint | null
}

/** Posts the grants that were decided and perhaps not posted: of one member, or of whoever has some. */
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
    // One that the ledger refuses must not keep the others waiting.
    await postPending(deps, row).catch((error) => failures.push(error))
  }
  if (failures.length > 0) throw new AggregateError(failures, 'grants of the points bridge failed')
}

async function postPending({ db, clock }: Core, { user_id, forum_id, imported_on, pending_amount }: Pending) {
  await grantPoints(db, {
    user_id,
    amount: pending_amount!,
    reference: `forum:${forum_id}:${imported_on}`,
    reason: `Forum score of ${imported_on}`,
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

/** The claim is the time of the next try: it passes to the others if nothing comes of it. Barred members wait. */
async function claimDueMember({ db, clock }: Core): Promise<DueMember | undefined> {
  const now = clock()
  const { rows } = await sql<DueMember>`
    update forum_members as claimed set score_due_at = ${new Date(now.getTime() + RETRY_MS)}
    from users
    where users.id = claimed.user_id and claimed.user_id = (
      select member.user_id
      from forum_members as member join users as person on person.id = member.user_id
      where member.score_due_at <= ${now}
        and not is_banned_or_suspended(person.is_banned, person.suspended_till, ${now})
      order by member.score_due_at
      limit 1
      for update of member skip locked
    )
    returning claimed.user_id, users.forum_id, claimed.username`.execute(db)
  return rows[0]
}

/** The name leads to nobody or to somebody else by now: the API knows better. */
async function askAgain({ db, clock }: Core, { user_id }: DueMember): Promise<void> {
  await db.updateTable('forum_members').set({ hinted_at: clock() }).where('user_id', '=', user_id).execute()
}

async function makeDue({ db }: Pick<Core, 'db'>, user_id: bigint, score_due_at: Date): Promise<void> {
  await db.updateTable('forum_members').set({ score_due_at }).where('user_id', '=', user_id).execute()
}

/** Writes down what this day's import grants. Once a day, and never over a grant that is still to be posted. */
async function decideGrant(
  deps: Core,
  { user_id }: DueMember,
  score: bigint,
  isPastCounted: boolean,
): Promise<void> {
  const now = deps.clock()
  const imported_on = now.toISOString().slice(0, 10)
  await deps.db.transaction().execute(async (tx) => {
    const before = await tx
      .selectFrom('forum_scores')
      .where('user_id', '=', user_id)
      .select(['score', 'debt', 'imported_on', 'pending_amount'])
      .forUpdate()
      .executeTakeFirst()
    if (before !== undefined && (before.imported_on >= imported_on || before.pending_amount !== null)) return
    const origin = { score: isPastCounted ? 0n : score, debt: 0n }
    const { granted, ...counted } = countScore(before ?? origin, score)
    const row = { ...counted, imported_on, pending_amount: granted > 0n ? granted : null, updated_at: now }
    await tx
      .insertInto('forum_scores')
      .values({ user_id, ...row })
      // Two first imports at once: the first has counted, the second would only see its own score again.
      .onConflict((conflict) =>
        before === undefined ? conflict.doNothing() : conflict.column('user_id').doUpdateSet(row),
      )
      .execute()
  })
  await makeDue(deps, user_id, nextDay(now))
}

function nextDay(now: Date): Date {
  return new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS + DAY_MS)
}
