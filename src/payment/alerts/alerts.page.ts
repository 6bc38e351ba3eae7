/** /account/alerts: what a member was told of payment applications, and what of it is new to them. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { browserScope, requireUser, sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { cursor, listUrl } from '../../web/lists.ts'
import { markRead, placeOf, readAlerts } from './alerts.ts'

const PAGE = '/account/alerts'
const PAGE_LINES = 25

declare module '../../web/views.ts' {
  interface PageData {
    'payment/alerts/alerts': PartData['parts/pager'] & {
      alerts: (Awaited<ReturnType<typeof readAlerts>>[number] & { place: string })[]
    }
  }
}

const Asked = z.object({ before: cursor })
const ReadForm = z.object({ up_to: cursor })

/** GET the list, and POST …/read. */
export async function alertPages(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)

  app.get(PAGE, async (request, reply) => {
    const { before } = Asked.parse(request.query)
    const { user } = sessionOf(request)
    const found = await readAlerts(deps.db, user.id, { before, limit: PAGE_LINES + 1 })
    const alerts = found.slice(0, PAGE_LINES).map((alert) => ({ ...alert, place: placeOf(alert) }))
    const isMore = found.length > PAGE_LINES
    return reply.page('payment/alerts/alerts', {
      alerts,
      before,
      newest: PAGE,
      older: isMore ? listUrl(PAGE, { before: alerts.at(-1)!.id }) : undefined,
    })
  })

  app.post(`${PAGE}/read`, async (request, reply) => {
    const { up_to } = ReadForm.parse(request.body)
    const { user } = sessionOf(request)
    if (up_to !== undefined)
      await markRead(deps.db, user.id, { upTo: up_to, now: deps.clock(), ip: request.ip })
    return reply.redirect(PAGE, 303)
  })
}
