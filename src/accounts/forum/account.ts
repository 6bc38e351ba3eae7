// This room: a Discourse forum as the source of accounts: sign-in, webhook, what is stored of a member, scores.
// Verbs: receiveEvent, saveMember, importNextScore, askFirstScore, readTopicTitle, lapseRights, noteContact.
// Tables: forum_members, forum_groups, forum_scores, forum_events, forum_api, forum_nonces, forum_contacts.
// Clauses: spec/accounts 1.1, 5.1–5.4, 5.6, 5.7, 5.10.
/** The account of a member of the forum, locked for a change. */
import { recordAudit } from '../../core/audit.ts'
import type { Tx } from '../../database/connection.ts'
import type { SuspendedBy } from '../../database/tables/forum.ts'

export const accountColumns = [
  'id',
  'forum_id',
  'username',
  'suspended_till',
  'is_banned',
  'is_admin',
  'is_moderator',
] as const

/** The columns of `users` that the forum changes. */
export type Account = {
  id: bigint
  forum_id: bigint | null
  username: string
  suspended_till: Date | null
  is_banned: boolean
  is_admin: boolean
  is_moderator: boolean
}

/** What is stored of the forum's word about a member. */
export type KnownMember = {
  suspended_till: Date | null
  is_banned: boolean
  suspended_by: SuspendedBy | null
  hinted_at: Date | null
  staff_lapsed_at: Date | null
}

/** Locks the account of this member of the forum. Every transaction locks accounts before rows of forum_members. */
export async function lockAccount(tx: Tx, forum_id: bigint): Promise<Account | undefined> {
  return tx
    .selectFrom('users')
    .where('forum_id', '=', forum_id)
    .select(accountColumns)
    .forUpdate()
    .executeTakeFirst()
}

/** Finds what the forum has stated about the member of a locked account. */
export async function findKnown(tx: Tx, user_id: bigint): Promise<KnownMember | undefined> {
  return tx
    .selectFrom('forum_members')
    .where('user_id', '=', user_id)
    .select(['suspended_till', 'is_banned', 'suspended_by', 'hinted_at', 'staff_lapsed_at'])
    .executeTakeFirst()
}

/** Whether a hint came after this answer was asked for. Then the answer may be older than the change, and gives nothing. */
export function isOutdated(known: KnownMember | undefined, asked_at: Date): boolean {
  const hinted_at = known?.hinted_at ?? null
  return hinted_at !== null && hinted_at > asked_at
}

/** Records what the forum changed in an account. */
export async function auditChange(
  tx: Tx,
  action: `forum.${string}`,
  user_id: bigint,
  detail: Record<string, unknown>,
): Promise<void> {
  await recordAudit(tx, { actor_id: null, action, subject: `user:${user_id}`, detail, ip: null })
}
