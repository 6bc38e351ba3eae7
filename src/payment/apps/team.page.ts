/** The team of a payment application and its change of hands: …/team, …/invitation and …/handover. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import { actorOf, freshSignIn, type OwnedRequest, pathOf } from '../rights/owned.ts'
import { getPermitted } from '../rights/rights.ts'
import {
  acceptOffer,
  declineOffer,
  getHandover,
  type OfferFault,
  offerApplication,
  withdrawOffer,
} from './handover.ts'
import {
  acceptInvitation,
  changeRole,
  declineInvitation,
  type InviteFault,
  inviteMember,
  leaveTeam,
  removeMember,
  TEAM_MAX,
  TEAM_ROLES,
  teamOf,
  teamRole,
} from './team.ts'

const APPLICATIONS = '/payment/applications'
const APPLICATION = `${APPLICATIONS}/:payment_id`

const username = z.string().trim().min(1).max(100)
const Named = z.object({ username })
const WithRole = z.object({ username, role: teamRole })

/** Within the scope of the merchant's pages. */
export function teamPages(app: FastifyInstance, deps: Core): void {
  // Whoever gives a role away gives the keys away with it.
  const guarded = freshSignIn(deps, '/team')

  app.get(`${APPLICATION}/team`, async (request: OwnedRequest, reply) =>
    showTeam(request, reply, deps, undefined),
  )

  app.post(`${APPLICATION}/team/invite`, guarded, async (request: OwnedRequest, reply) => {
    const form = formOf(WithRole, request)
    const fault = await inviteMember(deps, request.params.payment_id, form, actorOf(request))
    if (fault !== undefined) return showTeam(request, reply, deps, { fault, username: form.username })
    return reply.redirect(`${pathOf(request)}/team`, 303)
  })

  app.post(`${APPLICATION}/team/role`, guarded, async (request: OwnedRequest, reply) => {
    await changeRole(deps, request.params.payment_id, formOf(WithRole, request), actorOf(request))
    return reply.redirect(`${pathOf(request)}/team`, 303)
  })

  app.post(`${APPLICATION}/team/remove`, async (request: OwnedRequest, reply) => {
    const { username } = formOf(Named, request)
    await removeMember(deps, request.params.payment_id, username, actorOf(request))
    return reply.redirect(`${pathOf(request)}/team`, 303)
  })

  app.post(`${APPLICATION}/team/leave`, async (request: OwnedRequest, reply) => {
    await leaveTeam(deps, request.params.payment_id, actorOf(request))
    return reply.redirect(APPLICATIONS, 303)
  })

  app.post(`${APPLICATION}/invitation/accept`, async (request: OwnedRequest, reply) => {
    await acceptInvitation(deps, request.params.payment_id, actorOf(request))
    return reply.redirect(pathOf(request), 303)
  })

  app.post(`${APPLICATION}/invitation/decline`, async (request: OwnedRequest, reply) => {
    await declineInvitation(deps, request.params.payment_id, actorOf(request))
    return reply.redirect(APPLICATIONS, 303)
  })

  handoverPages(app, deps)
}

function handoverPages(app: FastifyInstance, deps: Core): void {
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

function formOf<T>(form: z.ZodType<T>, { body }: FastifyRequest): T {
  const filled = form.safeParse(body)
  if (!filled.success) throw new AppError('invalid_form', 'A member, or what they may do, is missing')
  return filled.data
}

async function showTeam(
  request: OwnedRequest,
  reply: FastifyReply,
  deps: Core,
  refused: { fault: InviteFault; username: string } | undefined,
) {
  const { user } = sessionOf(request)
  const owned = await getPermitted(deps.db, request.params.payment_id, user.id, 'application.read')
  const data = {
    owned,
    team: await teamOf(deps.db, owned.id),
    roles: TEAM_ROLES,
    teamMax: TEAM_MAX,
    refused,
  }
  return reply.page('payment/apps/team', data, { status: refused === undefined ? 200 : 400 })
}

async function showHandover(
  request: OwnedRequest,
  reply: FastifyReply,
  deps: Core,
  refused: { fault: OfferFault; username: string } | undefined,
) {
  const { user } = sessionOf(request)
  const handover = await getHandover(deps, request.params.payment_id, user.id)
  const { payment_apps_min_trust_level } = await deps.settings.read()
  const data = { ...handover, neededTrustLevel: payment_apps_min_trust_level, refused }
  return reply.page('payment/apps/handover', data, { status: refused === undefined ? 200 : 400 })
}
