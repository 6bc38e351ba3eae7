/** Failures of the HMAC API and of /api/payment: their numbers, statuses and body. spec/payment-api 2.5. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, type PaymentCode } from '../../platform/errors.ts'
import { asAnswered, clientFaultStatus } from '../../web/pages.ts'
import { EncodedBody } from '../../web/parameters.ts'

/** Failures that other scopes share with this one. */
type SharedCode =
  | 'insufficient_scope'
  | 'malformed_request'
  | 'method_not_allowed'
  | 'too_many_attempts'
  | 'overloaded'
  | 'unavailable'
type WireError = { number: number; status: number }

const WIRE = {
  invalid_signature: { number: 1001, status: 401 },
  stale_timestamp: { number: 1002, status: 401 },
  address_not_allowed: { number: 1003, status: 400 },
  parameter_missing: { number: 1004, status: 400 },
  parameter_invalid: { number: 1005, status: 400 },
  malformed_request: { number: 1005, status: 400 },
  order_exists: { number: 1006, status: 400 },
  order_not_found: { number: 1007, status: 400 },
  payment_not_found: { number: 1008, status: 400 },
  application_unusable: { number: 1009, status: 400 },
  insufficient_points: { number: 1010, status: 400 },
  below_minimum: { number: 1011, status: 400 },
  transfer_to_self: { number: 1012, status: 400 },
  daily_limit_reached: { number: 1013, status: 400 },
  recipient_mismatch: { number: 1014, status: 400 },
  transfers_disabled: { number: 1015, status: 400 },
  above_maximum: { number: 1016, status: 400 },
  payments_paused: { number: 1017, status: 503 },
  order_frozen: { number: 1018, status: 400 },
  wallet_frozen: { number: 1019, status: 400 },
  mandates_unavailable: { number: 1020, status: 400 },
  mandate_not_found: { number: 1021, status: 400 },
  mandate_inactive: { number: 1022, status: 400 },
  charge_too_large: { number: 1023, status: 400 },
  mandate_limit_reached: { number: 1024, status: 400 },
  access_token_required: { number: 1025, status: 401 },
  access_token_invalid: { number: 1026, status: 401 },
  insufficient_scope: { number: 1027, status: 403 },
  payout_not_found: { number: 1028, status: 400 },
  unknown_application: { number: 1009, status: 401 },
  // Clients tell an unknown application from an unknown route by the absence of `errors`, so it has no number.
  application_not_found: { number: 0, status: 404 },
  method_not_allowed: { number: 1405, status: 405 },
  too_many_attempts: { number: 1029, status: 429 },
  overloaded: { number: 1503, status: 503 },
  unavailable: { number: 1503, status: 503 },
} satisfies Record<PaymentCode | SharedCode, WireError>

export type PaymentWireCode = keyof typeof WIRE

/** The numbers of the wire, for the reference, and for tests that no code is left untested. */
export const PAYMENT_ERRORS: Readonly<Record<PaymentWireCode, WireError>> = WIRE

/** Sends a failure of the HMAC scope. The body has no numeric `status`, because clients settle orders by a status word. */
export function sendPaymentError(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  reply.header('cache-control', 'no-store')
  const error = asAnswered(thrown, request)
  const known = asPaymentError(error)
  if (known === undefined) {
    request.log.error({ err: error }, 'request failed')
    const text = 'Internal error'
    return reply.code(500).send({
      success: false,
      error: text,
      message: text,
      errors: [{ code: 1500, detail: text }],
      data: null,
    })
  }
  const { number, status } = WIRE[known.code as keyof typeof WIRE]
  if (known.retry_after_seconds !== undefined) reply.header('retry-after', known.retry_after_seconds)
  if (known.code === 'application_not_found') {
    return reply.code(status).send({ success: false, error: known.message, message: known.message })
  }
  const { message, data = null } = known
  // Most clients do not show `data`, so the detail includes the hint too.
  const detail = data?.hint === undefined ? message : `${message}. ${data.hint}`
  const errors = known.faults?.map((fault) => ({
    code: WIRE[fault.code as keyof typeof WIRE].number,
    detail: fault.message,
  })) ?? [{ code: number, detail }]
  return reply
    .code(error instanceof EncodedBody ? 415 : status)
    .send({ success: false, error: message, message, errors, data })
}

function asPaymentError(error: unknown): AppError | undefined {
  if (error instanceof AppError && error.code in WIRE) return error
  if (clientFaultStatus(error) !== undefined)
    return new AppError('malformed_request', (error as Error).message)
  return undefined
}
