/** The shapes of events: the types of the sender, the source of the reference, and the check of tests. */
import { z } from 'zod'
import { ChargeFields, MandateFields } from '../hmac/mandate-shapes.ts'
import { OrderFields, Points, TransferFields } from '../hmac/shapes.ts'
import { PayoutFields } from '../rest/payout-shapes.ts'
import { Day, MandateId, OrderId } from '../wire-fields/fields.ts'

export const OrderEvent = z.strictObject({
  type: z.enum(['order.paid', 'order.expired', 'order.refunded']),
  timestamp: z.iso.datetime(),
  data: OrderFields,
})
export const TransferEvent = z.strictObject({
  type: z.literal('transfer.completed'),
  timestamp: z.iso.datetime(),
  data: TransferFields,
})

export const MandateEvent = z.strictObject({
  type: z.enum(['mandate.created', 'mandate.changed', 'mandate.revoked']),
  timestamp: z.iso.datetime(),
  data: MandateFields,
})
export const ChargeEvent = z.strictObject({
  type: z.literal('charge.completed'),
  timestamp: z.iso.datetime(),
  data: ChargeFields,
})
/** `code` and `message` are those of the answer to the charge. */
export const RefusedCharge = z.strictObject({
  mandate_id: MandateId,
  order_id: OrderId,
  amount: Points,
  code: z.int(),
  message: z.string(),
  period_from: Day,
})
export const RefusedChargeEvent = z.strictObject({
  type: z.literal('charge.failed'),
  timestamp: z.iso.datetime(),
  data: RefusedCharge,
})

export const PayoutEvent = z.strictObject({
  type: z.enum(['payout.finished', 'payout.halted']),
  timestamp: z.iso.datetime(),
  data: PayoutFields,
})

/** A sale of a link: its order, what was sold, and to whom. Never what was delivered. */
export const LinkSaleFields = OrderFields.omit({ tip: true }).extend({
  slug: z.string(),
  title: z.string(),
  quantity: z.int(),
  user_id: z.int(),
  username: z.string(),
  delivery: z.enum(['none', 'text', 'url', 'codes']),
})
export const LinkEvent = z.strictObject({
  type: z.enum(['link.sold', 'link.refunded']),
  timestamp: z.iso.datetime(),
  data: LinkSaleFields,
})

export type EventBody = z.output<
  | typeof OrderEvent
  | typeof TransferEvent
  | typeof MandateEvent
  | typeof ChargeEvent
  | typeof RefusedChargeEvent
  | typeof PayoutEvent
  | typeof LinkEvent
>

export const EventHeaders = z.strictObject({
  'webhook-id': z.string(),
  'webhook-timestamp': z.string().regex(/^\d+$/),
  'webhook-signature': z.string(),
})
