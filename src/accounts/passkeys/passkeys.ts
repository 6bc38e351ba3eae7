/** A member's passkeys: the list, their names, and their removal. */
import { randomBytes } from 'node:crypto'
import { recordAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import { type Db, violatedConstraint } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { recordSecurityEvent } from '../security/security-events.ts'

const HANDLE_BYTES = 32

export type OwnPasskey = Awaited<ReturnType<typeof passkeysOf>>[number]

/** Returns a member's passkeys, also those of other relying party IDs, the oldest first. */
export async function passkeysOf(db: Db, user_id: bigint) {
  return db
    .selectFrom('passkeys')
    .where('user_id', '=', user_id)
    .orderBy('id')
    .select(['id', 'name', 'rp_id', 'is_backed_up', 'is_user_verified', 'created_at', 'last_used_at'])
    .execute()
}

/** Returns one of the member's passkeys. Throws not_found, also for another member's. */
export async function getPasskey(db: Db, user_id: bigint, id: bigint): Promise<OwnPasskey> {
  const found = (await passkeysOf(db, user_id)).find((each) => each.id === id)
  if (found === undefined) throw noPasskey()
  return found
}

/** Returns the member's user handle, or a new one, which the first registration stores. */
export async function handleFor(db: Db, user_id: bigint): Promise<string> {
  const { passkey_handle } = await db
    .selectFrom('users')
    .where('id', '=', user_id)
    .select('passkey_handle')
    .executeTakeFirstOrThrow()
  return (passkey_handle ?? randomBytes(HANDLE_BYTES)).toString('base64url')
}

/** Whether a text is a user handle of ours. */
export function isHandle(text: string): boolean {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.length === HANDLE_BYTES && bytes.toString('base64url') === text
}

type Act = { user_id: bigint; id: bigint; ip: string; agent?: string }

/** Renames a passkey. Throws not_found, also for another member's. */
export async function renamePasskey(
  { db }: Core,
  { user_id, id, ip, name }: Act & { name: string },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const before = await tx
      .selectFrom('passkeys')
      .where('id', '=', id)
      .where('user_id', '=', user_id)
      .select('name')
      .forUpdate()
      .executeTakeFirst()
    if (before === undefined) throw noPasskey()
    await tx.updateTable('passkeys').set({ name }).where('id', '=', id).execute()
    await recordAudit(tx, {
      actor_id: user_id,
      action: 'account.passkey_renamed',
      subject: `user:${user_id}`,
      detail: { before: { name: before.name }, after: { name } },
      ip,
    })
  })
}

/**
 * Removes a passkey, also the last one. Returns `needed` for the last means of two-step verification, which stays. Throws
 * not_found, also for another member's.
 */
export async function removePasskey(deps: Core, { user_id, id, ...by }: Act): Promise<'removed' | 'needed'> {
  return deps.db
    .transaction()
    .execute(async (tx) => {
      const gone = await tx
        .deleteFrom('passkeys')
        .where('id', '=', id)
        .where('user_id', '=', user_id)
        .returning('name')
        .executeTakeFirst()
      if (gone === undefined) throw noPasskey()
      const event = { event: 'passkey_removed', user_id, actor_id: user_id, ...by } as const
      await recordSecurityEvent(tx, deps, { ...event, detail: { name: gone.name } })
      return 'removed' as const
    })
    .catch((error) => {
      if (violatedConstraint(error) === 'passkeys_last_means') return 'needed'
      throw error
    })
}

function noPasskey(): AppError {
  return new AppError('not_found', 'You have no such passkey')
}
