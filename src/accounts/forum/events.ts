/** Stores the forum's events, and marks their members for a check by the worker. */
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import { hintOneMember } from './groups.ts'

/** Events that change nothing about a member. A busy forum sends thousands of them. */
const NO_NEWS = ['user_logged_in', 'user_logged_out']

export type ForumEvent = {
  event_id: string
  type: string
  name: string
  about: { id?: bigint | undefined; user_id?: bigint | undefined }
}

/** Stores the event and its hint in one transaction, so that an event repeated after a crash finds both or neither. */
export async function receiveEvent(
  { db, clock }: Core,
  event: ForumEvent,
): Promise<'noted' | 'ignored' | 'duplicate'> {
  const now = clock()
  return db.transaction().execute(async (tx) => {
    const noted = await tx
      .insertInto('forum_events')
      .values({ event_id: event.event_id, event: event.name, received_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst()
    if (noted.numInsertedOrUpdatedRows !== 1n) return 'duplicate'
    return (await hint(tx, event, now)) ? 'noted' : 'ignored'
  })
}

async function hint(tx: Tx, { type, name, about }: ForumEvent, now: Date): Promise<boolean> {
  if (NO_NEWS.includes(name)) return false
  if (type === 'group') return about.id !== undefined && hintGroup(tx, about.id, name, now)
  const forum_id = type === 'user' ? about.id : about.user_id
  // A member of the forum without an account is read at the first sign-in.
  if (forum_id === undefined) return false
  const hinted = await tx
    .updateTable('forum_members')
    .set({ hinted_at: now, retry_at: null })
    .where('user_id', '=', (eb) => eb.selectFrom('users').where('forum_id', '=', forum_id).select('id'))
    .executeTakeFirst()
  return hinted.numUpdatedRows > 0n
}

/** Marks one member of a renamed group for a check. After a deletion all its members become due. */
async function hintGroup(tx: Tx, group_id: bigint, name: string, now: Date): Promise<boolean> {
  if (name !== 'group_destroyed') {
    await hintOneMember(tx, group_id, now)
    return true
  }
  const due = await tx
    .updateTable('forum_members')
    .set({ next_check_at: now })
    .where('user_id', 'in', (eb) =>
      eb.selectFrom('user_groups').where('forum_group_id', '=', group_id).select('user_id'),
    )
    .executeTakeFirst()
  return due.numUpdatedRows > 0n
}
