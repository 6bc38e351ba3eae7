/**
 * POST /oauth2/revoke (RFC 7009): a client revokes its own token. An access token ends alone, a refresh token with its whole
 * family. An unknown token gets the same answer. spec/sign-in 2.7.
 */
import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import type { Core } from '../../core/core.ts'
import type { Db } from '../../database/connection.ts'
import { sha256 } from '../../platform/secrets.ts'
import { formValues, requiredValue } from '../../web/oauth/parameters.ts'
import type { Parameters } from '../../web/parameters.ts'
import type { Client } from '../apps/access.ts'
import { revokeGrant } from '../grants/grants.ts'
import type { AuthenticateClient } from './clients.ts'
import { admitOrigin } from './cross-origin.ts'
import { AboutTokenRequest, type Revoked } from './shapes.ts'

export const REVOCATION_PATH = '/oauth2/revoke'

/** POST /oauth2/revoke in the machine scope. */
export function revocationRoute(
  app: FastifyInstance,
  deps: Core,
  authenticateClient: AuthenticateClient,
): void {
  app.post<{ Body: Parameters | undefined; Reply: z.output<typeof Revoked> }>(
    REVOCATION_PATH,
    async (request, reply) => {
      const body = formValues(AboutTokenRequest, request.body)
      const now = deps.clock()
      const client = await authenticateClient(request, body, now)
      admitOrigin(request, reply, client)
      // token_type_hint is ignored, because a wrong hint must not hide a token (RFC 7009 2.1).
      await revokeToken(deps.db, client, requiredValue(body, 'token'), now)
      return {}
    },
  )
}

async function revokeToken(db: Db, client: Client, token: string, now: Date): Promise<void> {
  const token_hash = sha256(token)
  await db
    .deleteFrom('access_tokens as token')
    .using('grants as family')
    .whereRef('family.id', '=', 'token.grant_id')
    .where('family.app_id', '=', client.id)
    .where('token.token_hash', '=', token_hash)
    .execute()
  const family = await db
    .selectFrom('refresh_tokens as token')
    .innerJoin('grants as family', 'family.id', 'token.grant_id')
    .where('family.app_id', '=', client.id)
    .where('token.token_hash', '=', token_hash)
    .select('family.id')
    .executeTakeFirst()
  if (family !== undefined) await revokeGrant(db, family.id, 'revoked by the application', now)
}
