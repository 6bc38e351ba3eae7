/** …/handover: an owner offers the application to another member, who accepts or declines. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { findUserByUsername } from '../../accounts/people/users.ts'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { type Session, sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import {
  APPLICATION,
  APPLICATIONS,
  actorOf,
  CONFIRMED,
  isConfirmed,
  Named,
  type OwnedRequest,
  pathOf,
} from '../rights/owned.ts'
import { getPermitted } from '../rights/rights.ts'
import { navFor } from './area.ts'
import {
  acceptOffer,
  declineOffer,
  getHandover,
  offerApplication,
  offerFault,
  withdrawOffer,
} from './handover.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'payment/apps/handover': Awaited<ReturnType<typeof getHandover>> & {
      user: Session['user']
      nav: AreaNav | undefined
      neededTrustLevel: number
    }
  }
}

/** Registers the pages of a handover within the scope of the merchant's pages. */
export function handoverPages(app: FastifyInstance, deps: Core): void {
  const guarded = { preHandler: requireFreshSignIn(deps) }

  app.get(`${APPLICATION}/handover`, async (request: OwnedRequest, reply) =>
    showHandover(request, reply, deps),
  )

  app.post(`${APPLICATION}/handover/offer`, guarded, async (request: OwnedRequest, reply) => {
    const { username } = readForm(request, Named)
    const { payment_id } = request.params
    const isAsked = isConfirmed(request)
    const offer = isAsked ? offerApplication : offerFault
    const fault = await offer(deps, payment_id, username, actorOf(request))
    if (fault !== undefined) {
      const { payment_apps_min_trust_level } = await deps.settings.read()
      const { faults } = request.locale.t.team.handover
      const { trust_level = 0 } = (await findUserByUsername(deps.db, username)) ?? {}
      throw new FormRefused({
        username: faults[fault](payment_apps_min_trust_level, { username, trust_level }),
      })
    }
    if (!isAsked) return askFirst(request, reply, deps, username)
    const text = request.locale.t.team.handover.done.offered(username)
    return reply.done(`${pathOf(request)}/handover`, { text })
  })

  app.post(`${APPLICATION}/handover/withdraw`, async (request: OwnedRequest, reply) => {
    await withdrawOffer(deps, request.params.payment_id, actorOf(request))
    const text = request.locale.t.team.handover.done.withdrawn
    return reply.done(`${pathOf(request)}/handover`, { text })
  })

  app.post(`${APPLICATION}/handover/accept`, guarded, async (request: OwnedRequest, reply) => {
    const { payment_id } = request.params
    await acceptOffer(deps, payment_id, actorOf(request))
    const { name } = await getPermitted(deps.db, payment_id, sessionOf(request).user.id, 'keys.manage')
    const { t } = request.locale
    return reply.done(pathOf(request), {
      text: t.team.handover.done.accepted(name),
      link: { href: `${pathOf(request)}/developers`, label: t.developers.rotate },
      tone: 'warn',
    })
  })

  app.post(`${APPLICATION}/handover/decline`, async (request: OwnedRequest, reply) => {
    const { payment_id } = request.params
    const { app: offered } = await getHandover(deps, payment_id, sessionOf(request).user.id)
    await declineOffer(deps, payment_id, actorOf(request))
    const text = request.locale.t.team.handover.done.declined(offered.name)
    return reply.done(APPLICATIONS, { text })
  })
}

async function askFirst(request: OwnedRequest, reply: FastifyReply, deps: Core, username: string) {
  const { payment_id } = request.params
  const user_id = sessionOf(request).user.id
  const { name } = await getPermitted(deps.db, payment_id, user_id, 'application.hand_over')
  const { unsoldCodes } = await getHandover(deps, payment_id, user_id)
  const { handover } = request.locale.t.team
  return reply.page('confirm', {
    title: handover.ask.title(name, username),
    lead: handover.lead,
    facts: [
      { term: handover.ask.owner, value: `@${username}` },
      { term: handover.ask.answer, value: handover.ask.days },
      ...(unsoldCodes > 0n ? [{ term: handover.ask.codes, value: request.locale.points(unsoldCodes) }] : []),
    ],
    notes: handover.consequences,
    action: `${pathOf(request)}/handover/offer`,
    fields: { username, ...CONFIRMED },
    button: handover.offer,
    isDanger: true,
    cancel: `${pathOf(request)}/handover`,
  })
}

async function showHandover(request: OwnedRequest, reply: FastifyReply, deps: Core) {
  const { user } = sessionOf(request)
  const handover = await getHandover(deps, request.params.payment_id, user.id)
  const { payment_apps_min_trust_level } = await deps.settings.read()
  // A member to whom the application is offered has no role in it yet, and so no other page of it.
  const nav = handover.isMine ? await navFor(deps, request, handover.app) : undefined
  const data = { ...handover, user, nav, neededTrustLevel: payment_apps_min_trust_level }
  return reply.page('payment/apps/handover', data)
}
