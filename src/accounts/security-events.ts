/** What happens to the keys of an account is written to the audit log, in the transaction of the act itself. */
import type { Tx } from '../database/connection.ts'

export type SecurityEvent =
  | 'password.changed'
  | 'second_factor.on'
  | 'second_factor.off'
  | 'second_factor.reset'
  | 'recovery_codes.remade'
  | 'recovery_code.used'

export type SecurityRecord = {
  event: SecurityEvent
  /** Whose account it is. */
  user_id: bigint
  /** Who did it: the member, or an administrator. */
  actor_id: bigint
  ip: string | null
  detail?: Record<string, unknown>
}

export async function recordSecurityEvent(tx: Tx, record: SecurityRecord): Promise<void> {
  await tx
    .insertInto('audit_log')
    .values({
      actor_id: record.actor_id,
      action: `account.${record.event}`,
      subject: `user:${record.user_id}`,
      detail: JSON.stringify(record.detail ?? {}),
      ip: record.ip,
    })
    .execute()
}
