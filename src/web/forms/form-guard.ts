/**
 * Protects forms against cross-site requests. Every form that changes something carries a token bound to the browser's
 * session cookie, or to its visitor cookie before sign-in, and must come from our own page.
 */
import type { FastifyRequest } from 'fastify'
import type { Config } from '../../platform/config.ts'
import { AppError } from '../../platform/errors.ts'
import type { Secrets } from '../../platform/secrets.ts'

export const FORM_TOKEN_FIELD = 'form_token'

const PURPOSE = 'form'

/** Returns the form token for the browser with this cookie value. */
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
 * Our pages send `Referrer-Policy: no-referrer`, so browsers send `Origin: null` with their forms. So Sec-Fetch-Site decides
 * first. For an older browser without it, the Origin decides, if the browser names one.
 */
function isOwnPage(request: FastifyRequest, config: Config): boolean {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const origin = request.headers.origin
  if (origin === undefined || origin === 'null') return true
  return origin === config.PUBLIC_URL || origin === config.PAYMENT_PUBLIC_URL
}
