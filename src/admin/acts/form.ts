/** What the administrators' pages have in common: the id in an address, the reason in a form, who acts, and their lists. */
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { sessionOf } from '../../accounts/session/session.ts'
import { AppError } from '../../platform/errors.ts'
import { rowId } from '../../web/lists.ts'

/** Of the lists of members and applications. */
export const TABLE_LINES = 50
/** Of what was done to one thing before. */
export const HISTORY_LINES = 50

/** Why an administrator acts. */
export const Reason = z.string().trim().min(1, 'Say why').max(500, 'At most 500 characters')
/** Sent by the page that says what will happen. */
export const Confirmed = z.literal('yes').optional()
export const ReasonForm = z.object({ reason: Reason })

/** Reads a form. Throws invalid_form, with the first thing that is wrong. */
export function readForm<Form extends z.ZodType>(form: Form, body: unknown): z.output<Form> {
  const { success, data, error } = form.safeParse(body)
  if (!success) throw new AppError('invalid_form', error.issues[0]!.message)
  return data
}

/** The id in an address. Throws not_found for any other text. @param what it is the id of, as in “member”. */
export function idIn(text: string, what: string): bigint {
  const { success, data } = rowId.safeParse(text)
  if (!success) throw new AppError('not_found', `There is no such ${what}`)
  return data
}

/** Who acts, and from where. */
export function actorOf(request: FastifyRequest): { actor_id: bigint; ip: string } {
  return { actor_id: sessionOf(request).user.id, ip: request.ip }
}
