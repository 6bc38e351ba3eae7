/**
 * POST /oauth2/token: authenticates the client and exchanges a code, a refresh token or a device code for tokens.
 * spec/sign-in 2.1.
 */
import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import { AppError } from '../../platform/errors.ts'
import { isOAuthError } from '../../web/oauth/errors.ts'
import { formValues, requiredValue, type Sent } from '../../web/oauth/parameters.ts'
import type { Parameters } from '../../web/parameters.ts'
import type { Client } from '../apps/access.ts'
import { DEVICE_GRANT, GRANT_TYPES } from '../apps/apps.ts'
import { type ExchangeCode, makeExchangeCode } from '../grants/codes.ts'
import { type Redemption, redeemDeviceCode } from '../grants/devices.ts'
import { makeRotateRefreshToken, type Refresh, type RotateRefreshToken } from '../grants/refresh.ts'
import { type Presented, requireSameResource } from '../grants/resources.ts'
import { ACCESS_TOKEN_SECONDS, type IssuedTokens } from '../grants/tokens.ts'
import type { IdentityDeps } from '../keys/keys.ts'
import { refuseDetails } from './authorization-details.ts'
import { knownScopes } from './authorization-request.ts'
import { type AuthenticateClient, countUselessGrant } from './clients.ts'
import { admitOrigin } from './cross-origin.ts'
import { signIdToken } from './id-token.ts'
import { TokenRequest, type Tokens } from './shapes.ts'

export const TOKEN_PATHS = ['/oauth2/token', '/oauth-provider/token']

/** The exchanges of grants for tokens. */
type Redeem = {
  exchangeCode: ExchangeCode
  rotateRefreshToken: RotateRefreshToken
  redeemDeviceCode: (redemption: Redemption) => Promise<IssuedTokens>
}

/** Answers to a device whose member has not decided. They are no failures of the client. */
const WAITING: readonly string[] = ['authorization_pending', 'slow_down']

/** POST /oauth2/token and /oauth-provider/token in the machine scope. */
export function tokenRoutes(
  app: FastifyInstance,
  deps: IdentityDeps,
  authenticateClient: AuthenticateClient,
): void {
  const verbs = {
    exchangeCode: makeExchangeCode(deps.db),
    rotateRefreshToken: makeRotateRefreshToken(deps),
    redeemDeviceCode: (redemption: Redemption) => redeemDeviceCode(deps.db, redemption),
  }
  for (const path of TOKEN_PATHS) {
    app.post<{ Body: Parameters | undefined; Reply: z.output<typeof Tokens> }>(
      path,
      async (request, reply) => {
        const body = formValues(TokenRequest, request.body)
        const now = deps.clock()
        const client = await authenticateClient(request, body, now)
        admitOrigin(request, reply, client)
        await refuseDetails(deps, request.body)
        await requireSameResource(deps, client, presentedIn(body), body.resource)
        // Read before the grant is claimed, so that a missing key does not use the grant.
        const key = await deps.signingKeys.current(client.id_token_signed_response_alg)
        const issued = await redeem(client, body, { now, address: request.ip }, verbs).catch(
          async (error) => {
            if (isOAuthError(error) && !WAITING.includes(error.code))
              await countUselessGrant(deps, client, request.ip)
            throw error
          },
        )
        const { access_token, refresh_token, scopes, details } = issued
        const id_token = signIdToken(issued, client.client_id, key, now, deps)
        return {
          access_token,
          token_type: 'Bearer',
          expires_in: ACCESS_TOKEN_SECONDS,
          refresh_token,
          id_token,
          scope: scopes.join(' '),
          ...(details !== null && { authorization_details: details }),
        }
      },
    )
  }
}

/** The grant that a request redeems. */
function presentedIn({ code, refresh_token, device_code }: Sent<typeof TokenRequest>): Presented | undefined {
  if (code !== undefined) return { code }
  if (refresh_token !== undefined) return { refresh_token }
  return device_code === undefined ? undefined : { device_code }
}

async function redeem(
  client: Client,
  body: Sent<typeof TokenRequest>,
  { now, address }: Pick<Refresh, 'now' | 'address'>,
  { exchangeCode, rotateRefreshToken, redeemDeviceCode }: Redeem,
): Promise<IssuedTokens> {
  const { redirect_uri, code_verifier, scope } = body
  const { data: grant_type } = TokenRequest.shape.grant_type.safeParse(requiredValue(body, 'grant_type'))
  switch (grant_type) {
    case 'authorization_code': {
      const code = requiredValue(body, 'code')
      return exchangeCode({ client, code, redirect_uri, code_verifier, address, now })
    }
    case 'refresh_token': {
      // Without a known scope the request means all granted ones.
      const names = knownScopes(scope ?? '')
      const scopes = names.length === 0 ? undefined : names
      const refresh_token = requiredValue(body, 'refresh_token')
      return rotateRefreshToken({ client, refresh_token, scopes, address, now })
    }
    case DEVICE_GRANT:
      return redeemDeviceCode({ client, device_code: requiredValue(body, 'device_code'), address, now })
    default:
      throw new AppError('unsupported_grant_type', `grant_type must be of: ${GRANT_TYPES.join(', ')}`)
  }
}
