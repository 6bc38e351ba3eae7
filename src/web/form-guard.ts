/**
 * Every form that changes something carries a token bound to the browser's cookie (its session, or before
 * sign-in its visitor cookie) and must come from a page of ours.
 */
import type { FastifyRequest } from 'fastify'
import type { Config } from '../platform/config.ts'
import { AppError } from '../platform/errors.ts'
import type { Secrets } from '../platform/secrets.ts'

export const FORM_TOKEN_FIELD = 'form_token'

const PURPOSE = 'form'

/** The token for forms shown to the browser that holds this cookie value. */
export function formToken(secrets: Secrets, cookieToken: string): string {
  return secrets.tag(PURPOSE, cookieToken)
}

/** Throws form_expired unless the request's body carries the token of `cookieToken` and comes from our own page. */
export function verifyForm(
  request: FastifyRequest,
  cookieToken: string | undefined,
  deps: { secrets: Secrets; config: Config },
): void {
  const sent = (request.body as Record<string, unknown> | undefined)?.[FORM_TOKEN_FIELD]
  if (
    !isOwnPage(request, deps.config) ||
    cookieToken === undefined ||
    typeof sent !== 'string' ||
    !deps.secrets.isTag(PURPOSE, cookieToken, sent)
  ) {
    throw new AppError('form_expired', 'This form has expired. Go back, reload the page and try again.')
  }
}

/**
 * Our pages send `Referrer-Policy: no-referrer`, which makes browsers write `Origin: null` on their own forms,
 * so Sec-Fetch-Site speaks first; a browser too old to send it is held to a named Origin, if it names one.
 */
function isOwnPage(request: FastifyRequest, config: Config): boolean {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const origin = request.headers.origin
  if (origin === undefined || origin === 'null') return true
  return origin === config.PUBLIC_URL || origin === config.PAYMENT_PUBLIC_URL
}
