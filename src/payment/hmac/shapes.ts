/**
 * The shapes of the requests and answers of the HMAC API. Routes read requests and type answers by them, the reference
 * describes them, and tests check every answer against them. A reader takes the parameters of a request by its shape. spec/payment-api 2.4.
 */
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { AppError } from '../../platform/errors.ts'
import {
  Amount,
  Description,
  type FlatParameters,
  MandateId,
  OrderId,
  Timestamp,
  TransactionId,
  UserId,
} from '../wire-fields/fields.ts'
import type { Authenticated } from './caller.ts'

export const LIMIT_DEFAULT = 50
export const LIMIT_MAX = 200

const A_LIMIT = `a number from 1 to ${LIMIT_MAX}`

/** What a signature adds to a request. */
const signed = {
  timestamp: Timestamp.optional(),
  signature: z.string().regex(/^[0-9a-fA-F]{64}$/),
}

/** A request as the HMAC API takes it. The acts read the request without its signature, which was verified before. */
export function asSigned<Shape extends z.ZodRawShape>(request: z.ZodObject<Shape>) {
  return request.extend(signed)
}

export const NewOrder = z.object({
  amount: Amount,
  description: Description,
  order_id: OrderId,
})
export const ProcessRequest = asSigned(NewOrder)

export const OrderQuery = z.object({
  transaction_id: TransactionId.optional(),
  order_id: OrderId.optional(),
})
export const QueryRequest = asSigned(OrderQuery)

export const NewTransfer = z.object({
  to_user_id: UserId,
  to_username: z.string().min(1),
  amount: Amount,
  order_id: OrderId,
})
export const TransferRequest = asSigned(NewTransfer)

const Seconds = z
  .string()
  .regex(/^\d{1,10}$/, 'seconds since 1970')
  .optional()

export const page = {
  limit: z
    .string()
    .regex(/^\d{1,3}$/, A_LIMIT)
    .refine((text) => Number(text) >= 1 && Number(text) <= LIMIT_MAX, A_LIMIT)
    .optional(),
  cursor: z.string().optional(),
  order: oneOf(['asc', 'desc']).optional(),
  since: Seconds,
  until: Seconds,
}

export const OrderStatus = oneOf(['pending', 'completed', 'cancelled', 'refunded'])
export const TransferStatus = oneOf(['completed', 'reversed'])

export const OrdersList = z.object({
  status: OrderStatus.optional(),
  mandate_id: z.string().optional(),
  ...page,
})
export const OrdersRequest = asSigned(OrdersList)
export const TransfersList = z.object({ status: TransferStatus.optional(), ...page })
export const TransfersRequest = asSigned(TransfersList)

export const Points = z.int().nonnegative()
export const Moment = z.iso.datetime()

export const OpenedOrder = z.strictObject({
  success: z.literal(true),
  payment_url: z.url(),
  transaction_id: TransactionId,
  status: OrderStatus,
  amount: Points,
  expires_at: Moment,
})

/** Whom the order of a tip pays, and the path of the post at the forum. */
export const TipFields = z.strictObject({
  to_user_id: z.int(),
  to_username: z.string(),
  post: z.string().nullable(),
})

/** An order as queries, lists and events describe it. Only a tip has `tip`. */
export const OrderFields = z.strictObject({
  transaction_id: TransactionId,
  order_id: OrderId,
  status: OrderStatus,
  amount: Points,
  platform_fee: Points,
  merchant_points: Points,
  description: z.string(),
  external_reference: OrderId,
  created_at: Moment,
  updated_at: Moment,
  paid_at: Moment.nullable(),
  expires_at: Moment,
  expired: z.boolean(),
  error_message: z.null(),
  refunded_amount: Points,
  frozen: z.boolean(),
  mandate_id: MandateId.nullable(),
  tip: TipFields.optional(),
})

/** A transfer as its request, lists and events describe it. */
export const TransferFields = z.strictObject({
  transaction_id: TransactionId,
  order_id: OrderId,
  status: TransferStatus,
  amount: Points,
  fee: Points,
  total_deduction: Points,
  from_user_id: z.int(),
  from_username: z.string(),
  to_user_id: z.int(),
  to_username: z.string(),
  paid_at: Moment,
})

export const OrderAnswer = OrderFields.extend({ success: z.literal(true) })
export const TransferAnswer = TransferFields.extend({ success: z.literal(true) })

const NextCursor = TransactionId.nullable()
export const OrderPage = z.strictObject({
  success: z.literal(true),
  data: z.array(OrderFields),
  next_cursor: NextCursor,
})
export const TransferPage = z.strictObject({
  success: z.literal(true),
  data: z.array(TransferFields),
  next_cursor: NextCursor,
})

export const RefusalError = z.strictObject({ code: z.int(), detail: z.string() })
/** Every refusal except UnknownApplication. */
export const Refusal = z.strictObject({
  success: z.literal(false),
  error: z.string(),
  message: z.string(),
  errors: z.array(RefusalError),
  data: z.record(z.string(), z.unknown()).nullable(),
})

export const UNKNOWN_APPLICATION = 'Payment application not found'
/** Clients tell an unknown application from an unknown route by the absence of `errors`. */
export const UnknownApplication = z.strictObject({
  success: z.literal(false),
  error: z.literal(UNKNOWN_APPLICATION),
  message: z.literal(UNKNOWN_APPLICATION),
})

/** An act that answers in this shape. */
export type Act<Answer extends z.ZodType> = (
  asked: Authenticated,
  request: FastifyRequest,
) => Promise<z.output<Answer>>

/** The types of a route that answers in this shape. */
export type Route<Answer extends z.ZodType> = { Params: { payment_id: string }; Reply: z.output<Answer> }

/** One of several words, which the message of a refusal lists. */
export function oneOf<const Words extends readonly string[]>(words: Words) {
  return z.enum(words, `one of ${words.join(', ')}`)
}

type Members = Readonly<Record<string, z.ZodType>>
type ReadMember<Shape extends Members> = <Name extends string & keyof Shape>(
  name: Name,
) => z.output<Shape[Name]>

/**
 * Makes the reader of one request, which checks and returns one parameter. An empty parameter counts as absent. Throws
 * parameter_missing with the names of all absent required parameters; the reader throws what `checked` throws.
 */
export function readerOf<Shape extends Members>(
  { shape }: { shape: Shape },
  parameters: FlatParameters,
): ReadMember<Shape> {
  const missing = Object.entries(shape)
    .filter(([name, schema]) => !parameters[name] && !isOptional(schema))
    .map(([name]) => name)
  if (missing.length > 0) throw new AppError('parameter_missing', `Missing parameter: ${missing.join(', ')}`)
  return (name) => checked(name, shape[name]!, parameters[name] || undefined)
}

/** Checks a value by its schema. Throws parameter_invalid with the parameter's name and its rule. */
export function checked<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  value: string | undefined,
): z.output<Schema> {
  const { success, data, error } = schema.safeParse(value)
  if (!success) throw new AppError('parameter_invalid', `Invalid ${name}: ${error.issues[0]!.message}`)
  return data
}

function isOptional(schema: z.ZodType): boolean {
  return schema._zod.optin === 'optional'
}
