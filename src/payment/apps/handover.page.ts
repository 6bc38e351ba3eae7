/** …/handover: an owner offers the application to another member, who accepts or declines. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { type Session, sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import {
  APPLICATION,
  APPLICATIONS,
  actorOf,
  formOf,
  freshSignIn,
  Named,
  type OwnedRequest,
  pathOf,
} from '../rights/owned.ts'
import {
  acceptOffer,
  declineOffer,
  getHandover,
  type OfferFault,
  offerApplication,
  withdrawOffer,
} from './handover.ts'

type Refused = { fault: OfferFault; username: string } | undefined

declare module '../../web/views.ts' {
  interface PageData {
    'payment/apps/handover': Awaited<ReturnType<typeof getHandover>> & {
      user: Session['user']
      neededTrustLevel: number
      refused: Refused
    }
  }
}

/** Registers the pages of a handover within the scope of the merchant's pages. */
export function handoverPages(app: FastifyInstance, deps: Core): void {
  const guarded = freshSignIn(deps, '/handover')

  app.get(`${APPLICATION}/handover`, async (request: OwnedRequest, reply) =>
    showHandover(request, reply, deps, undefined),
  )

  app.post(`${APPLICATION}/handover/offer`, guarded, async (request: OwnedRequest, reply) => {
    const { username } = formOf(Named, request)
    const fault = await offerApplication(deps, request.params.payment_id, username, actorOf(request))
    if (fault !== undefined) return showHandover(request, reply, deps, { fault, username })
    return reply.redirect(`${pathOf(request)}/handover`, 303)
  })

  app.post(`${APPLICATION}/handover/withdraw`, async (request: OwnedRequest, reply) => {
    await withdrawOffer(deps, request.params.payment_id, actorOf(request))
    return reply.redirect(`${pathOf(request)}/handover`, 303)
  })

  app.post(`${APPLICATION}/handover/accept`, guarded, async (request: OwnedRequest, reply) => {
    await acceptOffer(deps, request.params.payment_id, actorOf(request))
    return reply.redirect(pathOf(request), 303)
  })

  app.post(`${APPLICATION}/handover/decline`, async (request: OwnedRequest, reply) => {
    await declineOffer(deps, request.params.payment_id, actorOf(request))
    return reply.redirect(APPLICATIONS, 303)
  })
}

async function showHandover(request: OwnedRequest, reply: FastifyReply, deps: Core, refused: Refused) {
  const { user } = sessionOf(request)
  const handover = await getHandover(deps, request.params.payment_id, user.id)
  const { payment_apps_min_trust_level } = await deps.settings.read()
  const data = { ...handover, user, neededTrustLevel: payment_apps_min_trust_level, refused }
  return reply.page('payment/apps/handover', data, { status: refused === undefined ? 200 : 400 })
}
