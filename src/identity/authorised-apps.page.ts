/** /account/applications: the applications that a member has authorised, their last use, and their revocation. */
import type { FastifyInstance } from 'fastify'
import { namedGroupsOf } from '../accounts/people/users.ts'
import { describeDevice } from '../accounts/session/device.ts'
import { browserScope, requireUser, type Session, sessionOf } from '../accounts/session/session.ts'
import type { Core } from '../core/core.ts'
import { authorisedApps, revokeAuthorisation, signInsOf } from './authorised-apps.ts'

type SignIn = Awaited<ReturnType<typeof signInsOf>>[number]

declare module '../web/views.ts' {
  interface PageData {
    'identity/authorised-apps': {
      user: Session['user']
      apps: Awaited<ReturnType<typeof authorisedApps>>
      signIns: (Omit<SignIn, 'agent'> & { device: string | undefined })[]
      isRevoked: boolean
      customGroups: string[]
      path: string
    }
  }
}

/** GET /account/applications and POST /account/applications/:client_id/revoke. */
export async function authorisedAppPages(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)
  const { db, clock } = deps

  app.get('/account/applications', async (request, reply) => {
    const { revoked } = request.query as Record<string, unknown>
    const { user } = sessionOf(request)
    const { id } = user
    const [apps, log] = await Promise.all([authorisedApps(db, id), signInsOf(db, id, clock())])
    const signIns = log.map(({ agent, ...one }) => ({
      ...one,
      device: agent === null ? undefined : describeDevice(agent, request.locale.t),
    }))
    const isRevoked = revoked === '1'
    const data = {
      user,
      apps,
      signIns,
      isRevoked,
      customGroups: namedGroupsOf(user),
      path: '/account/applications',
    }
    return reply.page('identity/authorised-apps', data)
  })

  app.post<{ Params: { client_id: string } }>(
    '/account/applications/:client_id/revoke',
    async (request, reply) => {
      const { client_id } = request.params
      const { id: user_id } = sessionOf(request).user
      await revokeAuthorisation(db, { user_id, client_id, now: clock(), ip: request.ip })
      return reply.redirect('/account/applications?revoked=1', 303)
    },
  )
}
