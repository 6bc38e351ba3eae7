// This room: the JSON API of access keys at /api/payment.
// Verbs: makeAuthenticate, restRoutes.
// Clauses: spec/access-keys 3.1–3.3; spec/payouts 4.1–4.3.
/** Authenticates requests by the token of an access key, before their bodies are read. spec/access-keys 3.2. */
import type { FastifyRequest } from 'fastify'
import type { Core } from '../../core/core.ts'
import type { AccessScope } from '../../database/tables/access-keys.ts'
import { AppError } from '../../platform/errors.ts'
import { BEARER_CHALLENGE } from '../../web/oauth/errors.ts'
import { makeFindToken, mayCallFrom } from '../access-keys/tokens.ts'
import type { Caller } from '../hmac/caller.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The application that the token of this request speaks for. */
    tokenCaller: Caller | undefined
  }
}

/** Makes the check of a route: a hook that needs a token with this scope. */
export type Authenticate = (needed: AccessScope) => (request: FastifyRequest) => Promise<void>

/**
 * Makes the check of every request: the token, the address of the caller, the rate of the application, the scope. Throws
 * access_token_invalid, address_not_allowed, too_many_attempts and insufficient_scope, in this order.
 */
export function makeAuthenticate(deps: Core): Authenticate {
  const findToken = makeFindToken(deps)
  return (needed) => async (request) => {
    const token = tokenOf(request)
    const caller = token === undefined ? undefined : await findToken(token)
    if (caller === undefined)
      throw new AppError('access_token_invalid', 'The access token is missing, wrong, expired or revoked')
    if (!mayCallFrom(request.ip, caller))
      throw new AppError(
        'address_not_allowed',
        `This address may not call for the application: ${request.ip}`,
      )
    await deps.limits.take('api_requests', caller.id.toString())
    if (!caller.scopes.includes(needed))
      throw new AppError('insufficient_scope', `This needs a token with the scope ${needed}`, {
        data: { scope: needed },
      })
    request.tokenCaller = caller
  }
}

/** Reads the token of the Authorization header, the only place for it: addresses and bodies reach more logs. */
function tokenOf({ headers: { authorization = '' } }: FastifyRequest): string | undefined {
  return /^bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization)?.[1]
}

/** The WWW-Authenticate of a refusal (RFC 6750 3). A request without credentials learns no error code. */
export function challengeOf(error: unknown, { headers }: FastifyRequest): string | undefined {
  if (!(error instanceof AppError)) return undefined
  if (error.code === 'insufficient_scope')
    return `${BEARER_CHALLENGE}, error="insufficient_scope", scope="${error.data?.scope}"`
  if (error.code !== 'access_token_invalid') return undefined
  return headers.authorization === undefined ? BEARER_CHALLENGE : `${BEARER_CHALLENGE}, error="invalid_token"`
}
