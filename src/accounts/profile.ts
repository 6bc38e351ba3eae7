/** Changes a member's profile. */
import { recordAudit } from '../core/audit.ts'
import type { Core } from '../core/core.ts'

/** Sets or removes the name of an account, and records it. */
export async function rename(
  { db, clock }: Core,
  { user_id, name, ip }: { user_id: bigint; name: string | null; ip: string },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const before = await tx
      .selectFrom('users')
      .where('id', '=', user_id)
      .select('name')
      .forUpdate()
      .executeTakeFirstOrThrow()
    if (before.name === name) return
    await tx.updateTable('users').set({ name, updated_at: clock() }).where('id', '=', user_id).execute()
    await recordAudit(tx, {
      actor_id: user_id,
      action: 'account.renamed',
      subject: `user:${user_id}`,
      detail: { before, after: { name } },
      ip,
    })
  })
}
