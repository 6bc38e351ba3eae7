/** Locks the row of an OAuth application, which each act on it does first. */
import type { Tx } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'

/** An act of the owner on the own application. */
export type Owned = Act & { owner_id: bigint }

export type Act = { client_id: string; actor_id: bigint; now: Date; ip: string }

export const columns = [
  'app.id',
  'app.client_id',
  'app.owner_id',
  'app.name',
  'app.description',
  'app.homepage',
  'app.logo_url',
  'app.redirect_uris',
  'app.post_logout_redirect_uris',
  'app.id_token_signed_response_alg',
  'app.token_endpoint_auth_method',
  'app.backchannel_logout_uri',
  'app.allow_groups',
  'app.deny_groups',
  'app.grant_types',
  'app.is_listed',
  'app.resource_uri',
  'app.suspended_at',
  'app.suspended_reason',
  'app.reviewed_at',
  'app.created_at',
  'app.confirmed_at',
] as const

/**
 * Locks the application's row. Each act takes this lock first, so acts on one application run one after another. Sign-ins
 * and tokens only refer to the row and do not wait. Throws not_found, also for another owner's application.
 */
export async function lockApp(tx: Tx, { client_id, owner_id }: { client_id: string; owner_id?: bigint }) {
  let apps = tx
    .selectFrom('oauth_apps as app')
    .where('app.client_id', '=', client_id)
    .select(columns)
    .forNoKeyUpdate()
  if (owner_id !== undefined) apps = apps.where('app.owner_id', '=', owner_id)
  const app = await apps.executeTakeFirst()
  if (app === undefined) throw noSuchApp()
  return app
}

/** Makes not_found for an application. */
export function noSuchApp(): AppError {
  return new AppError('not_found', 'No such application')
}
