/**
 * The shapes of amounts, ids and texts, for the API, the pages and the reference. Each message completes
 * "Invalid amount: ". Pure.
 */
import { z } from 'zod'

const DESCRIPTION_LENGTH_MAX = 255
const A_WHOLE_NUMBER = 'a whole number of points from 1, in decimal digits'
export const TRANSACTION_ID = /^txn_[a-z0-9]{24}$/

/** A whole number of points in decimal digits, from 1 to 2^53 − 1. decisions.md 5.5. */
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
