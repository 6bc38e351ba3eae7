/** Consents: the scopes that a member has allowed an application. Later consents add scopes. */
import { sql } from 'kysely'
import type { Db, Tx } from '../../database/connection.ts'

/** The application of a resource is null for tokens that work here. */
type Pair = { user_id: bigint; app_id: bigint; resource_app_id: bigint | null }

/** Whether the member has allowed this application all these scopes, and their use at this resource. */
export async function hasConsented(
  db: Db,
  { user_id, app_id, resource_app_id }: Pair,
  scopes: string[],
): Promise<boolean> {
  const consent = await db
    .selectFrom('consents')
    .where('user_id', '=', user_id)
    .where('app_id', '=', app_id)
    .select(['scopes', 'resource_app_ids'])
    .executeTakeFirst()
  if (consent === undefined) return false
  const isForResource = resource_app_id === null || consent.resource_app_ids.includes(resource_app_id)
  return isForResource && scopes.every((scope) => consent.scopes.includes(scope))
}

/** Adds scopes, and the resource where there is one, to the consent of a member. */
export async function rememberConsent(
  tx: Tx,
  { user_id, app_id, resource_app_id }: Pair,
  scopes: string[],
  now: Date,
): Promise<void> {
  const resource_app_ids = resource_app_id === null ? [] : [resource_app_id]
  await tx
    .insertInto('consents')
    .values({ user_id, app_id, scopes, resource_app_ids, updated_at: now })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'app_id']).doUpdateSet({
        // The database makes the union, so that two simultaneous consents both count.
        scopes: sql`array(select distinct unnest(consents.scopes || excluded.scopes) order by 1)`,
        resource_app_ids: sql`array(
          select distinct unnest(consents.resource_app_ids || excluded.resource_app_ids) order by 1)`,
        updated_at: now,
      }),
    )
    .execute()
}
