/** The row of an OAuth application, locked by each act on it. */
import type { Tx } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'

/** An act on an application that must be the actor's own. */
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
  'app.allow_groups',
  'app.deny_groups',
  'app.suspended_at',
  'app.suspended_reason',
  'app.reviewed_at',
  'app.created_at',
] as const

/**
 * Holds the application's row. It is the first lock of every act, so acts on one application follow each other;
 * sign-ins and tokens, which only refer to the row, go on meanwhile.
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

export function noSuchApp(): AppError {
  return new AppError('not_found', 'No such application')
}
