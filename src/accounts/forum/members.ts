/**
 * Accounts of the forum. Who somebody is, is the forum's user id and nothing else: names change, swap and are taken
 * over, and none of that ever locks anybody out or makes one account of two.
 */
import { sql } from 'kysely'
import { recordAudit } from '../../core/audit.ts'
import { type Db, isDeadlock, type Tx, violatedConstraint } from '../../database/connection.ts'
import type { ForumUser } from './api.ts'
import type { ForumIdentity } from './connect.ts'
import { type ForumGroup, findGroups, type GroupAliases, saveGroups, trustLevelOf } from './groups.ts'

const USERNAME_LENGTH_MAX = 60
const ATTEMPTS_MAX = 5
const ACTIVE_CHECK_MS = 3_600_000
const IDLE_CHECK_MS = 24 * 3_600_000
/** Ids are not given twice, so this only heals a mistake of the forum's. */
const DELETED_CHECK_MS = 30 * 24 * 3_600_000
/** The forum's "for ever" is a date centuries away. */
const FOREVER_MS = 100 * 365 * 86_400_000

/** What is known of a member just now: by the sign-in, by the API, or by both. */
export type Facts = {
  identity?: ForumIdentity
  /** The API's answer, and when it was asked. */
  user?: ForumUser
  /** Why the API, if there is one, did not answer. */
  failure?: string | undefined
  hasApi: boolean
  aliases: GroupAliases
  now: Date
}

/**
 * Runs a transaction that saves members. Two that create one account, or take one name, at the same moment cannot
 * both be right at first; the loser starts again and finds what the winner has left.
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
 * Brings the account of a member up to date with what is known, and answers its id. Only a sign-in makes an account: one
 * that is gone when the API's answer comes was anonymised meanwhile, and is left alone.
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
  await remember(tx, id, username, facts)
  if (username_here !== username && username_here !== own?.username)
    await audit(tx, 'forum.name_taken', id, { wanted: username, given: username_here })
  // Whoever administers the forum administers here, so it must be possible to see since when.
  const had = own ?? { is_admin: false, is_moderator: false }
  if (had.is_admin !== is_admin || had.is_moderator !== is_moderator)
    await audit(tx, 'forum.role_changed', id, { is_admin, is_moderator })
  const groups = await customGroups(tx, facts)
  if (groups !== undefined) await saveGroups(tx, id, groups, facts.aliases, now)
  return id
}

/** The forum does not know this member any more. Nothing is deleted here: the ledger and the audit refer to people. */
export async function barDeletedMember(tx: Tx, user_id: bigint, now: Date): Promise<void> {
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
 * The member's row and the name it may have now, both locked. A name held by another account of the forum is stale
 * there, since the forum gives a name to one member at a time: the holder is parked under `name~id` and asked about
 * again. A local account keeps its name, and the member gets `name~id`. `~` stands in no name of the forum.
 */
async function takeName(
  tx: Tx,
  forum_id: bigint,
  username: string,
  now: Date,
): Promise<{ own: OwnRow | undefined; username: string }> {
  // In the order of ids, like every other such lock: members who swap names wait for each other, never in a circle.
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
  const isGone = own?.username.toLowerCase() !== username.toLowerCase() && (await isOfTheGone(tx, username))
  if (isGone) return { own, username: await suffixedName(tx, username, forum_id) }
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

/** Whether an account that was anonymised was called so, or would be. */
async function isOfTheGone(tx: Tx, username: string): Promise<boolean> {
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
    if (taken === undefined && !(await isOfTheGone(tx, candidate))) return candidate
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

/** Without the API, names of groups say it if an administrator has said which. Else the last known stays. */
function trustLevel({ identity, user, hasApi, aliases }: Facts): { trust_level?: number } {
  if (user !== undefined) return { trust_level: user.trust_level }
  const level = hasApi || identity === undefined ? undefined : trustLevelOf(identity.group_names, aliases)
  return level === undefined ? {} : { trust_level: level }
}

/** The forum's word on suspension, as it is kept in forum_members. */
export function forumSuspension(
  { suspended_till }: Pick<ForumUser, 'suspended_till'>,
  now: Date,
): KnownMember {
  if (suspended_till === null || suspended_till <= now) return { suspended_till: null, is_banned: false }
  const is_banned = suspended_till.getTime() - now.getTime() > FOREVER_MS
  return { suspended_till: is_banned ? null : suspended_till, is_banned }
}

/** What follows for the account. A ban or suspension from here, which the forum did not cause, stays. */
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

/** What the API did answer: the member is up to date, and asked about again after a while. */
function answered(asked_at: Date) {
  return {
    checked_at: asked_at,
    failure: null,
    retry_at: null,
    claimed_until: null,
    // A hint that came while the forum was being asked may be about something newer.
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

/** Members with an open session matter soonest. Who is signing in is about to have one. */
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
