/**
 * The token endpoint of access keys (RFC 6749 4.4, client_credentials), revocation (RFC 7009), and the document that names both
 * (RFC 8414). spec/access-keys 2.1 and 2.2.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import { presentedCredentials } from '../../web/oauth/credentials.ts'
import { sendOAuthError } from '../../web/oauth/errors.ts'
import { requiredValue, type Single, singleValues } from '../../web/oauth/parameters.ts'
import type { Parameters } from '../../web/parameters.ts'
import { SCOPES } from './keys.ts'
import { endToken, issueToken, type ProvenKey, proveKey, TOKEN_SECONDS } from './tokens.ts'

/** The paths of requests with a token begin with it. */
export const API_PATH = '/api/payment'
export const TOKEN_PATH = '/payment/token'
export const REVOKE_PATH = '/payment/token/revoke'
const METADATA_PATH = '/.well-known/oauth-authorization-server/payment'
const GRANT = 'client_credentials'
const METHODS = ['client_secret_basic', 'client_secret_post']

const text = z.string()
const client = { client_id: text.optional(), client_secret: text.optional() }

export const AccessTokenRequest = z.object({
  grant_type: z.literal(GRANT),
  scope: text.optional(),
  ...client,
})
export const AccessTokenAnswer = z.strictObject({
  access_token: text,
  token_type: z.literal('Bearer'),
  expires_in: z.int().max(TOKEN_SECONDS),
  scope: text,
})
export const AccessTokenRevocation = z.object({
  token: text,
  token_type_hint: text.optional(),
  ...client,
})
export const AccessTokenRevoked = z.strictObject({})

/** POST /payment/token and /payment/token/revoke, as a form or as JSON, and GET the metadata. They read no cookie. */
export async function tokenRoutes(app: FastifyInstance, deps: Core): Promise<void> {
  app.setErrorHandler(sendOAuthError)
  metadataRoute(app, deps)
  await app.register(async (endpoints) => {
    endpoints.addHook('onRequest', (_request, reply, done) => {
      reply.header('cache-control', 'no-store').header('pragma', 'no-cache')
      done()
    })

    endpoints.post<{ Reply: z.output<typeof AccessTokenAnswer> }>(TOKEN_PATH, async (request) => {
      try {
        const answer = await issued(deps, request)
        deps.metrics?.accessTokens.inc({ outcome: 'issued' })
        return answer
      } catch (error) {
        const outcome = error instanceof AppError ? error.code : 'failed'
        deps.metrics?.accessTokens.inc({ outcome })
        throw error
      }
    })

    endpoints.post<{ Reply: z.output<typeof AccessTokenRevoked> }>(REVOKE_PATH, async (request) => {
      const parameters = parametersOf(request)
      const key = await provenKey(deps, request, parameters)
      await endToken(deps, key, requiredValue(parameters, 'token'))
      return {}
    })
  })
}

async function issued(deps: Core, request: FastifyRequest): Promise<z.output<typeof AccessTokenAnswer>> {
  const parameters = parametersOf(request)
  const key = await provenKey(deps, request, parameters)
  if (requiredValue(parameters, 'grant_type') !== GRANT)
    throw new AppError('unsupported_grant_type', `grant_type must be ${GRANT}`)
  const { access_token, expires_in, scopes } = await issueToken(deps, key, {
    scope: parameters.scope,
    ip: request.ip,
    usedHeader: request.headers.authorization !== undefined,
  })
  return { access_token, token_type: 'Bearer', expires_in, scope: scopes.join(' ') }
}

/** Returns the parameters of a form or of a JSON object. Throws invalid_request for any other value than a text. */
function parametersOf({ body }: FastifyRequest): Single {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new AppError('invalid_request', 'A form or a JSON object is required')
  const other = Object.entries(body).find(([, value]) => typeof value !== 'string' && !Array.isArray(value))
  if (other !== undefined) throw new AppError('invalid_request', `${other[0]} must be text`)
  return singleValues(body as Parameters)
}

function provenKey(deps: Core, { headers, ip }: FastifyRequest, parameters: Single): Promise<ProvenKey> {
  const { authorization } = headers
  const credentials = presentedCredentials(authorization, parameters)
  return proveKey(deps, { credentials, usedHeader: authorization !== undefined, ip })
}

/** GET the metadata of the issuer `{PAYMENT_PUBLIC_URL}/payment`, by which OAuth libraries find the endpoints (RFC 8414 3.1). */
function metadataRoute(app: FastifyInstance, { config: { PAYMENT_PUBLIC_URL } }: Core): void {
  app.get(METADATA_PATH, async (_request, reply) => {
    reply.header('cache-control', 'public, max-age=300').header('access-control-allow-origin', '*')
    return {
      issuer: `${PAYMENT_PUBLIC_URL}/payment`,
      token_endpoint: PAYMENT_PUBLIC_URL + TOKEN_PATH,
      token_endpoint_auth_methods_supported: METHODS,
      revocation_endpoint: PAYMENT_PUBLIC_URL + REVOKE_PATH,
      revocation_endpoint_auth_methods_supported: METHODS,
      grant_types_supported: [GRANT],
      response_types_supported: [],
      scopes_supported: SCOPES,
      service_documentation: `${PAYMENT_PUBLIC_URL}/docs/access-keys`,
    }
  })
}
