/**
 * The forum's suspensions and bans. A single read decides. A signed webhook only takes away: it suspends at once, and what
 * it suspended stays suspended until a single read answers. A list does likewise. A suspension or ban by an administrator of Tessera stays.
 */
import type { Tx } from '../../database/connection.ts'
import type { SuspendedBy } from '../../database/tables/forum.ts'
import { isBannedOrSuspended } from '../people/users.ts'
import { queueLogoutsOf } from '../session/ended-sessions.ts'
import { type Account, isOutdated, type KnownMember } from './account.ts'
import type { ForumUser } from './single-read.ts'

/** The forum suspends for ever by a date centuries away. A longer suspension than this is a ban. */
const FOREVER_MS = 100 * 365 * 86_400_000

export type Suspension = { suspended_till: Date | null; is_banned: boolean }

/** The forum's suspension, and which source stated it. */
export type ForumSuspension = Suspension & { suspended_by: SuspendedBy | null }

const NONE: Suspension = { suspended_till: null, is_banned: false }

/** Returns the forum's suspension that ends then. */
export function suspensionUntil(end: Date | null, now: Date): Suspension {
  if (end === null || end <= now) return NONE
  const is_banned = end.getTime() - now.getTime() > FOREVER_MS
  return { suspended_till: is_banned ? null : end, is_banned }
}

/** Returns the forum's suspension by a single read. One that was asked for before a webhook or a list suspended lifts nothing. */
export function suspensionBySingleRead(
  { suspended_till }: Pick<ForumUser, 'suspended_till'>,
  known: KnownMember | undefined,
  asked_at: Date,
): ForumSuspension {
  const read = suspensionUntil(suspended_till, asked_at)
  const isOfLaterWord = known !== undefined && known.suspended_by !== 'api' && isOutdated(known, asked_at)
  if (isOfLaterWord && outlasts(known, read)) {
    const { suspended_till, is_banned, suspended_by } = known
    return { suspended_till, is_banned, suspended_by }
  }
  return { ...read, suspended_by: isNone(read) ? null : 'api' }
}

/** Returns the suspension of the account under the forum's new word. */
export function accountSuspension(
  own: Account | undefined,
  known: KnownMember | undefined,
  forum: Suspension,
): Suspension {
  const ours = own?.suspended_till ?? null
  const isOurs = ours !== null && ours.getTime() !== known?.suspended_till?.getTime()
  const isLater = ours !== null && (forum.suspended_till === null || ours > forum.suspended_till)
  return {
    suspended_till: isOurs && isLater ? ours : forum.suspended_till,
    is_banned: forum.is_banned || (own?.is_banned === true && known?.is_banned !== true),
  }
}

/** Whether one suspension outlasts another. */
export function outlasts(one: Suspension, other: Suspension): boolean {
  if (one.is_banned || other.is_banned) return !other.is_banned
  return (
    one.suspended_till !== null &&
    (other.suspended_till === null || one.suspended_till > other.suspended_till)
  )
}

/** Stores the word of a signed webhook or of a list about the member of a locked account. */
export async function saveSuspension(
  tx: Tx,
  own: Account,
  known: KnownMember,
  forum: Suspension,
  source: 'webhook' | 'list',
  now: Date,
): Promise<void> {
  const suspended = accountSuspension(own, known, forum)
  await tx
    .updateTable('users')
    .set({ ...suspended, updated_at: now })
    .where('id', '=', own.id)
    .execute()
  const suspended_by = isNone(forum) ? null : source
  await tx
    .updateTable('forum_members')
    .set({ ...forum, suspended_by })
    .where('user_id', '=', own.id)
    .execute()
  await tellOfExclusion(tx, own, suspended, now)
}

/** Whether the forum says that the member is neither suspended nor banned. */
function isNone({ suspended_till, is_banned }: Suspension): boolean {
  return suspended_till === null && !is_banned
}

/** Tells the applications of a member whom the forum suspends or bans now. */
export async function tellOfExclusion(
  tx: Tx,
  own: Account | undefined,
  suspended: Partial<Suspension>,
  now: Date,
): Promise<void> {
  if (own === undefined || isBannedOrSuspended(own, now)) return
  if (isBannedOrSuspended({ ...own, ...suspended }, now)) await queueLogoutsOf(tx, { user_id: own.id, now })
}
