/** Reads the parts that all pages of administrators share: the ID in an address, the reason in a form, and the actor. */
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { sessionOf } from '../../accounts/session/session.ts'
import { AppError } from '../../platform/errors.ts'
import { rowId } from '../../web/lists.ts'

/** Lines on a page of members or applications. */
export const TABLE_LINES = 50
/** Lines of the history on the page of one thing. */
export const HISTORY_LINES = 50

/** The reason for an administrator's act. */
export const Reason = z.string().trim().min(1).max(500)
/** The confirmation page sends it. */
export const Confirmed = z.literal('yes').optional()
export const ReasonForm = z.object({ reason: Reason })

/**
 * Reads the ID in an address. Throws not_found for any other text.
 * @param what names the thing in the error, as in “member”.
 */
export function idIn(text: string, what: string): bigint {
  const { success, data } = rowId.safeParse(text)
  if (!success) throw new AppError('not_found', `There is no such ${what}`)
  return data
}

/** The administrator who sends the request, and the IP address. */
export function actorOf(request: FastifyRequest): { actor_id: bigint; ip: string } {
  return { actor_id: sessionOf(request).user.id, ip: request.ip }
}
