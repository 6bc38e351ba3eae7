/**
 * Names of the forum's members. Names may change, swap or be taken over, and two accounts never have one name.
 * spec/accounts 1.1.
 */
import { sql } from 'kysely'
import type { Tx } from '../../database/connection.ts'
import { type Account, accountColumns } from './account.ts'
import { USERNAME_LENGTH_MAX } from './facts.ts'

/**
 * Returns the member's row and the name it may have, both locked. The forum gives a name to one member at a time, so
 * another account of the forum with this name is out of date. It is renamed to `name~id` and checked again. A local account
 * keeps its name, and the member gets `name~id`. Names of the forum contain no `~`.
 */
export async function takeName(
  tx: Tx,
  forum_id: bigint,
  username: string,
  now: Date,
): Promise<{ own: Account | undefined; username: string }> {
  // In the order of ids, like every other such lock, so that members who swap names cannot deadlock.
  const rows: Account[] = await tx
    .selectFrom('users')
    .where((eb) =>
      eb.or([eb('forum_id', '=', forum_id), eb(sql`lower(username)`, '=', sql<string>`lower(${username})`)]),
    )
    .orderBy('id')
    .select(accountColumns)
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
