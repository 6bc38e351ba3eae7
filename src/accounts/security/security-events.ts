/**
 * Records changes of an account's security in the audit log, and mails the member. Both happen in the transaction of the
 * act itself.
 */
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Tx } from '../../database/connection.ts'
import { enqueueMail } from '../people/email.ts'
import { mails } from './mails.texts.ts'

/** Events that are mailed to the member. */
type Notice = keyof typeof mails.notices

export type SecurityEvent = Notice | 'email.requested' | 'password.recovery_sent'

export type SecurityRecord = {
  event: SecurityEvent
  /** The member of the account. */
  user_id: bigint
  /** The member or an administrator; null for the operator, the service and unknown people. */
  actor_id: bigint | null
  ip: string | null
  detail?: Record<string, unknown>
  /** The recipient of the mail, by default the confirmed address of the account. Null sends none. */
  notify?: string | null
}

/** Records a security event, and puts the mail about it into the outbox. */
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
