// This room: what the forum states of many members at once, and the order in which the worker asks it.
// Verbs: syncWithForum, checkNextMember, readNextPage, actOnPresence, decideScores.
// Tables: forum_sources, forum_source_pages.
// Clauses: spec/accounts 5.5, 5.7, 5.8.
/**
 * What a list says against what is stored. Presence acts at once where it takes away: it suspends, and it ends rights of staff. All else
 * is a hint, and a single read decides. Absence is weak, because pages shift while they are read, so it is only ever a hint.
 * spec/accounts 5.8.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Tx } from '../../database/connection.ts'
import { findKnown, lockAccount } from '../forum/account.ts'
import { confirmation, endDeniedRights, rightsUnder } from '../forum/staff.ts'
import { outlasts, saveSuspension, suspensionUntil } from '../forum/suspension.ts'
import { isBannedOrSuspended } from '../people/users.ts'
import type { Fact, Row } from './lists.ts'

/** How long a member counts as suspended whom a list shows as suspended without saying until when. */
const UNREADABLE_SUSPENSION_MS = 30 * 86_400_000

type Ours = { user_id: bigint; forum_id: bigint }

/** Our accounts of a page, and how many of them differed. */
export type Compared = { user_ids: bigint[]; differences: number }

/** Compares a page with what is stored, acts, and leaves hints. `asked_at` is when the page was asked for. */
export async function actOnPresence(tx: Tx, fact: Fact, rows: Row[], asked_at: Date): Promise<Compared> {
  const ids = rows.map(({ forum_id }) => forum_id)
  const { rows: ours } = await sql<Ours>`
    select users.id as user_id, forum_id
    from users join forum_members on forum_members.user_id = users.id
    where forum_id = any(${ids}::bigint[]) order by users.id`.execute(tx)
  const byForumId = new Map(rows.map((row) => [row.forum_id, row]))
  const user_ids = ours.map(({ user_id }) => user_id)
  let differing: bigint[]
  if (fact.kind === 'suspended') differing = await suspendListed(tx, ours, byForumId, asked_at)
  else if (fact.kind === 'staff') differing = await judgeStaff(tx, ours, byForumId, asked_at)
  else differing = await differingFrom(tx, fact, ours, byForumId, asked_at)
  await hint(tx, differing, asked_at)
  return { user_ids, differences: differing.length }
}

/** Suspends the listed members who are not yet, and returns them with those whose end differs. */
async function suspendListed(tx: Tx, ours: Ours[], rows: Map<bigint, Row>, now: Date): Promise<bigint[]> {
  const stored = await tx
    .selectFrom('forum_members')
    .where('user_id', 'in', [0n, ...ours.map(({ user_id }) => user_id)])
    .select(['user_id', 'suspended_till', 'is_banned'])
    .execute()
  const byUser = new Map(stored.map((row) => [row.user_id, row]))
  const differing: bigint[] = []
  for (const { user_id, forum_id } of ours) {
    const before = byUser.get(user_id)!
    const end = rows.get(forum_id)!.suspended_till
    const listed = suspensionUntil(end ?? new Date(now.getTime() + UNREADABLE_SUSPENSION_MS), now)
    // A list without an end says nothing against a stored one.
    if (end === undefined && isBannedOrSuspended(before, now)) continue
    if (outlasts(listed, before)) {
      const own = await lockAccount(tx, forum_id)
      const known = own && (await findKnown(tx, own.id))
      if (own !== undefined && known !== undefined && outlasts(listed, known))
        await saveSuspension(tx, own, known, listed, 'list', now)
    } else if (!outlasts(before, listed)) continue
    differing.push(user_id)
  }
  return differing
}

/** Ends rights that the list denies, confirms those that it states, and returns whom it gives one that is not stored. */
async function judgeStaff(tx: Tx, ours: Ours[], rows: Map<bigint, Row>, now: Date): Promise<bigint[]> {
  const differing: bigint[] = []
  for (const { user_id, forum_id } of ours) {
    const own = await lockAccount(tx, forum_id)
    const known = own && (await findKnown(tx, own.id))
    if (own === undefined || known === undefined) continue
    const { is_admin, is_moderator } = rows.get(forum_id)!
    const stated = { is_admin, is_moderator }
    const held = rightsUnder(own, stated, false)
    const isDenied = held.is_admin !== own.is_admin || held.is_moderator !== own.is_moderator
    if (isDenied) await endDeniedRights(tx, own, stated, now)
    const isGiven = (is_admin === true && !own.is_admin) || (is_moderator === true && !own.is_moderator)
    if (isDenied || isGiven) differing.push(user_id)
    const confirmed = known.staff_lapsed_at === null ? confirmation(held, stated, now) : {}
    if (confirmed.staff_confirmed_at !== undefined)
      await tx.updateTable('forum_members').set(confirmed).where('user_id', '=', user_id).execute()
  }
  return differing
}

/** Returns the listed members for whom the fact is not stored. */
async function differingFrom(
  tx: Tx,
  fact: Fact,
  ours: Ours[],
  rows: Map<bigint, Row>,
  now: Date,
): Promise<bigint[]> {
  const user_ids = ours.map(({ user_id }) => user_id)
  const names = ours.map(({ forum_id }) => rows.get(forum_id)!.username ?? null)
  const isMissing = missing(fact, now)
  if (isMissing === undefined) return []
  const { rows: found } = await sql<{ user_id: bigint }>`
    select listed.user_id
    from unnest(${user_ids}::bigint[], ${names}::text[]) as listed (user_id, username)
      join users on users.id = listed.user_id
      join forum_members as member on member.user_id = listed.user_id
    where ${isMissing}`.execute(tx)
  return found.map(({ user_id }) => user_id)
}

/** Whether a listed member lacks the fact in what is stored. */
function missing(fact: Fact, now: Date): RawBuilder<boolean> | undefined {
  switch (fact.kind) {
    case 'silenced':
      return sql`member.silenced_till is null or member.silenced_till <= ${now}`
    case 'trust_level':
      return sql`users.trust_level < ${fact.level}`
    case 'names':
      return sql`member.deleted_at is not null or member.username <> listed.username`
    case 'group':
      // Two groups of the forum may have one name here. Then a row of either is enough.
      return sql`not exists (
        select from user_groups as held
        where held.user_id = listed.user_id and held.from_forum and (
          held.forum_group_id = ${fact.group_id} or held.name = (
            select name from user_groups where forum_group_id = ${fact.group_id} limit 1
          )
        )
      )`
    default:
      return undefined
  }
}

/** The members who have the fact in what is stored. */
export function holders(fact: Fact, now: Date): RawBuilder<unknown> | undefined {
  switch (fact.kind) {
    case 'suspended':
      return sql`select user_id from forum_members
        where suspended_by is not null and (suspended_till > ${now} or is_banned)`
    case 'staff':
      return sql`select id as user_id from users where forum_id is not null and (is_admin or is_moderator)`
    case 'silenced':
      return sql`select user_id from forum_members where silenced_till > ${now}`
    case 'trust_level':
      return sql`select id as user_id from users where forum_id is not null and trust_level >= ${fact.level}`
    case 'names':
      return sql`select user_id from forum_members`
    case 'group':
      return sql`select user_id from user_groups where forum_group_id = ${fact.group_id}`
    default:
      return undefined
  }
}

/** Marks members for a single read. A hint that waits keeps its place. */
export async function hint(tx: Tx, user_ids: bigint[], asked_at: Date): Promise<void> {
  if (user_ids.length === 0) return
  // In the order of ids, so that two pages with the same members cannot deadlock. An answer that is on its way may be older.
  await sql`
    update forum_members set hinted_at = greatest(hinted_at, ${asked_at}::timestamptz)
    where user_id in (
      select user_id from forum_members
      where user_id = any(${user_ids}::bigint[]) and (hinted_at is null or claimed_until is not null)
      order by user_id for update
    )`.execute(tx)
}
