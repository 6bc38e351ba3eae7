/** Consents: the scopes that a member has allowed an application. Later consents add scopes. */
import { sql } from 'kysely'
import type { Db, Tx } from '../../database/connection.ts'

type Pair = { user_id: bigint; app_id: bigint }

/** Whether the member has allowed this application all these scopes. */
export async function hasConsented(db: Db, { user_id, app_id }: Pair, scopes: string[]): Promise<boolean> {
  const consent = await db
    .selectFrom('consents')
    .where('user_id', '=', user_id)
    .where('app_id', '=', app_id)
    .select('scopes')
    .executeTakeFirst()
  return consent !== undefined && scopes.every((scope) => consent.scopes.includes(scope))
}

/** Adds scopes to the consent of a member. */
export async function rememberConsent(
  tx: Tx,
  { user_id, app_id }: Pair,
  scopes: string[],
  now: Date,
): Promise<void> {
  await tx
    .insertInto('consents')
    .values({ user_id, app_id, scopes, updated_at: now })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'app_id']).doUpdateSet({
        // The database makes the union, so that two simultaneous consents both count.
        scopes: sql`array(select distinct unnest(consents.scopes || excluded.scopes) order by 1)`,
        updated_at: now,
      }),
    )
    .execute()
}
