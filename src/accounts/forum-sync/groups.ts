/**
 * The forum's list of groups. It names the groups whose members are listed, and says which custom groups there are. A group
 * that cannot have its name here has no list, because none of its rows could be stored. spec/accounts 5.8.
 */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import { hintOneMember, nameHere, parseGroupAliases } from '../forum/groups.ts'
import { hint } from './compare.ts'
import { AUTOMATIC_GROUPS, type ListedGroup } from './lists.ts'

/** A group that a rule or an alias names is read every hour, and the others once a day. */
const NAMED_MINUTES = 60
const OTHER_MINUTES = 1_440

/** Saves the groups as lists to read. Returns how many groups have another name, or none any more. */
export async function saveListedGroups(
  { settings }: Core,
  tx: Tx,
  groups: ListedGroup[],
  asked_at: Date,
): Promise<number> {
  const aliases = parseGroupAliases((await settings.read()).forum_group_aliases)
  const automatic = new Map(groups.filter(({ isAutomatic }) => isAutomatic).map(({ id, name }) => [id, name]))
  for (const [source, id] of AUTOMATIC_GROUPS)
    await tx
      .updateTable('forum_sources')
      .set({ group_name: automatic.get(id) ?? null })
      .where('name', '=', source)
      .execute()
  const custom = groups.flatMap(({ id, name, isAutomatic }) => {
    const here = isAutomatic ? undefined : nameHere(name, aliases)
    return here === undefined ? [] : [{ id, name, here, hasAlias: here !== name }]
  })
  const gone = await forgetOthers(tx, groups, asked_at)
  await saveSources(tx, custom)
  const renamed = await sql<{ id: bigint }>`
    select known.id from forum_groups as known
      join unnest(${custom.map(({ id }) => id)}::bigint[], ${custom.map(({ name }) => name)}::text[]) as listed (id, name)
        using (id)
    where known.name <> listed.name`.execute(tx)
  for (const { id } of renamed.rows) await hintOneMember(tx, id, asked_at)
  return gone + renamed.rows.length
}

/** Makes a list for each custom group whose name no local group has and that does not look reserved. */
async function saveSources(
  tx: Tx,
  groups: { id: bigint; name: string; here: string; hasAlias: boolean }[],
): Promise<void> {
  const [ids, names, here] = [
    groups.map(({ id }) => id),
    groups.map(({ name }) => name),
    groups.map((group) => group.here),
  ]
  const withAlias = groups.filter(({ hasAlias }) => hasAlias).map(({ id }) => id)
  await sql`
    with rules as (
      select lower(unnest(allow_groups || deny_groups)) as name from oauth_apps
      union select lower(unnest(allow_groups)) from links where state = 'on_sale'
    ), listed as (
      select *, id = any(${withAlias}::bigint[]) or lower(here) in (select name from rules) as is_named
      from unnest(${ids}::bigint[], ${names}::text[], ${here}::text[]) as listed (id, name, here)
      where lower(here) not in (select local_group_names()) and not looks_reserved(here)
    ), kept as (
      insert into forum_sources (name, group_id, group_name, every_minutes)
      select 'group:' || id, id, name, case when is_named then ${NAMED_MINUTES}::integer else ${OTHER_MINUTES}::integer end
      from listed
      on conflict (name) do update set group_name = excluded.group_name, every_minutes = excluded.every_minutes
      returning group_id
    )
    delete from forum_sources where group_id is not null and group_id not in (select group_id from kept)`.execute(
    tx,
  )
}

/** Hints the members of groups that the forum has no more. Returns how many groups that are. */
async function forgetOthers(tx: Tx, groups: ListedGroup[], asked_at: Date): Promise<number> {
  const { rows: gone } = await sql<{ user_ids: bigint[] }>`
    select array(select user_id from user_groups where forum_group_id = source.group_id) as user_ids
    from forum_sources as source
    where group_id is not null and group_id <> all(${groups.map(({ id }) => id)}::bigint[])`.execute(tx)
  await hint(
    tx,
    gone.flatMap(({ user_ids }) => user_ids),
    asked_at,
  )
  return gone.length
}
