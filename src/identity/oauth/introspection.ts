/**
 * POST /oauth2/introspect (RFC 7662): what a token of one's own is worth at this moment. Of any other token nothing
 * is told but that it is not active, and a public application, whose name anybody can use, is told nothing at all.
 */
import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import { isBannedOrSuspended, userColumns } from '../../accounts/people/users.ts'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { sha256 } from '../../platform/secrets.ts'
import type { Parameters } from '../../web/parameters.ts'
import { type Client, isPublic } from '../apps/access.ts'
import { ACCESS_TOKEN_SECONDS } from '../grants/tokens.ts'
import { type AuthenticateClient, invalidClient } from './clients.ts'
import { formValues, requiredValue } from './parameters.ts'
import { AboutTokenRequest, type Introspection } from './shapes.ts'

type Route = { Body: Parameters | undefined; Reply: z.output<typeof Introspection> }

export const INTROSPECTION_PATH = '/oauth2/introspect'

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
      (await findAccessToken(deps.db, client, token, now)) ??
      (await findRefreshToken(deps.db, client, token, now))
    if (found === undefined || isBannedOrSuspended(found, now)) return { active: false }
    return {
      active: true,
      ...found.told,
      scope: found.scopes.join(' '),
      client_id: client.client_id,
      username: found.username,
      sub: found.id.toString(),
      exp: epochSeconds(found.expires_at),
      iss: deps.config.PUBLIC_URL,
    }
  })
}

async function findAccessToken(db: Db, client: Client, token: string, now: Date) {
  const row = await db
    .selectFrom('access_tokens as token')
    .innerJoin('grants as family', 'family.id', 'token.grant_id')
    .innerJoin('users', 'users.id', 'family.user_id')
    .where('token.token_hash', '=', sha256(token))
    .where('token.expires_at', '>', now)
    .where('family.revoked_at', 'is', null)
    .where('family.app_id', '=', client.id)
    .select(userColumns)
    .select(['token.scopes', 'token.expires_at'])
    .executeTakeFirst()
  if (row === undefined) return undefined
  const iat = epochSeconds(row.expires_at) - ACCESS_TOKEN_SECONDS
  return { ...row, told: { token_type: 'Bearer', iat } }
}

/** A refresh token that has been used is worth nothing, and asking about it is no use of it. */
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
    .select(['family.scopes', 'token.expires_at', 'token.created_at'])
    .executeTakeFirst()
  // token_type speaks of how a token is presented to others (RFC 6749 7.1), which this one never is.
  return row && { ...row, told: { iat: epochSeconds(row.created_at) } }
}

function epochSeconds(moment: Date): number {
  return Math.floor(moment.getTime() / 1000)
}
