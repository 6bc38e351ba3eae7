/**
 * Groups that administrators make here, for rules about who may use an application. Any account may be a member. A change
 * works at the member's next authorization, refresh and userinfo request, because rules read the rows each time.
 */
import { sql } from 'kysely'
import { recordAudit } from '../core/audit.ts'
import type { Core } from '../core/core.ts'
import { type Db, type Tx, violatedConstraint } from '../database/connection.ts'
import { AppError } from '../platform/errors.ts'
import { isHonestText } from '../web/parameters.ts'
import { type GroupAliases, nameHere, parseGroupAliases } from './forum/groups.ts'
import { explainAnonymised, findUserIds, userColumns } from './people/users.ts'

/** The database refuses more. */
export const LOCAL_GROUPS_MAX = 200
export const DESCRIPTION_LENGTH_MAX = 200
/** Usernames of one addition. */
export const ADDED_MAX = 200
/** A list counts the members of a group up to here. */
const MEMBERS_COUNTED_MAX = 10_000

const NAME_SHAPE = /^[^\s\p{Cc}]{1,60}$/u

/** Whether a name has the shape of a group's. A path of dots is no address of a page. */
export function isGroupName(name: string): boolean {
  return NAME_SHAPE.test(name) && isHonestText(name) && !/^\.{1,2}$/.test(name)
}

/** The administrator who acts, or the operator at the command line. */
export type GroupActor = { actor_id: bigint | null; ip: string | null }

export type LocalGroup = { id: bigint; name: string; description: string; created_at: Date }

/**
 * Creates a group. Throws invalid_form for a name that looks reserved, and conflict when the name is taken by a local group, or
 * by a group of the forum or an alias of one, and when there are LOCAL_GROUPS_MAX. The name must be one that `isGroupName`
 * accepts.
 */
export async function createGroup(
  deps: Core,
  group: { name: string; description: string },
  by: GroupActor,
): Promise<void> {
  const { forum_group_aliases } = await deps.settings.read()
  try {
    await deps.db.transaction().execute(async (tx) => {
      // The entry locks the actor's row. Transactions of the forum lock members first, then what the new group locks.
      await recordAudit(tx, {
        ...by,
        action: 'group.created',
        subject: subjectOf(group),
        detail: { description: group.description },
      })
      if (await isNameOfForum(tx, group.name, parseGroupAliases(forum_group_aliases)))
        throw nameOfForum(group)
      await tx.insertInto('local_groups').values(group).execute()
    })
  } catch (error) {
    const constraint = violatedConstraint(error)
    if (constraint === 'local_groups_name_free')
      throw new AppError('invalid_form', `${group.name} is reserved, or looks like a name that is`)
    if (constraint === 'local_groups_name_key')
      throw new AppError('conflict', `There is a group ${group.name} already`)
    if (constraint === 'local_groups_forum_name') throw nameOfForum(group)
    if (constraint === 'local_groups_max')
      throw new AppError('conflict', `There are ${LOCAL_GROUPS_MAX} groups already`)
    throw error
  }
}

/** Whether the forum has such a group, or the setting names one so. */
async function isNameOfForum(tx: Tx, name: string, aliases: GroupAliases): Promise<boolean> {
  const key = name.toLowerCase()
  if ([...aliases].flat().some((alias) => alias.toLowerCase() === key)) return true
  const found = await tx
    .selectFrom('forum_groups')
    .where(sql`lower(name)`, '=', sql<string>`lower(${name})`)
    .select('id')
    .executeTakeFirst()
  return found !== undefined
}

function nameOfForum({ name }: { name: string }): AppError {
  return new AppError('conflict', `${name} is the name of a group of the forum, or an alias of one`)
}

/** Deletes a group with its memberships, and returns how many there were. Throws not_found. */
export async function deleteGroup(
  { db }: Pick<Core, 'db'>,
  name: string,
  by: GroupActor,
): Promise<{ name: string; members: bigint }> {
  return db.transaction().execute(async (tx) => {
    const group = await lockGroup(tx, name, 'to delete')
    const { members } = await tx
      .selectFrom('user_groups')
      .where('local_group_id', '=', group.id)
      .select((eb) => eb.fn.countAll<bigint>().as('members'))
      .executeTakeFirstOrThrow()
    await tx.deleteFrom('local_groups').where('id', '=', group.id).execute()
    await recordAudit(tx, {
      ...by,
      action: 'group.deleted',
      subject: subjectOf(group),
      detail: { description: group.description, members: members.toString() },
    })
    return { name: group.name, members }
  })
}

/** The names that are no members; then nobody was added. Otherwise the ids that were new, and how many were in it already. */
export type Addition = { unknown: string[] } | { added: bigint[]; already: number }

/** Adds members to a group, all of them or none. Throws not_found without the group. */
export async function addMembers(
  { db }: Pick<Core, 'db'>,
  name: string,
  usernames: string[],
  by: GroupActor,
): Promise<Addition> {
  const found = await findUserIds(db, usernames)
  const unknown = usernames.filter((_, place) => found[place] === undefined)
  if (unknown.length > 0) return { unknown }
  // In the order of ids, so that two additions wait for each other and cannot deadlock.
  const ids = [...new Set(found as bigint[])].sort((a, b) => (a < b ? -1 : 1))
  try {
    return await db.transaction().execute(async (tx) => {
      const group = await lockGroup(tx, name, 'to change')
      const rows = await tx
        .insertInto('user_groups')
        .values(ids.map((user_id) => ({ user_id, name: group.name, local_group_id: group.id })))
        .onConflict((conflict) => conflict.doNothing())
        .returning('user_id')
        .execute()
      const added = rows.map(({ user_id }) => user_id)
      for (const user_id of added) await recordMembership(tx, 'member_added', group, user_id, by)
      return { added, already: ids.length - added.length }
    })
  } catch (error) {
    return explainAnonymised(error)
  }
}

/** Removes a member from a group and returns the username. Throws not_found without the group or the membership. */
export async function removeMember(
  { db }: Pick<Core, 'db'>,
  name: string,
  user_id: bigint,
  by: GroupActor,
): Promise<string> {
  return db.transaction().execute(async (tx) => {
    const group = await lockGroup(tx, name, 'to change')
    const removed = await tx
      .deleteFrom('user_groups')
      .using('users')
      .whereRef('users.id', '=', 'user_groups.user_id')
      .where('user_groups.local_group_id', '=', group.id)
      .where('user_groups.user_id', '=', user_id)
      .returning('users.username')
      .executeTakeFirst()
    if (removed === undefined) throw new AppError('not_found', `This member is not in ${group.name}`)
    await recordMembership(tx, 'member_removed', group, user_id, by)
    return removed.username
  })
}

/** Recorded about the member, so the history of the account shows it. */
async function recordMembership(
  tx: Tx,
  act: 'member_added' | 'member_removed',
  group: LocalGroup,
  user_id: bigint,
  by: GroupActor,
): Promise<void> {
  const detail = { group: group.name }
  await recordAudit(tx, { ...by, action: `group.${act}`, subject: `user:${user_id}`, detail })
}

/** The subject of a group's entries in the audit log. */
export function subjectOf({ name }: { name: string }): string {
  return `group:${name}`
}

async function lockGroup(tx: Tx, name: string, how: 'to change' | 'to delete'): Promise<LocalGroup> {
  const found = groupsNamed(tx, name)
  const group = await (how === 'to delete' ? found.forUpdate() : found.forKeyShare()).executeTakeFirst()
  if (group === undefined) throw noSuchGroup(name)
  return group
}

/** Returns a group by its name in any case. Throws not_found. */
export async function getGroup(db: Db, name: string): Promise<LocalGroup> {
  const group = await groupsNamed(db, name).executeTakeFirst()
  if (group === undefined) throw noSuchGroup(name)
  return group
}

function groupsNamed(db: Db, name: string) {
  return db
    .selectFrom('local_groups')
    .where(sql`lower(name)`, '=', sql<string>`lower(${name})`)
    .select(['id', 'name', 'description', 'created_at'])
}

function noSuchGroup(name: string): AppError {
  return new AppError('not_found', `There is no group ${name}`)
}

/** Returns all groups by name, with the number of their members up to 10,000; `isMore` tells that there are more. */
export async function listGroups(
  db: Db,
): Promise<(Omit<LocalGroup, 'id'> & { members: number; isMore: boolean })[]> {
  const { rows } = await sql<Omit<LocalGroup, 'id'> & { members: number }>`
    select name, description, created_at, (
      select count(*)::integer from (
        select from user_groups where local_group_id = local.id limit ${MEMBERS_COUNTED_MAX + 1}
      ) as member
    ) as members
    from local_groups as local order by lower(name)`.execute(db)
  return rows.map((group) => ({
    ...group,
    members: Math.min(group.members, MEMBERS_COUNTED_MAX),
    isMore: group.members > MEMBERS_COUNTED_MAX,
  }))
}

/** Returns members of a group, the newest accounts first. `before` is the id after which a page begins. */
export async function membersOf(
  db: Db,
  { id }: Pick<LocalGroup, 'id'>,
  before: bigint | undefined,
  limit: number,
) {
  let members = db
    .selectFrom('user_groups as membership')
    .innerJoin('users', 'users.id', 'membership.user_id')
    .where('membership.local_group_id', '=', id)
    .orderBy('membership.user_id', 'desc')
    .limit(limit)
    .select(userColumns)
    .select('membership.created_at as added_at')
  if (before !== undefined) members = members.where('membership.user_id', '<', before)
  return members.execute()
}

/** Returns the names of a member's local groups. */
export async function localGroupsOf(db: Db, user_id: bigint): Promise<string[]> {
  const rows = await db
    .selectFrom('user_groups')
    .where('user_id', '=', user_id)
    .where('local_group_id', 'is not', null)
    .orderBy(sql`lower(name)`)
    .select('name')
    .execute()
  return rows.map(({ name }) => name)
}

/** A group of the forum that is not imported, because a local group has its name. */
export type Collision = { id: bigint; name: string; local_name: string }

/** Returns the groups of the forum whose names here are taken by local groups. */
export async function collisions({ db, settings }: Pick<Core, 'db' | 'settings'>): Promise<Collision[]> {
  const { forum_group_aliases } = await settings.read()
  const aliases = parseGroupAliases(forum_group_aliases)
  const [local, ofForum] = await Promise.all([
    db.selectFrom('local_groups').select('name').execute(),
    db.selectFrom('forum_groups').orderBy('id').select(['id', 'name']).execute(),
  ])
  const names = new Map(local.map(({ name }) => [name.toLowerCase(), name]))
  return ofForum.flatMap(({ id, name }) => {
    const local_name = names.get((nameHere(name, aliases) ?? '').toLowerCase())
    return local_name === undefined ? [] : [{ id, name, local_name }]
  })
}
