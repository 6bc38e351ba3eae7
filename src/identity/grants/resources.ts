/**
 * Resources (RFC 8707): a client asks for tokens that only another application's service takes. The address of the service is the
 * resource. That application reads the tokens by introspection. spec/registry 6.1.
 */
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { AppError } from '../../platform/errors.ts'
import { sha256 } from '../../platform/secrets.ts'
import type { Client } from '../apps/access.ts'
import { USERINFO_PATHS } from '../apps/addresses.ts'
import { mayBeResource, plainOrigin, RESOURCE_URI_LENGTH_MAX } from '../apps/resource-uri.ts'

/** The application whose service takes the tokens. */
export type Resource = { app_id: bigint; name: string; uri: string }

/**
 * Returns the resource that a request names, or undefined for none: our own addresses mean tokens that work here. Throws
 * invalid_target for a malformed, a repeated or an unknown one.
 */
export async function findResource(
  { db, config }: Pick<Core, 'db' | 'config'>,
  sent: string | string[] | undefined,
): Promise<Resource | undefined> {
  if (sent === undefined || sent === '') return undefined
  if (Array.isArray(sent)) throw invalidTarget('resource was given more than once')
  if (sent.length > RESOURCE_URI_LENGTH_MAX || sent.includes('#') || !URL.canParse(sent)) {
    throw invalidTarget('resource must be an absolute address without a fragment')
  }
  const { PUBLIC_URL, production } = config
  if (!mayBeResource(sent, production)) throw invalidTarget('resource must be an https address')
  const uri = plainOrigin(sent)
  if (uri === PUBLIC_URL || USERINFO_PATHS.some((path) => uri === PUBLIC_URL + path)) return undefined
  const app = await db
    .selectFrom('oauth_apps')
    .where('reviewed_resource_uri', '=', uri)
    .where('suspended_at', 'is', null)
    .select(['id as app_id', 'name'])
    .executeTakeFirst()
  if (app === undefined) throw invalidTarget('No reviewed application has this resource')
  return { ...app, uri }
}

/** A grant that a client redeems. */
export type Presented = { code: string } | { refresh_token: string } | { device_code: string }

/**
 * Compares the resource of a token request with that of its grant. A token request may repeat the resource, not change it.
 * An unknown grant passes, because redeeming it fails. Throws invalid_target.
 */
export async function requireSameResource(
  deps: Pick<Core, 'db' | 'config'>,
  client: Client,
  presented: Presented | undefined,
  sent: string | undefined,
): Promise<void> {
  if (sent === undefined || presented === undefined) return
  const resource = await findResource(deps, sent)
  const granted = await resourceOf(deps.db, client, presented)
  if (granted !== undefined && granted.resource_app_id !== (resource?.app_id ?? null)) {
    throw invalidTarget('The resource differs from that of the authorization request')
  }
}

async function resourceOf(db: Db, { id }: Client, presented: Presented) {
  if ('code' in presented) {
    return db
      .selectFrom('authorization_codes')
      .where('code_hash', '=', sha256(presented.code))
      .where('app_id', '=', id)
      .select('resource_app_id')
      .executeTakeFirst()
  }
  if ('device_code' in presented) {
    return db
      .selectFrom('device_codes')
      .where('device_code_hash', '=', sha256(presented.device_code))
      .where('app_id', '=', id)
      .select('resource_app_id')
      .executeTakeFirst()
  }
  return db
    .selectFrom('refresh_tokens as token')
    .innerJoin('grants as family', 'family.id', 'token.grant_id')
    .where('token.token_hash', '=', sha256(presented.refresh_token))
    .where('family.app_id', '=', id)
    .select('family.resource_app_id')
    .executeTakeFirst()
}

function invalidTarget(message: string): AppError {
  return new AppError('invalid_target', message)
}
