/** What amounts, numbers and texts of payments must be, for the API, the pages, and those who describe them. Pure. */
import { z } from 'zod'

const DESCRIPTION_LENGTH_MAX = 255
export const TRANSACTION_ID = /^txn_[a-z0-9]{24}$/

/** A whole number of points in decimal digits, from 1 to 2^53 − 1. decisions.md 5.5. */
export const Amount = z
  .string()
  .regex(/^[1-9][0-9]{0,15}$/)
  .refine((text) => Number(text) <= Number.MAX_SAFE_INTEGER)

/** Printable ASCII without space and `&`. */
export const OrderId = z.string().regex(/^[!-%'-~]{1,128}$/)

/** Counted in characters, as people count them. */
export const Description = z
  .string()
  .min(1)
  .refine((text) => [...text].length <= DESCRIPTION_LENGTH_MAX)
  .meta({ maxLength: DESCRIPTION_LENGTH_MAX })

export const UserId = z.string().regex(/^[1-9][0-9]{0,17}$/)
export const TransactionId = z.string().regex(TRANSACTION_ID)
