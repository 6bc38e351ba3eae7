/** Consents: the scopes that a member has allowed an application. Later consents add scopes. */
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import type { Db, Tx } from '../../database/connection.ts'

type Pair = {
  user_id: bigint
  app_id: bigint
  /** Null for tokens that work here. */
  resource_app_id: bigint | null
  /** What the document of a client says. Null without one. */
  document_version: Buffer | null
}

/** Whether the member has allowed this application, as its document is now, all these scopes, and their use at this resource. */
export async function hasConsented(
  db: Db,
  { user_id, app_id, resource_app_id, document_version }: Pair,
  scopes: string[],
): Promise<boolean> {
  const consent = await db
    .selectFrom('consents')
    .where('user_id', '=', user_id)
    .where('app_id', '=', app_id)
    .select(['scopes', 'resource_app_ids', 'document_version'])
    .executeTakeFirst()
  if (consent === undefined || !isDeepStrictEqual(consent.document_version, document_version)) return false
  const isForResource = resource_app_id === null || consent.resource_app_ids.includes(resource_app_id)
  return isForResource && scopes.every((scope) => consent.scopes.includes(scope))
}

/**
 * Adds scopes, and the resource where there is one, to the consent of a member. A consent to another version of the client's
 * document is replaced.
 */
export async function rememberConsent(
  tx: Tx,
  { user_id, app_id, resource_app_id, document_version }: Pair,
  scopes: string[],
  now: Date,
): Promise<void> {
  const resource_app_ids = resource_app_id === null ? [] : [resource_app_id]
  await tx
    .insertInto('consents')
    .values({ user_id, app_id, scopes, resource_app_ids, document_version, updated_at: now })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'app_id']).doUpdateSet({
        scopes: added('scopes'),
        resource_app_ids: added('resource_app_ids'),
        document_version,
        updated_at: now,
      }),
    )
    .execute()
}

/** The database makes the union, so that two simultaneous consents both count. */
function added(column: 'scopes' | 'resource_app_ids') {
  const [kept, more] = [sql.ref(`consents.${column}`), sql.ref(`excluded.${column}`)]
  return sql<never>`case when consents.document_version is distinct from excluded.document_version then ${more}
    else array(select distinct unnest(${kept} || ${more}) order by 1) end`
}
