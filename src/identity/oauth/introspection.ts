/**
 * POST /oauth2/introspect (RFC 7662): a client reads the state of its own token, and of those made for its service (RFC 8707).
 * Tokens of other clients are reported as not active. Public clients are refused, because anybody can use their client_id.
 * spec/sign-in 2.7.
 */
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import type { z } from 'zod'
import { isBannedOrSuspended, userColumns } from '../../accounts/people/users.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { sha256 } from '../../platform/secrets.ts'
import { invalidClient } from '../../web/oauth/credentials.ts'
import { formValues, requiredValue } from '../../web/oauth/parameters.ts'
import type { Parameters } from '../../web/parameters.ts'
import { type Client, isPublic } from '../apps/access.ts'
import { ACCESS_TOKEN_SECONDS, grantedDetails } from '../grants/tokens.ts'
import { isStillAdmitted } from '../metadata/client-id.ts'
import { acrOf } from './acr.ts'
import type { AuthenticateClient } from './clients.ts'
import { AboutTokenRequest, type Introspection } from './shapes.ts'

type Route = { Body: Parameters | undefined; Reply: z.output<typeof Introspection> }

export const INTROSPECTION_PATH = '/oauth2/introspect'

/** POST /oauth2/introspect in the machine scope. */
export function introspectionRoute(
  app: FastifyInstance,
  deps: Core,
  authenticateClient: AuthenticateClient,
): void {
  app.post<Route>(INTROSPECTION_PATH, async (request): Promise<Route['Reply']> => {
    const body = formValues(AboutTokenRequest, request.body)
    const now = deps.clock()
    const client = await authenticateClient(request, body, now)
    if (isPublic(client)) throw invalidClient(request.headers.authorization !== undefined)
    const token = requiredValue(body, 'token')
    const found =
      (await findAccessToken(deps, client, token, now)) ??
      (await findRefreshToken(deps.db, client, token, now))
    if (found === undefined || isBannedOrSuspended(found, now)) return { active: false }
    return {
      active: true,
      ...found.claims,
      scope: found.scopes.join(' '),
      client_id: found.client_id,
      username: found.username,
      sub: found.id.toString(),
      acr: acrOf(found.amr),
      auth_time: epochSeconds(found.auth_time),
      exp: epochSeconds(found.expires_at),
      iss: deps.config.PUBLIC_URL,
      ...(found.details !== null && { authorization_details: found.details }),
    }
  })
}

async function findAccessToken({ db, settings }: Core, client: Client, token: string, now: Date) {
  const row = await db
    .selectFrom('access_tokens as token')
    .innerJoin('grants as family', 'family.id', 'token.grant_id')
    .innerJoin('users', 'users.id', 'family.user_id')
    .where('token.token_hash', '=', sha256(token))
    .where('token.expires_at', '>', now)
    .innerJoin('oauth_apps as app', 'app.id', 'family.app_id')
    .leftJoin('oauth_apps as resource', 'resource.id', 'family.resource_app_id')
    .where('family.revoked_at', 'is', null)
    .where('app.suspended_at', 'is', null)
    .where((eb) => eb.or([eb('family.app_id', '=', client.id), eb('family.resource_app_id', '=', client.id)]))
    .select(userColumns)
    .select(['token.scopes', 'token.expires_at', 'family.amr', 'family.auth_time', 'app.client_id'])
    .select(['resource.resource_uri', 'app.document_url'])
    .select(grantedDetails(sql`family.mandate_id`, now))
    .executeTakeFirst()
  if (row === undefined || !(await isStillAdmitted({ settings }, row.document_url))) return undefined
  const iat = epochSeconds(row.expires_at) - ACCESS_TOKEN_SECONDS
  const aud = row.resource_uri ?? undefined
  return { ...row, claims: { token_type: 'Bearer' as const, iat, ...(aud !== undefined && { aud }) } }
}

/** Finds an unused refresh token, without using it. */
async function findRefreshToken(db: Db, client: Client, token: string, now: Date) {
  const row = await db
    .selectFrom('refresh_tokens as token')
    .innerJoin('grants as family', 'family.id', 'token.grant_id')
    .innerJoin('users', 'users.id', 'family.user_id')
    .where('token.token_hash', '=', sha256(token))
    .where('token.used_at', 'is', null)
    .where('token.expires_at', '>', now)
    .where('family.revoked_at', 'is', null)
    .where('family.app_id', '=', client.id)
    .select(userColumns)
    .select(['family.scopes', 'family.amr', 'family.auth_time', 'token.expires_at', 'token.created_at'])
    .select(grantedDetails(sql`family.mandate_id`, now))
    .executeTakeFirst()
  // No token_type: it says how a token is presented to resource servers (RFC 6749 7.1), and this one never is.
  return row && { ...row, client_id: client.client_id, claims: { iat: epochSeconds(row.created_at) } }
}

function epochSeconds(moment: Date): number {
  return Math.floor(moment.getTime() / 1000)
}
