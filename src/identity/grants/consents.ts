/** What members have allowed applications: remembered per member and application, growing with what is allowed. */
import { sql } from 'kysely'
import type { Db, Tx } from '../../database/connection.ts'

type Pair = { user_id: bigint; app_id: bigint }

/** Whether the member has already allowed this application everything it asks for. */
export async function hasConsented(db: Db, { user_id, app_id }: Pair, scopes: string[]): Promise<boolean> {
  const consent = await db
    .selectFrom('consents')
    .where('user_id', '=', user_id)
    .where('app_id', '=', app_id)
    .select('scopes')
    .executeTakeFirst()
  return consent !== undefined && scopes.every((scope) => consent.scopes.includes(scope))
}

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
        // The union is made by the database, so that two answers at once both count.
        scopes: sql`array(select distinct unnest(consents.scopes || excluded.scopes) order by 1)`,
        updated_at: now,
      }),
    )
    .execute()
}
