// This room: which role of a team may do what with a payment application.
// Verbs: may, getPermitted, lockPermitted.
/** The common start of every page of one application: the acting member, the application and the path. */
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Actor } from './rights.ts'

/** The address of the list of applications, and the pattern of an application's page. */
export const APPLICATIONS = '/payment/applications'
export const APPLICATION = `${APPLICATIONS}/:payment_id`

export const username = z.string().trim().min(1).max(100)
/** A form that names a member. */
export const Named = z.object({ username })

export type OwnedRequest = FastifyRequest<{ Params: { payment_id: string } }>

/** The signed-in member and their address, for rights and the audit log. */
export function actorOf(request: FastifyRequest): Actor {
  return { user_id: sessionOf(request).user.id, ip: request.ip }
}

/** The path of the application's main page. All its other pages are under it. */
export function pathOf({ params }: OwnedRequest): string {
  return `/payment/applications/${encodeURIComponent(params.payment_id)}`
}

/** The field with which the page that asks first sends its form. */
export const CONFIRMED = { confirmed: 'yes' }

/** Whether a form was sent by the page that asks first. */
export function isConfirmed({ body }: FastifyRequest): boolean {
  return (body as Record<string, unknown>).confirmed === CONFIRMED.confirmed
}
