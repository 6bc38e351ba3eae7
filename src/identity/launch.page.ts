/** GET /launch: the applications that a member can open. */
import type { FastifyInstance } from 'fastify'
import { browserScope, requireUser, sessionOf } from '../accounts/session/session.ts'
import type { Core } from '../core/core.ts'
import { type LaunchApp, launchApps } from './launch.ts'

declare module '../web/views.ts' {
  interface PageData {
    'identity/launch': { used: LaunchApp[]; listed: LaunchApp[] }
  }
  interface PartData {
    'identity/launch-cards': { apps: LaunchApp[] }
  }
}

/** GET /launch, for members. */
export async function launchPage(app: FastifyInstance, { db, clock, ...deps }: Core): Promise<void> {
  browserScope(app, { db, clock, ...deps })
  app.addHook('preHandler', requireUser)
  app.get('/launch', async (request, reply) =>
    reply.page('identity/launch', await launchApps(db, sessionOf(request).user, clock())),
  )
}
