/**
 * The shapes of amounts, ids, texts and timestamps, for the API, the pages and the reference. Each message completes
 * "Invalid amount: ". Pure. spec/payment-api 2.4.
 */
import { z } from 'zod'
import { malformed } from '../../web/parameters.ts'

const DESCRIPTION_LENGTH_MAX = 255
const A_WHOLE_NUMBER = 'a whole number of points from 1, in decimal digits'
export const TRANSACTION_ID = /^txn_[a-z0-9]{24}$/

/** A whole number of points in decimal digits, from 1 to 2^53 − 1. spec/payment-api 2.4. */
export const Amount = z
  .string()
  .regex(/^[1-9][0-9]{0,15}$/, A_WHOLE_NUMBER)
  .refine((text) => Number(text) <= Number.MAX_SAFE_INTEGER, A_WHOLE_NUMBER)

/** Printable ASCII without space and `&`. */
export const OrderId = z
  .string()
  .regex(/^[!-%'-~]{1,128}$/, '1 to 128 printable ASCII characters without space or &')

/** PHP clients drop a field that is `0` from a notification, and its signature then fails. */
const isNotZero = (text: string) => text !== '0'

/** The shop's number of a gateway trade. */
export const OutTradeNo = z.string().regex(/^[A-Za-z0-9._\-|]{1,128}$/)
export const NewTradeNo = OutTradeNo.refine(isNotZero)
/** The product of a gateway trade. */
export const TradeName = z
  .string()
  .min(1)
  .refine((text) => text.trim() !== '' && isNotZero(text))

/** Counts code points, not UTF-16 units. */
export const Description = z
  .string()
  .min(1)
  .refine(
    (text) => [...text].length <= DESCRIPTION_LENGTH_MAX,
    `at most ${DESCRIPTION_LENGTH_MAX} characters`,
  )
  .meta({ maxLength: DESCRIPTION_LENGTH_MAX })

export const UserId = z.string().regex(/^[1-9][0-9]{0,17}$/, 'a decimal number')

/** The public id of a mandate. */
export const MandateId = z.string().regex(/^mdt_[a-z0-9]{24}$/)

/** A day as `YYYY-MM-DD`. */
export const Day = z.iso.date('a day as YYYY-MM-DD')

export const TransactionId = z.string().regex(TRANSACTION_ID)

/** Flat parameters as received, decoded. */
export type FlatParameters = Readonly<Record<string, string>>

/**
 * Reads a body or a query as flat strings; integers of a JSON body become their decimal text. Throws malformed_request
 * for a doubled parameter, a nested value, and any other value that two parsers could read differently.
 */
export function flatParameters(received: unknown): FlatParameters {
  if (received === undefined || received === null) return {}
  if (typeof received !== 'object' || Array.isArray(received)) {
    throw malformed('The body must be form parameters or a flat JSON object')
  }
  const parameters: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(received)) {
    if (Array.isArray(value)) throw malformed(`The parameter ${name} was given more than once`)
    if (typeof value !== 'string' && !Number.isSafeInteger(value)) {
      throw malformed(`The parameter ${name} must be text or an integer`)
    }
    parameters[name] = String(value)
  }
  return parameters
}

/** Drops blank values, which the gateway reads as absent. */
export function withoutBlanks(parameters: FlatParameters): FlatParameters {
  const present = Object.entries(parameters).filter(([, value]) => value.trim() !== '')
  if (present.length === Object.keys(parameters).length) return parameters
  return Object.assign(Object.create(null), Object.fromEntries(present))
}

/** The length of the part after `pay_`. */
export const PAYMENT_ID_LENGTH = 20
/** Finds a Payment ID within a longer text. */
export const PAYMENT_ID_PATTERN = `pay_[a-z0-9]{${PAYMENT_ID_LENGTH}}`

const PAYMENT_ID = new RegExp(`^${PAYMENT_ID_PATTERN}$`)

/** Whether the whole text is a Payment ID. */
export function isPaymentId(text: string): boolean {
  return PAYMENT_ID.test(text)
}

/** How far a shop's clock may differ from ours. V2 clients allow our replies the same difference. */
export const DRIFT_SECONDS_MAX = 300

/** Seconds since the Unix epoch. */
export const Timestamp = z.string().regex(/^\d{10}$/)

/** Whether the timestamp is at most DRIFT_SECONDS_MAX from now. */
export function isFresh(timestamp: string, now: Date): boolean {
  // The pattern comes first: a comparison with NaN would not refuse anything.
  return Timestamp.safeParse(timestamp).success && secondsApart(timestamp, now) <= DRIFT_SECONDS_MAX
}

function secondsApart(timestamp: string, now: Date): number {
  return Math.abs(Math.floor(now.getTime() / 1000) - Number(timestamp))
}
