/** The shapes of the requests and answers about mandates: spec/mandates 2.1 and 3.1. */
import { z } from 'zod'
import { MANDATE_STATUSES } from '../mandates/mandates.ts'
import { PERIODS } from '../mandates/periods.ts'
import { Amount, Day, Description, MandateId, OrderId, UserId } from '../wire-fields/fields.ts'
import { asSigned, Moment, OrderFields, oneOf, Points, page } from './shapes.ts'

/** Any text, because a mandate that is unknown and a text that is no id are refused alike. */
const AnyMandateId = z.string()
const Period = oneOf(PERIODS)
export const MandateStatus = oneOf(MANDATE_STATUSES)

export const Offer = z.object({
  reference: OrderId,
  purpose: Description,
  amount: Amount.optional(),
  charge_max: Amount.optional(),
  period_max: Amount.optional(),
  period: Period,
  starts_on: Day.optional(),
  ends_on: Day.optional(),
  user_id: UserId.optional(),
  with_token: z.literal('yes', 'yes, or absent').optional(),
  replaces: AnyMandateId.optional(),
})
export const OfferRequest = asSigned(Offer)

export const MandateQuery = z.object({
  mandate_id: AnyMandateId.optional(),
  reference: OrderId.optional(),
})
export const MandateQueryRequest = asSigned(MandateQuery)

export const Revocation = z.object({ mandate_id: AnyMandateId, reason: Description })
export const RevokeRequest = asSigned(Revocation)

export const NewCharge = z.object({
  mandate_id: AnyMandateId,
  order_id: OrderId,
  amount: Amount,
  description: Description,
})
export const ChargeRequest = asSigned(NewCharge)

export const MandatesList = z.object({ status: MandateStatus.optional(), ...page })
export const MandatesRequest = asSigned(MandatesList)

export const OfferAnswer = z.strictObject({
  success: z.literal(true),
  mandate_id: MandateId,
  mandate_url: z.url(),
  reference: OrderId,
  status: z.literal('pending'),
  expires_at: Moment,
})

/** A mandate as its requests, lists and events describe it. */
export const MandateFields = z.strictObject({
  mandate_id: MandateId,
  reference: OrderId,
  status: MandateStatus,
  reason: z
    .enum([
      'not_accepted',
      'lapsed',
      'not_started',
      'finished',
      'owner_changed',
      'declined',
      'member',
      'merchant',
      'staff',
      'replaced',
      'account_closed',
    ])
    .nullable(),
  kind: z.enum(['fixed', 'up_to']),
  purpose: z.string(),
  charge_max: Points,
  period_max: Points,
  period: Period,
  starts_on: Day.nullable(),
  ends_on: Day.nullable(),
  with_token: z.boolean(),
  replaces: MandateId.nullable(),
  user_id: z.int().nullable(),
  username: z.string().nullable(),
  accepted_at: Moment.nullable(),
  ended_at: Moment.nullable(),
  period_from: Day.nullable(),
  period_to: Day.nullable(),
  spent: Points.nullable(),
  left: Points.nullable(),
  resets_at: Moment.nullable(),
  next_charge_on: Day.nullable(),
  version: z.int(),
  updated_at: Moment,
})

export const MandateAnswer = MandateFields.extend({ success: z.literal(true) })

export const MandatePage = z.strictObject({
  success: z.literal(true),
  data: z.array(MandateFields),
  next_cursor: MandateId.nullable(),
})

/** The order of a charge, and its period as of that charge. */
export const ChargeFields = OrderFields.omit({ tip: true }).extend({
  mandate_id: MandateId,
  period_from: Day,
  spent: Points,
  left: Points,
  resets_at: Moment,
})

export const ChargeAnswer = ChargeFields.extend({ success: z.literal(true) })
