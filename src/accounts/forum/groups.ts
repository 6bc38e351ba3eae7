/**
 * Groups of the forum as groups of Tessera. Its id identifies a custom group: a renamed group stays the same, and a group
 * that takes over a name does not get the former group's members. Automatic groups (trust levels, staff) never become
 * custom groups, because they follow from the trust level and the two flags. A local group keeps its name from groups of the
 * forum.
 */
import { sql } from 'kysely'
import type { Tx } from '../../database/connection.ts'

/** The forum's names of automatic groups. The database refuses these for a custom group, and names that look like them. */
const AUTOMATIC = /^(trust_level_\d|admins|moderators|staff|everyone|banned|suspended)$/i
const NAME_SHAPE = /^[^\s\p{Cc}]{1,100}$/u

/** A custom group of the forum; `id` is null when only its name is known, `name` undefined when only its id is. */
export type ForumGroup = { id: bigint | null; name: string | undefined }
type NamedGroup = { id: bigint | null; name: string }

/** Maps the forum's name of a group, in lower case, to its name in Tessera. */
export type GroupAliases = ReadonlyMap<string, string>

/** Reads the setting `forum_group_aliases`: `name at the forum = name here`, separated by commas or lines. */
export function parseGroupAliases(text: string): GroupAliases {
  const pairs = text
    .split(/[,\n]/)
    .map((part) => part.split('=').map((name) => name.trim()))
    .filter((pair) => pair.length === 2 && pair.every((name) => name !== ''))
  return new Map(pairs.map(([from, to]) => [from!.toLowerCase(), to!]))
}

/**
 * Returns the trust level that the member's group names mean by the aliases of an administrator. A group's own name does
 * not count: a forum in another language may have a custom group called `trust_level_4`.
 */
export function trustLevelOf(names: string[], aliases: GroupAliases): number | undefined {
  const levelOf = (name: string | undefined) => /^trust_level_([0-4])$/.exec(name ?? '')?.[1]
  if (![...aliases.values()].some((name) => levelOf(name) !== undefined)) return undefined
  return Math.max(0, ...names.map((name) => Number(levelOf(aliases.get(name.toLowerCase())) ?? 0)))
}

/** Returns the group's name in Tessera; undefined for a reserved or invalid name. */
export function nameHere(name: string, aliases: GroupAliases): string | undefined {
  const here = aliases.get(name.toLowerCase()) ?? name
  return AUTOMATIC.test(here) || !NAME_SHAPE.test(here) ? undefined : here
}

/** Finds the known custom groups of these names. The API identifies unknown names later. */
export async function findGroups(tx: Tx, names: string[]): Promise<ForumGroup[]> {
  if (names.length === 0) return []
  return tx
    .selectFrom('forum_groups')
    .where(sql`lower(name)`, 'in', sql<string>`(select lower(name) from unnest(${names}::text[]) as name)`)
    .select(['id', 'name'])
    .execute()
}

/** Replaces the member's groups from the forum. Groups that were assigned in Tessera stay. */
export async function saveGroups(
  tx: Tx,
  user_id: bigint,
  groups: ForumGroup[],
  aliases: GroupAliases,
  now: Date,
): Promise<void> {
  const named = await nameGroups(tx, groups)
  await learnNames(tx, named, aliases, now)
  const wanted = new Map<string, NamedGroup>()
  for (const { id, name } of named) {
    const here = nameHere(name, aliases)
    if (here !== undefined) wanted.set(here.toLowerCase(), { id, name: here })
  }
  const had = await tx
    .selectFrom('user_groups')
    .where('user_id', '=', user_id)
    .where('from_forum', '=', true)
    .select(['name', 'forum_group_id'])
    .execute()
  const isKept = (row: (typeof had)[number]) => {
    const group = wanted.get(row.name.toLowerCase())
    return group !== undefined && group.name === row.name && group.id === row.forum_group_id
  }
  const gone = had.filter((row) => !isKept(row)).map((row) => row.name)
  const kept = new Set(had.filter(isKept).map((row) => row.name.toLowerCase()))
  if (gone.length > 0) {
    await tx
      .deleteFrom('user_groups')
      .where('user_id', '=', user_id)
      .where('from_forum', '=', true)
      .where('name', 'in', gone)
      .execute()
  }
  const added = [...wanted].filter(([key]) => !kept.has(key)).map(([, group]) => group)
  await addRows(
    tx,
    added.map(({ id, name }) => ({ user_id, name, forum_group_id: id })),
  )
}

/** Gives the groups whose name is unknown their last known name, or a placeholder. */
async function nameGroups(tx: Tx, groups: ForumGroup[]): Promise<NamedGroup[]> {
  const nameless = groups.flatMap(({ id, name }) => (id === null || name !== undefined ? [] : [id]))
  if (nameless.length === 0) return groups as NamedGroup[]
  const known = await tx
    .selectFrom('forum_groups')
    .where('id', 'in', nameless)
    .select(['id', 'name'])
    .execute()
  const names = new Map(known.map(({ id, name }) => [id, name]))
  return groups.map(({ id, name }) => ({ id, name: name ?? names.get(id!) ?? `group~${id}` }))
}

/** Stores the names of these groups. A group that had one of the names gets a placeholder until the API reports its name. */
async function learnNames(tx: Tx, groups: NamedGroup[], aliases: GroupAliases, now: Date): Promise<void> {
  const named = new Map(groups.flatMap(({ id, name }) => (id === null ? [] : [[id, name] as const])))
  if (named.size === 0) return
  const ids = [...named.keys()]
  const known = await tx.selectFrom('forum_groups').where('id', 'in', ids).select(['id', 'name']).execute()
  const unchanged = new Set(known.filter(({ id, name }) => named.get(id) === name).map(({ id }) => id))
  const changed = ids.filter((id) => !unchanged.has(id))
  if (changed.length === 0) return

  // Locked in the order of ids, so that two checks with the same names cannot deadlock.
  const names = changed.map((id) => named.get(id)!)
  const locked = await tx
    .selectFrom('forum_groups')
    .where((eb) =>
      eb.or([
        eb('id', 'in', changed),
        eb(sql`lower(name)`, 'in', sql<string>`(select lower(name) from unnest(${names}::text[]) as name)`),
      ]),
    )
    .orderBy('id')
    .select(['id', 'name'])
    .forUpdate()
    .execute()
  // Placeholders first, because two groups may have swapped their names.
  for (const { id, name } of locked) await renameGroup(tx, id, `${name}~${id}`, now)
  for (const { id, name } of locked) {
    if (named.has(id)) continue
    await renameRows(tx, id, nameHere(`${name}~${id}`, aliases))
    await hintOneMember(tx, id, now)
  }
  for (const id of changed) {
    const name = named.get(id)!
    if (locked.some((group) => group.id === id)) {
      await renameGroup(tx, id, name, now)
      await renameRows(tx, id, nameHere(name, aliases))
    } else await tx.insertInto('forum_groups').values({ id, name, updated_at: now }).execute()
  }
}

async function renameGroup(tx: Tx, id: bigint, name: string, now: Date): Promise<void> {
  await tx.updateTable('forum_groups').set({ name, updated_at: now }).where('id', '=', id).execute()
}

/** Renames this group in the rows of all its members, or removes the rows when it has no valid name. */
async function renameRows(tx: Tx, forum_group_id: bigint, name: string | undefined): Promise<void> {
  const rows = await tx
    .deleteFrom('user_groups')
    .where('forum_group_id', '=', forum_group_id)
    .returning('user_id')
    .execute()
  if (name !== undefined)
    await addRows(
      tx,
      rows.map(({ user_id }) => ({ user_id, name, forum_group_id })),
    )
}

/**
 * Adds rows, except of groups whose name a local group has, because a rule for that group must not admit them, and of groups
 * whose name looks reserved.
 */
async function addRows(
  tx: Tx,
  rows: { user_id: bigint; name: string; forum_group_id: bigint | null }[],
): Promise<void> {
  if (rows.length === 0) return
  const names = rows.map(({ name }) => name)
  const refused = await sql<{ name: string }>`
    select name from unnest(${names}::text[]) as name
    where lower(name) in (select local_group_names()) or looks_reserved(name)`.execute(tx)
  const taken = new Set(refused.rows.map(({ name }) => name))
  const free = rows.filter(({ name }) => !taken.has(name))
  if (free.length === 0) return
  await tx
    .insertInto('user_groups')
    .values(free.map((row) => ({ ...row, from_forum: true })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Marks one member of the group for a check, because the API's answer about one member has the group's name. */
export async function hintOneMember(tx: Tx, forum_group_id: bigint, now: Date): Promise<void> {
  await tx
    .updateTable('forum_members')
    .set({ hinted_at: now })
    .where('user_id', '=', (eb) =>
      eb
        .selectFrom('user_groups')
        .where('forum_group_id', '=', forum_group_id)
        .orderBy('user_id')
        .limit(1)
        .select('user_id'),
    )
    .execute()
}
