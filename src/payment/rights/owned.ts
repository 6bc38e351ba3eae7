/** What every page of one application starts from: whose request it is, for which application, and by which right. */
import type { FastifyRequest } from 'fastify'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { type Actor, getOwned, type Right } from './rights.ts'

export type OwnedRequest = FastifyRequest<{ Params: { payment_id: string } }>

export function actorOf(request: FastifyRequest): Actor {
  return { user_id: sessionOf(request).user.id, ip: request.ip }
}

/** The page of the application, which the others stand under. */
export function pathOf({ params }: OwnedRequest): string {
  return `/payment/applications/${encodeURIComponent(params.payment_id)}`
}

/** What a form says about an overlap; not a number where it says none. */
export function overlapHoursOf(request: FastifyRequest): number {
  const { overlap_hours: sent } = request.body as Record<string, unknown>
  return typeof sent === 'string' && /^\d{1,4}$/.test(sent) ? Number(sent) : Number.NaN
}

/**
 * For forms about keys, roles or the owner: only somebody who has signed in just now may send them.
 * @param under the page of the application that the form stands on, such as `/events`; else its first.
 */
export function freshSignIn(deps: Core, under = '') {
  return {
    preHandler: requireFreshSignIn(deps, { page: (request) => `${pathOf(request as OwnedRequest)}${under}` }),
  }
}

/** The application for its page. Throws not_found where the member has no role, forbidden where theirs lacks this right. */
export function ownedFor(request: OwnedRequest, deps: Core, right: Right) {
  return getOwned(deps, request.params.payment_id, sessionOf(request).user.id, right)
}
