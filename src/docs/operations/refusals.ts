/** Describes the refusals that every operation of an area may give, so that an operation describes only its own. */
import type { z } from 'zod'
import { AnyRefusal as GatewayRefusal } from './gateway.ts'
import { AnyRefusal as IdentityRefusal } from './identity.ts'
import { type Answer, type Area, type Operation, text } from './operation.ts'
import { AnyRefusal as PaymentRefusal } from './payment.ts'

const SCHEMAS: Record<Area, z.ZodType> = {
  identity: IdentityRefusal,
  payment: PaymentRefusal,
  rest: PaymentRefusal,
  v1: GatewayRefusal,
  v2: GatewayRefusal,
}
const ABOUT = {
  405: text('The address takes another method, which Allow names.', '请求方法不正确，Allow 列出允许的方法。'),
  415: text('The body has a Content-Encoding.', '请求体带有 Content-Encoding。'),
  429: text(
    'Too many requests. Try again after Retry-After seconds.',
    '请求过多，请在 Retry-After 秒后重试。',
  ),
  500: text('A fault of the service. Send the request again.', '服务内部错误，请重发。'),
  503: text(
    'The service is too busy, or is being maintained. Try again after Retry-After seconds.',
    '服务繁忙或维护中，请在 Retry-After 秒后重试。',
  ),
}

/** The body of most refusals of an area. */
export const refusalOf = (area: Area): z.ZodType => SCHEMAS[area]

/** The refusals of an area by HTTP status. */
export function refusalsAnywhere(area: Area): [string, Answer][] {
  return Object.entries(ABOUT).map(([status, about]) => [status, { about, schema: SCHEMAS[area] }])
}

/** The refusals of an area that an operation may give and does not describe. Only a POST has a body to encode. */
export function otherRefusals({ area, method, alsoBy, answers }: Operation): [string, Answer][] {
  const takesBody = method === 'post' || alsoBy === 'post'
  return refusalsAnywhere(area).filter(
    ([status]) => !Object.hasOwn(answers, status) && (takesBody || status !== '415'),
  )
}
