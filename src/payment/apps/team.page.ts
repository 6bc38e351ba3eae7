/** …/team and …/invitation: the team of a payment application. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import { FormRefused, readForm } from '../../web/forms/forms.ts'
import { accessKeysOf } from '../access-keys/keys.ts'
import {
  APPLICATION,
  APPLICATIONS,
  actorOf,
  CONFIRMED,
  isConfirmed,
  Named,
  type OwnedRequest,
  pathOf,
  username,
} from '../rights/owned.ts'
import { getPermitted, type Permitted } from '../rights/rights.ts'
import { navFor } from './area.ts'
import {
  acceptInvitation,
  changeRole,
  declineInvitation,
  inviteMember,
  leaveTeam,
  removeMember,
  TEAM_MAX,
  TEAM_ROLES,
  teamOf,
  teamRole,
} from './team.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'payment/apps/team': {
      owned: Permitted
      nav: AreaNav
      team: Awaited<ReturnType<typeof teamOf>>
      roles: typeof TEAM_ROLES
    }
  }
}

/** One ticked box is sent as a text, several as a list. */
const Ticked = z.union([z.string().transform((key) => [key]), z.array(z.string())]).default([])
const Removal = Named.extend({ keys: Ticked })
const WithRole = z.object({ username, role: teamRole })

/** Registers the pages of a team within the scope of the merchant's pages. */
export function teamPages(app: FastifyInstance, deps: Core): void {
  // A role may include the keys, so giving one requires a recent sign-in.
  const guarded = { preHandler: requireFreshSignIn(deps) }

  app.get(`${APPLICATION}/team`, async (request: OwnedRequest, reply) => showTeam(request, reply, deps))

  app.post(`${APPLICATION}/team/invite`, guarded, async (request: OwnedRequest, reply) => {
    const form = readForm(request, WithRole)
    const fault = await inviteMember(deps, request.params.payment_id, form, actorOf(request))
    const { done, as, faults } = request.locale.t.team
    if (fault !== undefined) throw new FormRefused({ username: faults[fault](TEAM_MAX) })
    return reply.done(`${pathOf(request)}/team`, { text: done.invited(form.username, as[form.role]) })
  })

  app.post(`${APPLICATION}/team/role`, guarded, async (request: OwnedRequest, reply) => {
    const form = readForm(request, WithRole)
    await changeRole(deps, request.params.payment_id, form, actorOf(request))
    const { done, roles } = request.locale.t.team
    return reply.done(`${pathOf(request)}/team`, { text: done.changed(form.username, roles[form.role]) })
  })

  removalForms(app, deps)

  const invitation = { config: { page: APPLICATIONS } }
  app.post(`${APPLICATION}/invitation/accept`, invitation, async (request: OwnedRequest, reply) => {
    await acceptInvitation(deps, request.params.payment_id, actorOf(request))
    const { name, role } = await readable(request, deps)
    const { done, as } = request.locale.t.team
    return reply.done(pathOf(request), { text: done.joined(name, as[role]) })
  })

  app.post(`${APPLICATION}/invitation/decline`, invitation, async (request: OwnedRequest, reply) => {
    await declineInvitation(deps, request.params.payment_id, actorOf(request))
    return reply.done(APPLICATIONS, { text: request.locale.t.team.done.declined })
  })
}

/** The forms that end a member's role. Both ask first. */
function removalForms(app: FastifyInstance, deps: Core): void {
  app.post(`${APPLICATION}/team/remove`, async (request: OwnedRequest, reply) => {
    const { username, keys } = readForm(request, Removal)
    const { t } = request.locale
    if (isConfirmed(request)) {
      const removed = await removeMember(
        deps,
        request.params.payment_id,
        { username, keys },
        actorOf(request),
      )
      const { done } = t.team
      const text = removed === 'member' ? done.removed(username) : done.withdrawn(username)
      return reply.done(`${pathOf(request)}/team`, { text })
    }
    const { user } = sessionOf(request)
    const owned = await getPermitted(deps.db, request.params.payment_id, user.id, 'team.manage')
    const member = (await teamOf(deps.db, owned.id)).find((each) => each.username === username)
    if (member === undefined) throw new AppError('not_found', 'The team has no member with this name')
    const isInvited = member.accepted_at === null
    const made = (await accessKeysOf(deps.db, owned.id, deps.clock())).filter(
      ({ created_by, expires_at }) => created_by === member.id && expires_at > deps.clock(),
    )
    const { ask } = t.team
    return reply.page('confirm', {
      title: isInvited ? ask.withdraw(username) : ask.remove(username),
      shop: owned.name,
      lead: owned.name,
      facts: [{ term: t.team.role, value: t.team.roles[member.role] }],
      notes: isInvited
        ? [ask.withdrawNote]
        : [ask.removeNote, ...(member.role === 'manager' ? [t.team.knowsKeys] : [])],
      action: `${pathOf(request)}/team/remove`,
      fields: { username, ...CONFIRMED },
      boxes:
        made.length === 0
          ? undefined
          : {
              ...t.accessKeys.removed,
              name: 'keys',
              choices: made.map(({ public_id, name }) => ({
                value: public_id,
                label: `${name} · ${public_id}`,
              })),
            },
      button: isInvited ? t.team.withdraw : t.team.remove,
      isDanger: true,
      cancel: `${pathOf(request)}/team`,
    })
  })

  app.post(`${APPLICATION}/team/leave`, async (request: OwnedRequest, reply) => {
    const { t } = request.locale
    if (isConfirmed(request)) {
      await leaveTeam(deps, request.params.payment_id, actorOf(request))
      return reply.done(APPLICATIONS, { text: t.team.done.left })
    }
    const owned = await readable(request, deps)
    return reply.page('confirm', {
      title: t.team.ask.leave(owned.name),
      lead: t.team.ask.leaveNote,
      facts: [{ term: t.team.yourRole, value: t.team.roles[owned.role] }],
      notes: [],
      action: `${pathOf(request)}/team/leave`,
      fields: { ...CONFIRMED },
      button: t.team.leave,
      isDanger: true,
      cancel: `${pathOf(request)}/team`,
    })
  })
}

function readable(request: OwnedRequest, { db }: Core): Promise<Permitted> {
  return getPermitted(db, request.params.payment_id, sessionOf(request).user.id, 'application.read')
}

async function showTeam(request: OwnedRequest, reply: FastifyReply, deps: Core) {
  const owned = await readable(request, deps)
  const data = {
    owned,
    nav: await navFor(deps, request, owned),
    team: await teamOf(deps.db, owned.id),
    roles: TEAM_ROLES,
  }
  return reply.page('payment/apps/team', data)
}
