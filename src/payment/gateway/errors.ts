/**
 * Failures of the gateway: a negative code and a short Chinese text, which old clients show to people. The texts never
 * repeat sent values, because V2 signs them for any caller. spec/gateway 1.9.
 */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { AppError, type GatewayCode } from '../../platform/errors.ts'
import { asAnswered, clientFaultStatus } from '../../web/pages.ts'
import { EncodedBody, NotUtf8 } from '../../web/parameters.ts'
import type { Refusal } from './shapes.ts'

/** Failures that other scopes share with this one. */
type SharedCode =
  | 'invalid_signature'
  | 'stale_timestamp'
  | 'address_not_allowed'
  | 'parameter_missing'
  | 'parameter_invalid'
  | 'order_not_found'
  | 'order_exists'
  | 'application_unusable'
  | 'unknown_application'
  | 'malformed_request'
  | 'method_not_allowed'
  | 'too_many_attempts'
  | 'overloaded'
  | 'unavailable'
  | 'payments_paused'
  | 'order_frozen'
export type GatewayWireCode = GatewayCode | SharedCode

/** The code on each version's paths, and the default text. */
const WIRE = {
  unknown_action: { v1: -5, v2: -5, msg: '接口不存在' },
  method_not_allowed: { v1: -5, v2: -5, msg: '请求方式不正确' },
  nothing_sent: { v1: -4, v2: -4, msg: '未传入任何参数' },
  order_number_missing: { v1: -4, v2: -1, msg: '订单号不能为空' },
  unknown_application: { v1: -3, v2: -3, msg: '商户不存在' },
  invalid_signature: { v1: -3, v2: -3, msg: '签名验证失败' },
  wrong_key: { v1: -3, v2: -3, msg: '商户密钥错误' },
  stale_timestamp: { v1: -3, v2: -3, msg: '时间戳无效或已过期' },
  version_off: { v1: -3, v2: -3, msg: '商户未开启该签名方式' },
  address_not_allowed: { v1: -2, v2: -2, msg: '来源地址不在白名单内' },
  application_unusable: { v1: -1, v2: -1, msg: '商户已被封禁，无法支付' },
  parameter_missing: { v1: -1, v2: -1, msg: '缺少参数' },
  parameter_invalid: { v1: -1, v2: -1, msg: '参数格式无效' },
  parameter_ambiguous: { v1: -1, v2: -1, msg: '请求参数有歧义，签名原文还可读成另一组参数' },
  not_utf8: { v1: -1, v2: -1, msg: '请求参数不是有效的 UTF-8 文本，请以 UTF-8 编码发送' },
  wrong_content_type: {
    v1: -1,
    v2: -1,
    msg: '不支持该 Content-Type，请使用 application/x-www-form-urlencoded',
  },
  malformed_request: { v1: -1, v2: -1, msg: '请求参数重复或格式无效' },
  amount_too_small: { v1: -1, v2: -1, msg: '金额不足一积分' },
  order_not_found: { v1: -1, v2: -1, msg: '订单不存在' },
  order_changed: { v1: -1, v2: -1, msg: '该订单号已用于其他金额' },
  order_exists: { v1: -1, v2: -1, msg: '该订单号已使用' },
  not_supported: { v1: -1, v2: -1, msg: '不支持该操作' },
  too_many_attempts: { v1: -1, v2: -1, msg: '请求过于频繁，请稍后再试' },
  overloaded: { v1: -1, v2: -1, msg: '系统繁忙，请稍后再试' },
  unavailable: { v1: -1, v2: -1, msg: '系统暂时不可用，请稍后再试' },
  order_frozen: { v1: -1, v2: -1, msg: '该订单已被冻结' },
  payments_paused: { v1: -1, v2: -1, msg: '系统维护中，暂停支付，请稍后再试' },
} satisfies Record<GatewayWireCode, { v1: number; v2: number; msg: string }>

/** The body of HTTP 500, for faults of the service. */
export const GATEWAY_FAULT = { code: -1, msg: '系统错误，请稍后再试' }

/** The texts for the page in the payer's browser; never on the wire. */
const IN_ENGLISH = {
  unknown_action: 'The shop asked for something that does not exist here.',
  method_not_allowed: 'The shop asked in a way that does not exist here.',
  nothing_sent: 'The shop sent nothing.',
  order_number_missing: 'The order number is missing.',
  unknown_application: 'This shop is not known here.',
  invalid_signature: 'The shop’s signature is wrong.',
  wrong_key: 'The shop’s key is wrong.',
  stale_timestamp: 'The shop’s request is too old, or its clock is wrong.',
  version_off: 'The shop has not switched on this kind of signature.',
  address_not_allowed: 'The request came from an address that the shop does not allow.',
  application_unusable: 'This shop cannot take payments.',
  parameter_missing: 'Something is missing in the shop’s request.',
  parameter_invalid: 'Something in the shop’s request is not valid.',
  parameter_ambiguous: 'The shop’s request can be read in two ways.',
  not_utf8: 'The shop’s request is not UTF-8 text.',
  wrong_content_type:
    'The shop’s request has a Content-Type that is not supported: it must be a form or JSON.',
  malformed_request: 'Something in the shop’s request is doubled or not valid.',
  amount_too_small: 'The price is less than one point.',
  order_not_found: 'There is no such order.',
  order_changed: 'The order number was used for another amount.',
  order_exists: 'The order number has been used.',
  not_supported: 'This is not supported.',
  too_many_attempts: 'Too many requests; try again later.',
  overloaded: 'Too busy just now; try again later.',
  unavailable: 'This cannot be done just now; try again later.',
  order_frozen: 'This order is frozen.',
  payments_paused: 'Payments are paused for maintenance; try again later.',
} satisfies Record<GatewayWireCode, string>
const FAULT_IN_ENGLISH = 'Something went wrong on our side; try again later.'

/** The table of the wire, for the reference, and for tests that no code is left untested. */
export const GATEWAY_ERRORS: Readonly<Record<string, { v1: number; v2: number; msg: string }>> = WIRE

/** Makes a refusal with the default text or a more exact one: short, in Chinese, and without sent values. */
export function refusal(code: GatewayWireCode, msg: string = WIRE[code].msg): AppError {
  return new AppError(code, msg)
}

export type WireFailure = {
  status: number
  body: z.output<typeof Refusal>
  /** The text of the English page. */
  inEnglish: string
  /** Whether V2 signs the failure. It does not under overload, because signatures would add load. */
  isSigned: boolean
}

/**
 * Converts a failure for the paths of a version. The status is 200, because many clients do not read other answers.
 * Exceptions: 405 for a wrong method, 415 for a compressed body, 429 for too many requests, 503 under overload or without the database. Our own
 * faults get 500 and are logged.
 */
export function wireFailure(
  thrown: unknown,
  version: 'v1' | 'v2',
  request: FastifyRequest,
  reply: FastifyReply,
): WireFailure {
  const error = asAnswered(thrown, request)
  const known = asKnown(error)
  if (known === undefined) {
    request.log.error({ err: error }, 'request failed')
    return { status: 500, body: GATEWAY_FAULT, inEnglish: FAULT_IN_ENGLISH, isSigned: false }
  }
  const { [version]: code, msg } = WIRE[known.code as GatewayWireCode]
  const inEnglish = IN_ENGLISH[known.code as GatewayWireCode]
  if (known.code === 'method_not_allowed') {
    const wanted = String(reply.getHeader('allow'))
      .split(', ')
      .filter((method) => method !== 'HEAD')
    const use = `${msg}，请使用 ${wanted.join(' 或 ')}`
    return { status: 405, body: { code, msg: use }, inEnglish, isSigned: false }
  }
  if (error instanceof EncodedBody)
    return { status: 415, body: { code, msg: known.message }, inEnglish, isSigned: false }
  if (known.retry_after_seconds === undefined) {
    return { status: 200, body: { code, msg: known.message }, inEnglish, isSigned: true }
  }
  reply.header('retry-after', known.retry_after_seconds)
  if (known.code === 'payments_paused') return { status: 200, body: { code, msg }, inEnglish, isSigned: true }
  return {
    status: known.code === 'too_many_attempts' ? 429 : 503,
    body: { code, msg },
    inEnglish,
    isSigned: false,
  }
}

function asKnown(error: unknown): AppError | undefined {
  // Replaces the texts of body and query parsers, which are not Chinese and may repeat sent values.
  if (error instanceof NotUtf8) return refusal('not_utf8')
  if (error instanceof EncodedBody)
    return refusal('wrong_content_type', '不支持 Content-Encoding，请发送未压缩的内容')
  if (error instanceof AppError && error.code === 'malformed_request') return refusal('malformed_request')
  if (error instanceof AppError && error.code in WIRE) return error
  if ((error as FastifyError).code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return refusal('wrong_content_type')
  return clientFaultStatus(error) === undefined ? undefined : refusal('malformed_request')
}
