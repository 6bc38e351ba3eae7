/**
 * What happens to the keys of an account is written to the audit log, and told to its owner by mail, in the
 * transaction of the act itself.
 */
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import { enqueueMail } from '../people/email.ts'
import { mails } from './mails.texts.ts'

/** Events that the owner is told about. */
type Notice = keyof typeof mails.notices

export type SecurityEvent = Notice | 'email.requested' | 'password.recovery_sent'

export type SecurityRecord = {
  event: SecurityEvent
  /** Whose account it is. */
  user_id: bigint
  /** Who did it: the member, an administrator, or somebody who need not be either. */
  actor_id: bigint | null
  ip: string | null
  detail?: Record<string, unknown>
  /** Where the notice goes, if not to the confirmed address of the moment. */
  notify?: string | null
}

export async function recordSecurityEvent(tx: Tx, deps: Core, record: SecurityRecord): Promise<void> {
  const { event, user_id, actor_id, ip, detail = {} } = record
  await recordAudit(tx, { actor_id, action: `account.${event}`, subject: `user:${user_id}`, detail, ip })
  if (event !== 'email.requested' && event !== 'password.recovery_sent')
    await sendNotice(tx, deps, record, event)
}

async function sendNotice(tx: Tx, deps: Core, record: SecurityRecord, event: Notice): Promise<void> {
  const { user_id } = record
  const user = await tx
    .selectFrom('users')
    .where('id', '=', user_id)
    .select(['username', 'email', 'email_verified', 'language'])
    .executeTakeFirstOrThrow()
  const confirmed = user.email_verified ? user.email : null
  const recipient = record.notify === undefined ? confirmed : record.notify
  if (recipient === null) return
  await enqueueMail(tx, deps, {
    user_id,
    recipient,
    username: user.username,
    language: user.language ?? 'en',
    kind: event,
    content: mails.notices[event],
  })
}
