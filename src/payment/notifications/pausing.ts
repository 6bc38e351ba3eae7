/** An administrator pauses and resumes notifications to a host. The claim skips paused hosts. */
import { recordAudit } from '../../core/audit.ts'
import { AppError } from '../../platform/errors.ts'
import type { PaymentDeps } from './worker.ts'

type Act = { host: string; reason: string; actor_id: bigint; ip: string }

/** Pauses notifications to a host. Throws conflict if the host is paused already. */
export async function pauseHost(
  { db, clock }: PaymentDeps,
  { host, reason, actor_id, ip }: Act,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const paused = await tx
      .insertInto('paused_hosts')
      .values({ host, reason, paused_by: actor_id, paused_at: clock() })
      .onConflict((conflict) => conflict.doNothing())
      .returning('host')
      .executeTakeFirst()
    if (paused === undefined) throw new AppError('conflict', 'This host is paused already')
    await recordAudit(tx, { actor_id, action: 'host.pause', subject: host, detail: { reason }, ip })
  })
}

/** Resumes a host, and sends its pending notifications at once. Throws conflict if the host is not paused. */
export async function resumeHost(
  { db, notifier }: PaymentDeps,
  { host, reason, actor_id, ip }: Act,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const resumed = await tx.deleteFrom('paused_hosts').where('host', '=', host).executeTakeFirst()
    if (resumed.numDeletedRows === 0n) throw new AppError('conflict', 'This host is not paused')
    await recordAudit(tx, { actor_id, action: 'host.resume', subject: host, detail: { reason }, ip })
  })
  notifier.nudge()
}
