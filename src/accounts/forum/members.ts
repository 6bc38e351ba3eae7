/**
 * Accounts of the forum's members. Only the forum's user id identifies a member. Names may change, swap or be taken over,
 * and no such change locks a member out or merges two accounts.
 */
import { sql } from 'kysely'
import { recordAudit } from '../../core/audit.ts'
import { type Db, isDeadlock, type Tx, violatedConstraint } from '../../database/connection.ts'
import { isBannedOrSuspended, lockUser } from '../people/users.ts'
import { tellOfMember } from '../session/telling.ts'
import type { ForumUser } from './api.ts'
import type { ForumIdentity } from './connect.ts'
import { type ForumGroup, findGroups, type GroupAliases, saveGroups, trustLevelOf } from './groups.ts'

const USERNAME_LENGTH_MAX = 60
const ATTEMPTS_MAX = 5
const ACTIVE_CHECK_MS = 3_600_000
const IDLE_CHECK_MS = 24 * 3_600_000
/** The forum never reuses an id, so this check only corrects a mistake of the forum. */
const DELETED_CHECK_MS = 30 * 24 * 3_600_000
/** The forum suspends for ever by a date centuries away. A longer suspension than this is a ban. */
const FOREVER_MS = 100 * 365 * 86_400_000

/** The current data of a member, from the sign-in, from the API, or from both. */
export type Facts = {
  identity?: ForumIdentity
  /** The API's answer. */
  user?: ForumUser
  /** Why the API did not answer. */
  failure?: string | undefined
  hasApi: boolean
  aliases: GroupAliases
  now: Date
}

/**
 * Runs a transaction that saves members, and repeats it after a race: two transactions may create one account or take one
 * name at once. The repeated transaction sees the rows of the other one.
 */
export async function savingMembers<T>(db: Db, run: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.transaction().execute(run)
    } catch (error) {
      if (attempt === ATTEMPTS_MAX || !isRace(error)) throw error
    }
  }
}

const RACED = ['users_username_key', 'users_forum_id_key', 'forum_groups_name_key', 'forum_groups_pkey']

function isRace(error: unknown): boolean {
  const constraint = violatedConstraint(error)
  if (constraint !== undefined && RACED.includes(constraint)) return true
  return isDeadlock(error)
}

/**
 * Updates the account of a member, and returns its id. Only a sign-in makes an account. Returns undefined when the API
 * answers about an account that was anonymised meanwhile.
 */
export async function saveMember(tx: Tx, facts: Facts): Promise<bigint | undefined> {
  const { identity, user, now } = facts
  const { forum_id, username, name, is_admin, is_moderator } = (user ?? identity)!
  const { own, username: username_here } = await takeName(tx, forum_id, username, now)
  if (own === undefined && identity === undefined) return undefined
  const known = own === undefined ? undefined : await findMember(tx, own.id)
  const values = {
    username: username_here,
    name,
    is_admin,
    is_moderator,
    ...(identity && { email: identity.email, email_verified: true, avatar_url: identity.avatar_url }),
    ...trustLevel(facts),
    ...(user && suspension(own, known, user, now)),
    updated_at: now,
  }
  const { id } =
    own === undefined
      ? await tx
          .insertInto('users')
          .values({ ...values, forum_id })
          .returning('id')
          .executeTakeFirstOrThrow()
      : await tx
          .updateTable('users')
          .set(values)
          .where('id', '=', own.id)
          .returning('id')
          .executeTakeFirstOrThrow()
  await tellOfExclusion(tx, own, values, now)
  await remember(tx, id, username, facts)
  if (username_here !== username && username_here !== own?.username)
    await audit(tx, 'forum.name_taken', id, { wanted: username, given: username_here })
  // Administrators of the forum are administrators here, so the audit log shows each change.
  const had = own ?? { is_admin: false, is_moderator: false }
  if (had.is_admin !== is_admin || had.is_moderator !== is_moderator)
    await audit(tx, 'forum.role_changed', id, { is_admin, is_moderator })
  const groups = await customGroups(tx, facts)
  if (groups !== undefined) await saveGroups(tx, id, groups, facts.aliases, now)
  return id
}

/** Tells the applications of a member whom the forum suspends or bans now. */
async function tellOfExclusion(
  tx: Tx,
  own: OwnRow | undefined,
  values: Partial<KnownMember>,
  now: Date,
): Promise<void> {
  if (own === undefined || isBannedOrSuspended(own, now)) return
  if (isBannedOrSuspended({ ...own, ...values }, now)) await tellOfMember(tx, { user_id: own.id, now })
}

/** Bans a member whom the forum has deleted. The account stays, because the ledger and the audit log refer to it. */
export async function banDeletedMember(tx: Tx, user_id: bigint, now: Date): Promise<void> {
  const member = await lockUser(tx, user_id)
  if (!isBannedOrSuspended(member, now)) await tellOfMember(tx, { user_id, now })
  await tx.updateTable('users').set({ is_banned: true, updated_at: now }).where('id', '=', user_id).execute()
  await audit(tx, 'forum.deleted', user_id, {})
  await tx
    .updateTable('forum_members')
    .set({ is_banned: true, ...answered(now), next_check_at: new Date(now.getTime() + DELETED_CHECK_MS) })
    .where('user_id', '=', user_id)
    .execute()
}

type OwnRow = {
  id: bigint
  forum_id: bigint | null
  username: string
  suspended_till: Date | null
  is_banned: boolean
  is_admin: boolean
  is_moderator: boolean
}

/**
 * Returns the member's row and the name it may have, both locked. The forum gives a name to one member at a time, so
 * another account of the forum with this name is out of date. It is renamed to `name~id` and checked again. A local account
 * keeps its name, and the member gets `name~id`. Names of the forum contain no `~`.
 */
async function takeName(
  tx: Tx,
  forum_id: bigint,
  username: string,
  now: Date,
): Promise<{ own: OwnRow | undefined; username: string }> {
  // In the order of ids, like every other such lock, so that members who swap names cannot deadlock.
  const rows: OwnRow[] = await tx
    .selectFrom('users')
    .where((eb) =>
      eb.or([eb('forum_id', '=', forum_id), eb(sql`lower(username)`, '=', sql<string>`lower(${username})`)]),
    )
    .orderBy('id')
    .select(['id', 'forum_id', 'username', 'suspended_till', 'is_banned', 'is_admin', 'is_moderator'])
    .forUpdate()
    .execute()
  const own = rows.find((row) => row.forum_id === forum_id)
  const holder = rows.find((row) => row !== own)
  const isNew = own?.username.toLowerCase() !== username.toLowerCase()
  if (isNew && (await isFormerName(tx, username)))
    return { own, username: await suffixedName(tx, username, forum_id) }
  if (holder === undefined) return { own, username }
  if (holder.forum_id === null) return { own, username: await suffixedName(tx, username, forum_id) }
  const parked = await suffixedName(tx, holder.username, holder.forum_id)
  await tx
    .updateTable('users')
    .set({ username: parked, updated_at: now })
    .where('id', '=', holder.id)
    .execute()
  await tx.updateTable('forum_members').set({ hinted_at: now }).where('user_id', '=', holder.id).execute()
  return { own, username }
}

/** Whether an anonymised account had this name, or the name has the form that such accounts get. */
async function isFormerName(tx: Tx, username: string): Promise<boolean> {
  if (/^deleted-\d+$/i.test(username)) return true
  const former = await tx
    .selectFrom('former_usernames')
    .where('name_hash', '=', sql<Buffer>`former_name_hash(${username})`)
    .select('name_hash')
    .executeTakeFirst()
  return former !== undefined
}

async function suffixedName(tx: Tx, name: string, forum_id: bigint): Promise<string> {
  for (let number = 1; ; number += 1) {
    const suffix = number === 1 ? `~${forum_id}` : `~${forum_id}~${number}`
    const room = USERNAME_LENGTH_MAX - suffix.length
    const candidate = Array.from(name).slice(0, room).join('') + suffix
    const taken = await tx
      .selectFrom('users')
      .where(sql`lower(username)`, '=', sql<string>`lower(${candidate})`)
      .where('forum_id', 'is distinct from', forum_id)
      .select('id')
      .executeTakeFirst()
    if (taken === undefined && !(await isFormerName(tx, candidate))) return candidate
  }
}

type KnownMember = { suspended_till: Date | null; is_banned: boolean }

async function findMember(tx: Tx, user_id: bigint): Promise<KnownMember | undefined> {
  return tx
    .selectFrom('forum_members')
    .where('user_id', '=', user_id)
    .select(['suspended_till', 'is_banned'])
    .executeTakeFirst()
}

/** Returns the trust level of the API, or without an API that of the group aliases. Otherwise the last known one stays. */
function trustLevel({ identity, user, hasApi, aliases }: Facts): { trust_level?: number } {
  if (user !== undefined) return { trust_level: user.trust_level }
  const level = hasApi || identity === undefined ? undefined : trustLevelOf(identity.group_names, aliases)
  return level === undefined ? {} : { trust_level: level }
}

/** Converts the forum's suspension to the columns of forum_members. */
export function forumSuspension(
  { suspended_till }: Pick<ForumUser, 'suspended_till'>,
  now: Date,
): KnownMember {
  if (suspended_till === null || suspended_till <= now) return { suspended_till: null, is_banned: false }
  const is_banned = suspended_till.getTime() - now.getTime() > FOREVER_MS
  return { suspended_till: is_banned ? null : suspended_till, is_banned }
}

/** Returns the suspension of the account. A ban or suspension by an administrator of Tessera stays. */
function suspension(
  own: OwnRow | undefined,
  known: KnownMember | undefined,
  user: ForumUser,
  now: Date,
): KnownMember {
  const forum = forumSuspension(user, now)
  const ours = own?.suspended_till ?? null
  const isOurs = ours !== null && ours.getTime() !== known?.suspended_till?.getTime()
  const isLater = ours !== null && (forum.suspended_till === null || ours > forum.suspended_till)
  return {
    suspended_till: isOurs && isLater ? ours : forum.suspended_till,
    is_banned: forum.is_banned || (own?.is_banned === true && known?.is_banned !== true),
  }
}

/** Returns the columns of a member whom the API has answered about. */
function answered(asked_at: Date) {
  return {
    checked_at: asked_at,
    failure: null,
    retry_at: null,
    claimed_until: null,
    // A hint that arrived during the request may be about something newer.
    hinted_at: sql<Date | null>`case when forum_members.hinted_at > ${asked_at} then forum_members.hinted_at end`,
  }
}

async function remember(tx: Tx, user_id: bigint, username: string, facts: Facts): Promise<void> {
  const { user, failure, hasApi, now } = facts
  const row = { user_id, username, next_check_at: now, score_due_at: now }
  const learnt =
    user === undefined
      ? { failure: failure ?? null, ...(hasApi ? { hinted_at: now } : {}) }
      : {
          ...forumSuspension(user, now),
          silenced_till: user.silenced_till,
          next_check_at: await nextCheck(tx, user_id, facts),
        }
  const { hinted_at: _, ...fresh } = answered(now)
  await tx
    .insertInto('forum_members')
    .values({ ...row, ...learnt, ...(user && fresh) })
    .onConflict((conflict) =>
      conflict.column('user_id').doUpdateSet({ username, ...learnt, ...(user && answered(now)) }),
    )
    .execute()
}

/** Returns when to check the member again: sooner with a session, which a sign-in is about to make. */
async function nextCheck(tx: Tx, user_id: bigint, { identity, now }: Facts): Promise<Date> {
  const session = await tx
    .selectFrom('sessions')
    .where('user_id', '=', user_id)
    .where('expires_at', '>', now)
    .select('id')
    .limit(1)
    .executeTakeFirst()
  const isActive = identity !== undefined || session !== undefined
  return new Date(now.getTime() + (isActive ? ACTIVE_CHECK_MS : IDLE_CHECK_MS))
}

async function customGroups(tx: Tx, facts: Facts): Promise<ForumGroup[] | undefined> {
  const { identity, user, hasApi } = facts
  if (user !== undefined) return user.groups
  if (identity === undefined) return undefined
  if (hasApi) return findGroups(tx, identity.group_names)
  return identity.group_names.map((name) => ({ id: null, name }))
}

function audit(tx: Tx, action: string, user_id: bigint, detail: Record<string, unknown>): Promise<void> {
  return recordAudit(tx, { actor_id: null, action, subject: `user:${user_id}`, detail, ip: null })
}
