/** The shapes of events: the types of the sender, the source of the reference, and the check of tests. */
import { z } from 'zod'
import { OrderFields, TransferFields } from '../hmac/shapes.ts'

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

export type EventBody = z.output<typeof OrderEvent> | z.output<typeof TransferEvent>

export const EventHeaders = z.strictObject({
  'webhook-id': z.string(),
  'webhook-timestamp': z.string().regex(/^\d+$/),
  'webhook-signature': z.string(),
})
