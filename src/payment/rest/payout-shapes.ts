/** The shapes of the requests and answers about payouts. The request itself: src/payment/payouts/request.ts. spec/payouts 4.1–4.3. */
import { z } from 'zod'
import { Moment, oneOf, Points, page } from '../hmac/shapes.ts'
import { OrderId, TransactionId } from '../wire-fields/fields.ts'

const { limit } = page
const Mode = z.enum(['each', 'all'])
const LineStatus = oneOf(['pending', 'paid', 'refused', 'cancelled'])

export const PayoutsQuery = z.object({ limit, cursor: OrderId.optional() })
export const LinesQuery = z.object({
  limit,
  status: LineStatus.optional(),
  cursor: z
    .string()
    .regex(/^\d{1,4}$/, 'the next_cursor of the page before')
    .optional(),
})

export const PayoutFields = z.strictObject({
  reference: OrderId,
  status: z.enum(['draft', 'waiting', 'running', 'halted', 'finished', 'refused', 'cancelled']),
  reason: z
    .enum([
      ...([
        'insufficient',
        'daily_limit',
        'wallet_frozen',
        'unusable',
        'transfers_off',
        'lines_refused',
      ] as const),
      ...(['merchant', 'halted_too_long', 'owner_changed', 'account_closed'] as const),
    ])
    .nullable(),
  mode: Mode,
  count: z.int(),
  pending: z.int(),
  paid: z.int(),
  refused: z.int(),
  cancelled: z.int(),
  amount: Points,
  fee: Points,
  total: Points,
  paid_total: Points,
  created_at: Moment,
  finished_at: Moment.nullable(),
})

export const PayoutAnswer = PayoutFields.extend({ success: z.literal(true) })

/** `code` and `message` are those of the refusal of such a transfer. */
export const PayoutLineFields = z.strictObject({
  line_id: OrderId,
  status: LineStatus,
  code: z.int().nullable(),
  message: z.string().nullable(),
  transaction_id: TransactionId.nullable(),
  fee: Points,
})

export const DryRunAnswer = z.strictObject({
  success: z.literal(true),
  dry_run: z.literal(true),
  reference: OrderId,
  mode: Mode,
  count: z.int(),
  pending: z.int(),
  refused: z.int(),
  need: Points,
  have: Points,
  left_today: Points.nullable(),
  lines: z.array(PayoutLineFields.extend({ warning: z.literal('suspended').nullable() })),
})

export const PayoutPage = z.strictObject({
  success: z.literal(true),
  data: z.array(PayoutFields),
  next_cursor: OrderId.nullable(),
})

export const PayoutLinesPage = z.strictObject({
  success: z.literal(true),
  data: z.array(PayoutLineFields),
  next_cursor: z.string().nullable(),
})
