/** /account/applications: the applications that a member has authorised, their last use, and their revocation. It asks first. */
import type { FastifyInstance } from 'fastify'
import { namedGroupsOf } from '../accounts/people/users.ts'
import { describeDevice } from '../accounts/session/device.ts'
import { browserScope, requireUser, type Session, sessionOf } from '../accounts/session/session.ts'
import type { MandateConsents } from '../accounts/sign-in/mandate-consent.ts'
import type { Core } from '../core/core.ts'
import { AppError } from '../platform/errors.ts'
import { rowId } from '../web/lists.ts'
import { ownsApps } from './apps/acts.ts'
import {
  authorisedApp,
  authorisedApps,
  endSignIn,
  revokeAuthorisation,
  signInsOf,
} from './authorised-apps.ts'

const PAGE = '/account/applications'

type SignIn = Awaited<ReturnType<typeof signInsOf>>[number]

declare module '../web/views.ts' {
  interface PageData {
    'identity/authorised-apps': {
      user: Session['user']
      apps: Awaited<ReturnType<typeof authorisedApps>>
      signIns: (Omit<SignIn, 'agent'> & { device: string | undefined })[]
      customGroups: string[]
      ownsApps: boolean
      path: string
    }
  }
}

/** GET /account/applications, POST /account/applications/:client_id/revoke and …/sign-ins/:id/end. */
export async function authorisedAppPages(
  app: FastifyInstance,
  deps: Core & { mandateConsents: MandateConsents },
): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)
  const { db, clock, mandateConsents } = deps

  app.get(PAGE, async (request, reply) => {
    const { user } = sessionOf(request)
    const { id } = user
    const [apps, log] = await Promise.all([authorisedApps(db, id), signInsOf(db, id, clock())])
    const signIns = log.map(({ agent, ...one }) => ({
      ...one,
      device: agent === null ? undefined : describeDevice(agent, request.locale.t),
    }))
    const data = {
      user,
      apps,
      signIns,
      customGroups: namedGroupsOf(user),
      ownsApps: await ownsApps(db, id),
      path: PAGE,
    }
    return reply.page('identity/authorised-apps', data)
  })

  app.post<{ Params: { id: string } }>(`${PAGE}/sign-ins/:id/end`, async (request, reply) => {
    const { data: grant_id } = rowId.safeParse(request.params.id)
    if (grant_id === undefined) throw new AppError('not_found', 'There is no such sign-in')
    const { id: user_id } = sessionOf(request).user
    const { name } = await endSignIn(db, { user_id, grant_id, now: clock(), ip: request.ip })
    return reply.done(PAGE, { text: request.locale.t.authorised.signInEnded(name) })
  })

  app.post<{ Params: { client_id: string } }>(`${PAGE}/:client_id/revoke`, async (request, reply) => {
    const { client_id } = request.params
    const { id: user_id } = sessionOf(request).user
    const { t, points, time } = request.locale
    const { authorised: a } = t
    const app = await authorisedApp(db, { user_id, client_id, now: clock() })
    const { sure } = (request.body ?? {}) as Record<string, unknown>
    if (sure === '1') {
      const revocation = { user_id, client_id, now: clock(), ip: request.ip }
      const { sign_ins, mandates: ended } = await revokeAuthorisation(deps, revocation)
      const text = a.revoked(app.name, points(sign_ins), sign_ins)
      return reply.done(PAGE, {
        text: ended === 0 ? text : `${text} ${a.mandatesEnded(points(ended), ended)}`,
      })
    }
    const mandates = await mandateConsents.count(user_id, client_id)
    return reply.page('confirm', {
      title: a.sure(app.name),
      lead: a.sureText,
      facts: [
        { term: a.firstUsed, value: time(app.first_used_at) },
        { term: a.liveSignIns, value: points(app.sign_ins) },
        ...(mandates === 0 ? [] : [{ term: a.liveMandates, value: points(mandates) }]),
      ],
      notes: [...(mandates === 0 ? [] : [a.sureMandates]), a.sureCopies],
      action: `${PAGE}/${encodeURIComponent(client_id)}/revoke`,
      fields: { sure: '1' },
      button: a.revoke,
      isDanger: true,
      cancel: PAGE,
    })
  })
}
