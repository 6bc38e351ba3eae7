/**
 * The rights of the forum's administrators and moderators. They come and go with the forum's word, and they lapse when the
 * forum has not confirmed them for long. Otherwise a member whom the API alone cannot show would keep them for ever.
 *
 * With an API key, rights lapse of a member who could not be read, once the API has answered about others 24 hours after the
 * last confirmation. So an outage of the forum closes no administration. Without a key they lapse after 30 days.
 * spec/accounts 5.6.
 */
import { sql } from 'kysely'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import { type Account, auditChange, type KnownMember } from './account.ts'

const UNCONFIRMED_HOURS_MAX = 24
const UNCONFIRMED_DAYS_WITHOUT_API_MAX = 30

const RIGHTS = ['is_admin', 'is_moderator'] as const

export type Rights = Record<(typeof RIGHTS)[number], boolean>
/** The forum's word about the rights. Undefined: unknown. */
export type StatedRights = Record<(typeof RIGHTS)[number], boolean | undefined>

/** Returns the rights under a new word, which only takes away unless `mayGive`. */
export function rightsUnder(had: Rights, stated: StatedRights, mayGive: boolean): Rights {
  const holds = (right: keyof Rights) => (stated[right] ?? had[right]) && (mayGive || had[right])
  return { is_admin: holds('is_admin'), is_moderator: holds('is_moderator') }
}

/** Whether a word confirms all rights that the member has after it. */
function isConfirmed(rights: Rights, stated: StatedRights): boolean {
  const held = RIGHTS.filter((right) => rights[right])
  return (held.length > 0 ? held : RIGHTS).every((right) => stated[right] !== undefined)
}

/** Returns the columns of forum_members after a word that may give rights. */
export function confirmation(
  rights: Rights,
  stated: StatedRights,
  now: Date,
): { staff_confirmed_at?: Date; staff_lapsed_at?: null } {
  return isConfirmed(rights, stated) ? { staff_confirmed_at: now, staff_lapsed_at: null } : {}
}

/** Records a change of rights. Administrators of the forum are administrators here, so the audit log shows each. */
export async function auditRights(
  tx: Tx,
  { id: user_id, ...had }: Rights & { id: bigint },
  known: Pick<KnownMember, 'staff_lapsed_at'> | undefined,
  rights: Rights,
): Promise<void> {
  if (RIGHTS.every((right) => rights[right] === had[right])) return
  const hadLapsed = (known?.staff_lapsed_at ?? null) !== null
  await auditChange(tx, hadLapsed ? 'forum.role_confirmed' : 'forum.role_changed', user_id, { ...rights })
}

/** Ends the rights that a signed webhook denies. */
export async function endDeniedRights(tx: Tx, own: Account, stated: StatedRights, now: Date): Promise<void> {
  const rights = rightsUnder(own, stated, false)
  if (RIGHTS.every((right) => rights[right] === own[right])) return
  await tx
    .updateTable('users')
    .set({ ...rights, updated_at: now })
    .where('id', '=', own.id)
    .execute()
  await auditRights(tx, own, undefined, rights)
}

/** Lets an operator's grant to a member of the forum last as long as a word of the forum. */
export async function confirmRights(tx: Tx, user_id: bigint, now: Date): Promise<void> {
  await tx
    .updateTable('forum_members')
    .set({ staff_confirmed_at: now, staff_lapsed_at: null })
    .where('user_id', '=', user_id)
    .execute()
}

/**
 * Ends rights that the forum has not confirmed for too long by the database's time. `failed` is a member whom the API has just
 * not shown. An answer of the API that a process with a wrong clock dated ahead counts as one of now.
 */
export async function lapseRights(
  { db, databaseTime }: Pick<Core, 'db' | 'databaseTime'>,
  { hasApi, failed = null }: { hasApi: boolean; failed?: bigint | null },
): Promise<void> {
  const now = await databaseTime()
  const isUnconfirmed = hasApi
    ? sql<boolean>`(member.failures > 0 or member.user_id = ${failed}) and staff_confirmed_at
        < least((select max(checked_at) from forum_members), ${now}::timestamptz) - ${UNCONFIRMED_HOURS_MAX} * interval '1 hour'`
    : sql<boolean>`staff_confirmed_at
        < ${now}::timestamptz - ${UNCONFIRMED_DAYS_WITHOUT_API_MAX} * interval '1 day'`
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<Rights & { id: bigint }>`
      select users.id, is_admin, is_moderator
      from users join forum_members as member on member.user_id = users.id
      where users.forum_id is not null and (is_admin or is_moderator) and ${isUnconfirmed}
      order by users.id
      for update of users, member`.execute(tx)
    for (const { id, ...rights } of rows) {
      await tx
        .updateTable('users')
        .set({ is_admin: false, is_moderator: false, updated_at: now })
        .where('id', '=', id)
        .execute()
      await tx.updateTable('forum_members').set({ staff_lapsed_at: now }).where('user_id', '=', id).execute()
      await auditChange(tx, 'forum.role_lapsed', id, rights)
    }
  })
}
