/** Fields of forms that act on what belongs to somebody else: a reason, and the confirmation of a second page. */
import { z } from 'zod'

export const Reason = z.string().trim().min(1).max(500)
export const ReasonForm = z.object({ reason: Reason })
/** The confirmation page sends it. */
export const Confirmed = z.literal('yes').optional()
