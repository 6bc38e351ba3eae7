/**
 * Accounts of the forum's members. Only the forum's user id identifies a member. Names may change, swap or be taken over,
 * and no such change locks a member out or merges two accounts. What the forum does not state stays as it is stored.
 */
import { type Insertable, sql } from 'kysely'
import { type Db, isDeadlock, type Tx, violatedConstraint } from '../../database/connection.ts'
import type { UsersTable } from '../../database/tables/accounts.ts'
import { isBannedOrSuspended, lockUser, type User } from '../people/users.ts'
import { queueLogoutsOf } from '../session/ended-sessions.ts'
import { type Account, auditChange, findKnown, isOutdated, lockAccount } from './account.ts'
import type { ForumIdentity } from './connect.ts'
import { type ForumGroup, findGroups, type GroupAliases, saveGroups, trustLevelOf } from './groups.ts'
import { takeName } from './names.ts'
import type { ForumUser } from './single-read.ts'
import { auditRights, confirmation, rightsUnder, type StatedRights } from './staff.ts'
import {
  accountSuspension,
  type ForumSuspension,
  suspensionBySingleRead,
  tellOfExclusion,
} from './suspension.ts'

const ATTEMPTS_MAX = 5
const ACTIVE_CHECK_MS = 3_600_000
const IDLE_CHECK_MS = 24 * 3_600_000
/** The forum never reuses an id, so this check only corrects a mistake of the forum. */
const DELETED_CHECK_MS = 30 * 24 * 3_600_000

/** The current data of a member, from the sign-in, from the API, or from both. */
export type Facts = {
  identity?: ForumIdentity
  /** The API's answer. It decides all but the e-mail address and the avatar. */
  user?: ForumUser
  /** Why the API did not answer. */
  failure?: string | undefined
  hasApi: boolean
  aliases: GroupAliases
  /** When the API was asked. */
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
  const { forum_id } = (user ?? identity)!
  const wanted = user?.username ?? identity?.username
  const { own, username = own?.username } =
    wanted === undefined
      ? { own: await lockAccount(tx, forum_id) }
      : await takeName(tx, forum_id, wanted, now)
  if (username === undefined || (own === undefined && identity === undefined)) return undefined
  const known = own === undefined ? undefined : await findKnown(tx, own.id)
  const had = { is_admin: own?.is_admin ?? false, is_moderator: own?.is_moderator ?? false }
  const stated = statedRights(facts)
  const rights = rightsUnder(had, stated, !isOutdated(known, now))
  const suspension = user && suspensionBySingleRead(user, known, now)
  const values = {
    username,
    ...rights,
    ...profile(facts),
    ...trustLevel(facts),
    ...(suspension && accountSuspension(own, known, suspension)),
    updated_at: now,
  }
  const id = await saveAccount(tx, own, { ...values, forum_id })
  await tellOfExclusion(tx, own, values, now)
  const learnt = {
    username: wanted ?? username,
    ...suspension,
    ...(!isOutdated(known, now) && confirmation(rights, stated, now)),
  }
  await remember(tx, id, learnt, facts)
  if (wanted !== undefined && username !== wanted && username !== own?.username)
    await auditChange(tx, 'forum.name_taken', id, { wanted, given: username })
  await auditRights(tx, { ...had, id }, known, rights)
  const groups = await customGroups(tx, facts)
  if (groups !== undefined) await saveGroups(tx, id, groups, facts.aliases, now)
  return id
}

async function saveAccount(
  tx: Tx,
  own: Account | undefined,
  values: Insertable<UsersTable>,
): Promise<bigint> {
  if (own === undefined) {
    const { id } = await tx.insertInto('users').values(values).returning('id').executeTakeFirstOrThrow()
    return id
  }
  await tx.updateTable('users').set(values).where('id', '=', own.id).execute()
  return own.id
}

/** Returns what the forum states of the name, the address and the avatar. */
function profile({
  identity,
  user,
}: Facts): Partial<Pick<User, 'name' | 'email' | 'email_verified' | 'avatar_url'>> {
  const { name, email, avatar_url } = { ...identity, ...(user && { name: user.name }) }
  return {
    ...(name !== undefined && { name }),
    ...(email !== undefined && { email, email_verified: true }),
    ...(avatar_url !== undefined && { avatar_url }),
  }
}

/** Returns the rights that the forum states. A sign-in may deny a right that the single read leaves unknown. */
function statedRights({ identity, user }: Facts): StatedRights {
  const state = (right: keyof StatedRights) =>
    user === undefined
      ? identity?.[right]
      : (user[right] ?? (identity?.[right] === false ? false : undefined))
  return { is_admin: state('is_admin'), is_moderator: state('is_moderator') }
}

/** Returns the trust level of the API, or without an API that of the group aliases. Otherwise the last known one stays. */
function trustLevel({ identity, user, hasApi, aliases }: Facts): { trust_level?: number } {
  const names = hasApi ? undefined : identity?.group_names
  const level = user?.trust_level ?? (names && trustLevelOf(names, aliases))
  return level === undefined ? {} : { trust_level: level }
}

/** Bans a member whom the forum has deleted. The account stays, because the ledger and the audit log refer to it. */
export async function banDeletedMember(tx: Tx, user_id: bigint, now: Date): Promise<void> {
  const member = await lockUser(tx, user_id)
  if (!isBannedOrSuspended(member, now)) await queueLogoutsOf(tx, { user_id, now })
  await tx.updateTable('users').set({ is_banned: true, updated_at: now }).where('id', '=', user_id).execute()
  await auditChange(tx, 'forum.deleted', user_id, {})
  await tx
    .updateTable('forum_members')
    .set({
      is_banned: true,
      suspended_by: 'api',
      deleted_at: now,
      ...answered(now),
      next_check_at: new Date(now.getTime() + DELETED_CHECK_MS),
    })
    .where('user_id', '=', user_id)
    .execute()
}

/** Returns the columns of a member whom the API has answered about. */
function answered(asked_at: Date) {
  // A hint that arrived during the request may be about something newer.
  const isKept = sql<boolean>`coalesce(forum_members.hinted_at > ${asked_at}, false)`
  return {
    checked_at: asked_at,
    failure: null,
    failures: 0,
    retry_at: null,
    claimed_until: null,
    hinted_at: sql<Date | null>`case when ${isKept} then forum_members.hinted_at end`,
    hint_is_urgent: sql<boolean>`forum_members.hint_is_urgent and ${isKept}`,
  }
}

type Learnt = Partial<ForumSuspension> & {
  username: string
  staff_confirmed_at?: Date
  staff_lapsed_at?: null
}

async function remember(tx: Tx, user_id: bigint, learnt: Learnt, facts: Facts): Promise<void> {
  const { user, failure, hasApi, now } = facts
  const row = { user_id, next_check_at: now, score_due_at: now, created_at: now }
  const values = {
    ...learnt,
    ...(user === undefined && { failure: failure ?? null, ...(hasApi && { hinted_at: now }) }),
    ...(user && { deleted_at: null, next_check_at: await nextCheck(tx, user_id, facts) }),
    ...(user?.silenced_till !== undefined && { silenced_till: user.silenced_till }),
  }
  await tx
    .insertInto('forum_members')
    .values({ ...row, ...values, ...(user && { checked_at: now }) })
    .onConflict((conflict) =>
      conflict.column('user_id').doUpdateSet({ ...values, ...(user && answered(now)) }),
    )
    .execute()
}

/** Returns when to check the member again: sooner with a session, which a sign-in is about to make, and with rights. */
async function nextCheck(tx: Tx, user_id: bigint, { identity, now }: Facts): Promise<Date> {
  const { rows } = await sql`
    select from users
    where id = ${user_id} and (
      is_admin or is_moderator or exists (select from sessions where user_id = users.id and expires_at > ${now})
    )`.execute(tx)
  const isActive = identity !== undefined || rows.length > 0
  return new Date(now.getTime() + (isActive ? ACTIVE_CHECK_MS : IDLE_CHECK_MS))
}

/** Returns the custom groups that the forum states, or undefined when it states none in a right form. */
async function customGroups(tx: Tx, { identity, user, hasApi }: Facts): Promise<ForumGroup[] | undefined> {
  if (user !== undefined) return user.groups
  const names = identity?.group_names
  if (names === undefined || hasApi) return names && findGroups(tx, names)
  return names.map((name) => ({ id: null, name }))
}
