/** Revokes grants, the token families that members have given to applications. */
import { sql } from 'kysely'
import type { Db, Tx } from '../../database/connection.ts'

/** Revokes a family with all its tokens, and records it in the audit log. Does nothing when it is revoked already. */
export async function revokeGrant(db: Db, grant_id: bigint, reason: string, now: Date): Promise<void> {
  await db
    .with('revoked', (q) =>
      q
        .updateTable('grants')
        .set({ revoked_at: now })
        .where('id', '=', grant_id)
        .where('revoked_at', 'is', null)
        .returning(['id', 'app_id', 'user_id']),
    )
    .insertInto('audit_log')
    .columns(['action', 'subject', 'detail'])
    .expression((eb) =>
      eb
        .selectFrom('revoked')
        .innerJoin('oauth_apps as app', 'app.id', 'revoked.app_id')
        .select([
          sql<string>`'oauth_grant.revoked'`.as('action'),
          'app.client_id as subject',
          sql<string>`jsonb_build_object(
            'grant_id', revoked.id, 'user_id', revoked.user_id, 'reason', ${reason}::text)`.as('detail'),
        ]),
    )
    .execute()
}

/**
 * Revokes all codes and families of a member, or those of one application, and returns the number of families. Codes go
 * first: this waits for an exchange that has locked a code, so the next statement also sees the family that the exchange makes.
 * Allowed device codes are denied.
 */
export async function endGrantsOf(
  tx: Tx,
  { user_id, app_id, now }: { user_id: bigint; app_id?: bigint; now: Date },
): Promise<number> {
  let codes = tx
    .updateTable('authorization_codes')
    .set({ expires_at: now })
    .where('user_id', '=', user_id)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
  let families = tx
    .updateTable('grants')
    .set({ revoked_at: now })
    .where('user_id', '=', user_id)
    .where('revoked_at', 'is', null)
  let devices = tx
    .updateTable('device_codes')
    .set({ allowed_at: null, denied_at: now })
    .where('user_id', '=', user_id)
    .where('allowed_at', 'is not', null)
    .where('redeemed_at', 'is', null)
  if (app_id !== undefined) {
    codes = codes.where('app_id', '=', app_id)
    families = families.where('app_id', '=', app_id)
    devices = devices.where('app_id', '=', app_id)
  }
  await codes.execute()
  await devices.execute()
  return Number((await families.executeTakeFirst()).numUpdatedRows)
}
