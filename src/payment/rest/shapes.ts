/** The shapes of the requests at /api/payment that the HMAC API does not have. spec/access-keys 3.1. */
import { z } from 'zod'
import type { ListedDoor } from '../hmac/lists.ts'
import { NewCharge } from '../hmac/mandate-shapes.ts'
import { OrdersList, oneOf } from '../hmac/shapes.ts'
import { OrderId } from '../wire-fields/fields.ts'

export const DOORS = ['hmac', 'link', 'tip'] as const satisfies ListedDoor[]

/** A list of orders, or the one order that order_id names. */
export const OrdersQuery = OrdersList.extend({ door: oneOf(DOORS).optional(), order_id: OrderId.optional() })

/** A charge. `access_token` is the token of the member, for a mandate that needs one. */
export const ChargeRequest = NewCharge.omit({ mandate_id: true }).extend({
  access_token: z.string().optional(),
})
