/**
 * The error class for failures that callers cause. Its code comes from a closed list, and each scope's renderer decides
 * how it looks on the wire. Any other error is a fault of this program, and its answer has no detail.
 */

/** Failures of pages and forms. */
export type PageCode =
  | 'malformed_request'
  | 'not_found'
  | 'method_not_allowed'
  | 'forbidden'
  | 'sign_in_required'
  | 'form_expired'
  | 'invalid_form'
  | 'too_many_attempts'
  | 'conflict'
  | 'overloaded'
  | 'unavailable'

/** OAuth 2.0 / OpenID Connect codes (RFC 6749, RFC 6750, RFC 8628, RFC 8707, RFC 9396, OIDC Core; invalid_redirect_uri is RFC 7591's). */
export type OAuthCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_scope'
  | 'invalid_target'
  | 'invalid_authorization_details'
  | 'invalid_token'
  | 'insufficient_scope'
  | 'access_denied'
  | 'unauthorized_client'
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'login_required'
  | 'consent_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'registration_not_supported'

/** Failures of the HMAC API and of /api/payment, each with a number in src/payment/hmac/errors.ts. */
export type PaymentCode =
  | 'invalid_signature'
  | 'stale_timestamp'
  | 'address_not_allowed'
  | 'parameter_missing'
  | 'parameter_invalid'
  | 'order_exists'
  | 'order_not_found'
  | 'payment_not_found'
  | 'application_unusable'
  | 'application_not_found'
  | 'unknown_application'
  | 'insufficient_points'
  | 'below_minimum'
  | 'above_maximum'
  | 'transfer_to_self'
  | 'daily_limit_reached'
  | 'recipient_mismatch'
  | 'transfers_disabled'
  | 'payments_paused'
  | 'order_frozen'
  | 'wallet_frozen'
  | 'mandates_unavailable'
  | 'mandate_not_found'
  | 'mandate_inactive'
  | 'charge_too_large'
  | 'mandate_limit_reached'
  | 'access_token_required'
  | 'access_token_invalid'
  | 'payout_not_found'

/** Failures of the gateway protocols alone. They share all others with the HMAC API. */
export type GatewayCode =
  | 'unknown_action'
  | 'nothing_sent'
  | 'order_number_missing'
  | 'wrong_key'
  | 'version_off'
  | 'parameter_ambiguous'
  | 'not_utf8'
  | 'wrong_content_type'
  | 'amount_too_small'
  | 'order_changed'
  | 'not_supported'

export type ErrorCode = PageCode | OAuthCode | PaymentCode | GatewayCode

export type ErrorOptions = {
  /** Members that the scope's renderer may add to its answer. */
  data?: Record<string, unknown>
  /** For 429 and 503: whole seconds until the caller should try again. */
  retry_after_seconds?: number
  /** Every fault of the request, this one first, where a request may have several. */
  faults?: readonly { code: ErrorCode; message: string }[]
  /** For the log only. */
  detail?: string
  cause?: unknown
}

/** A failure that the caller caused. `message` is safe to show to the caller. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly data: Record<string, unknown> | undefined
  readonly retry_after_seconds: number | undefined
  readonly faults: ErrorOptions['faults']
  readonly detail: string | undefined

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.data = options.data
    this.retry_after_seconds = options.retry_after_seconds
    this.faults = options.faults
    this.detail = options.detail
  }
}

/** The service cannot do this now; the caller may try again in 2 seconds. */
export function unavailable(cause?: unknown): AppError {
  return new AppError('unavailable', 'This cannot be done just now. Try again in a moment', {
    retry_after_seconds: 2,
    cause,
  })
}

/** The process has too many requests; the caller may try again in 1 second, the shortest Retry-After. */
export function overloaded(cause?: unknown): AppError {
  return new AppError('overloaded', 'Too many requests at once', { retry_after_seconds: 1, cause })
}
