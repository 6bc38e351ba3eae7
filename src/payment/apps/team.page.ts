/** …/team and …/invitation: the team of a payment application. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { sessionOf } from '../../accounts/session/session.ts'
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
  username,
} from '../rights/owned.ts'
import { getPermitted, type Permitted } from '../rights/rights.ts'
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

type Refused = { fault: InviteFault; username: string } | undefined

declare module '../../web/views.ts' {
  interface PageData {
    'payment/apps/team': {
      owned: Permitted
      team: Awaited<ReturnType<typeof teamOf>>
      roles: typeof TEAM_ROLES
      teamMax: number
      refused: Refused
    }
  }
}

const WithRole = z.object({ username, role: teamRole })

/** Registers the pages of a team within the scope of the merchant's pages. */
export function teamPages(app: FastifyInstance, deps: Core): void {
  // A role may include the keys, so giving one requires a recent sign-in.
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
}

async function showTeam(request: OwnedRequest, reply: FastifyReply, deps: Core, refused: Refused) {
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
