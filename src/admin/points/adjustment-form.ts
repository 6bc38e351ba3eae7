/** The forms of refunds, reversals, grants and adjustments. */

import { z } from 'zod'
import { TransactionId } from '../../payment/wire-fields/fields.ts'
import { Reason } from '../../web/forms/reason.ts'

const withFee = z.literal('on').optional()
const key = z.string().regex(/^[\w-]{43}$/)
const requestId = z
  .string()
  .regex(/^\d{1,18}$/)
  .optional()

/** The first step of an act, and the second with the key. */
export const PointsActForm = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('refund'),
    transaction_id: TransactionId,
    amount: z.string().regex(/^[1-9]\d{0,15}$/),
    with_fee: withFee,
    reason: Reason,
    /** The merchant's refund request that this refund accepts. */
    request_id: requestId,
    key: key.optional(),
  }),
  z.object({
    kind: z.literal('reversal'),
    transaction_id: TransactionId,
    with_fee: withFee,
    reason: Reason,
    key: key.optional(),
  }),
  z.object({
    kind: z.literal('points'),
    lines: z.string().min(1).max(50_000),
    reason: Reason,
    key: key.optional(),
  }),
])
export type PointsActForm = z.output<typeof PointsActForm>
