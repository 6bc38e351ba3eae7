/**
 * Renders failures of OAuth endpoints for programs: RFC 6749 bodies `{error, error_description}`. One table gives each code its
 * status. spec/sign-in 6.1.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, type ErrorCode, type OAuthCode } from '../../platform/errors.ts'
import { asAnswered, clientFaultStatus } from '../pages.ts'
import { EncodedBody } from '../parameters.ts'

const METHOD_NOT_ALLOWED = 405
const PAYLOAD_TOO_LARGE = 413
const REALM = 'Tessera'

/** Codes that are only redirected have a status too, so that the compiler checks the table. */
const STATUS = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  invalid_redirect_uri: 400,
  invalid_scope: 400,
  invalid_target: 400,
  invalid_authorization_details: 400,
  invalid_token: 401,
  insufficient_scope: 403,
  access_denied: 403,
  unauthorized_client: 400,
  authorization_pending: 400,
  slow_down: 400,
  expired_token: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  login_required: 400,
  consent_required: 400,
  request_not_supported: 400,
  request_uri_not_supported: 400,
  registration_not_supported: 400,
} satisfies Record<OAuthCode, number>

/** The table, for the reference. */
export const OAUTH_ERRORS: Readonly<Record<OAuthCode, number>> = STATUS

export type OAuthError = AppError & { code: OAuthCode }

/** Whether an error has an OAuth code. */
export function isOAuthError(error: unknown): error is OAuthError {
  return error instanceof AppError && error.code in STATUS
}

/** Values of WWW-Authenticate. Unlike Basic, a Bearer challenge opens no password dialog in a browser. */
export const BASIC_CHALLENGE = `Basic realm="${REALM}", charset="UTF-8"`
export const BEARER_CHALLENGE = `Bearer realm="${REALM}"`

/** Makes a failure of a request that needs an access token (RFC 6750 3). `scope` is the scope that it needs. */
export function bearerError(code: OAuthCode, message: string, scope?: string): AppError {
  const needed = scope === undefined ? '' : `, scope="${scope}"`
  const challenge = `${BEARER_CHALLENGE}, error="${code}", error_description="${asDescription(message)}"${needed}`
  return new AppError(code, message, { data: { challenge } })
}

/** Replaces characters that RFC 6749 5.2 forbids in error_description, for example in group names. */
export function asDescription(message: string): string {
  return message.replace(/"/g, "'").replace(/[^\x20-\x5b\x5d-\x7e]/g, '?')
}

/**
 * Renders a failure for programs. `data.challenge` becomes WWW-Authenticate, `data.status` is another status than that of the
 * table, and the rest of `data` joins the body.
 */
export function sendOAuthError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.header('cache-control', 'no-store').header('pragma', 'no-cache')
  const error = asAnswered(thrown, request)
  const failure = asOAuthFailure(error)
  if (error instanceof AppError && NOT_NOW.includes(error.code)) return sendNotNow(error, reply)
  if (failure === undefined) {
    request.log.error({ err: error }, 'request failed')
    return reply
      .code(500)
      .send({ error: 'server_error', error_description: 'Something went wrong on our side' })
  }
  const { challenge, ...members } = failure.data
  if (challenge !== undefined) reply.header('www-authenticate', challenge)
  const { code, message } = failure
  return reply
    .code(failure.status)
    .send({ error: code, error_description: asDescription(message), ...members })
}

const NOT_NOW: readonly ErrorCode[] = ['too_many_attempts', 'overloaded', 'unavailable']

/** OAuth has one code, temporarily_unavailable, for a valid request at a bad time. */
function sendNotNow({ code, message, retry_after_seconds }: AppError, reply: FastifyReply): FastifyReply {
  if (retry_after_seconds !== undefined) reply.header('retry-after', retry_after_seconds)
  return reply
    .code(code === 'too_many_attempts' ? 429 : 503)
    .send({ error: 'temporarily_unavailable', error_description: asDescription(message) })
}

export type OAuthFailure = {
  code: OAuthCode
  status: number
  message: string
  data: { challenge?: string } & Record<string, unknown>
}

/** The failure as OAuth has it: its code, its status and the members of its answer. Undefined for any other. */
export function asOAuthFailure(error: unknown): OAuthFailure | undefined {
  if (isOAuthError(error)) {
    const { code, message, data: { status = STATUS[code], ...data } = {} } = error
    return { code, status: Number(status), message, data }
  }
  if (error instanceof AppError && error.code === 'method_not_allowed')
    return { code: 'invalid_request', status: METHOD_NOT_ALLOWED, message: error.message, data: {} }
  const status = clientFaultStatus(error)
  const isMalformed = error instanceof AppError && error.code === 'malformed_request'
  if (!isMalformed && status === undefined) return undefined
  return {
    code: 'invalid_request',
    status: status === PAYLOAD_TOO_LARGE || error instanceof EncodedBody ? status! : STATUS.invalid_request,
    message: (error as Error).message,
    data: {},
  }
}
