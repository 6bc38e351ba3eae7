/** /account/data: a member exports the data of the account, or closes the account. */
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { PROFILE, requireFreshSignIn } from '../accounts/session/reauthentication.ts'
import {
  browserScope,
  endSession,
  requireUser,
  type Session,
  sessionOf,
} from '../accounts/session/session.ts'
import type { Core } from '../core/core.ts'
import { readForm } from '../web/forms/forms.ts'
import { anonymise, obstaclesOf, REFUNDABLE_DAYS, whatEnds } from './anonymise.ts'
import { exportMember, recordExport } from './export.ts'

const PAGE = '/account/data'

const points = z
  .string()
  .regex(/^\d{1,16}$/)
  .transform(BigInt)
const CloseForm = z.object({
  /** The points that the page showed, if the member gives them up. */
  give_up: points.optional(),
  /** The member's own name, typed on the second page. */
  username: z.string().trim().optional(),
})

declare module '../web/views.ts' {
  interface PageData {
    'privacy/own-data': Awaited<ReturnType<typeof obstaclesOf>> & { days: number }
    'privacy/close-account': {
      user: Session['user']
      give_up: bigint
      figures: Awaited<ReturnType<typeof whatEnds>>
      /** A wrong name, which the page asked for. */
      typed: string | undefined
    }
  }
}

/** GET /account/data, and its two acts. Both need a fresh sign-in, and closing the account needs a second page. */
export async function privacyPages(app: FastifyInstance, deps: Core): Promise<void> {
  browserScope(app, deps)
  app.addHook('preHandler', requireUser)
  app.addHook('preHandler', requireFreshSignIn(deps, { back: PROFILE }))

  app.get(PAGE, async (request, reply) => {
    const found = await obstaclesOf(deps.db, sessionOf(request).user.id, deps.clock())
    return reply.page('privacy/own-data', { ...found, days: REFUNDABLE_DAYS })
  })

  app.post(`${PAGE}/export`, async (request, reply) => {
    const { id: user_id } = sessionOf(request).user
    await deps.limits.hit('exports', user_id.toString())
    await recordExport(deps, { user_id, actor_id: user_id, ip: request.ip })
    return reply
      .type('application/json; charset=utf-8')
      .header('content-disposition', `attachment; filename="tessera-${user_id}.json"`)
      .header('cache-control', 'no-store')
      .send(Readable.from(exportMember(deps, user_id)))
  })

  app.post(`${PAGE}/close`, async (request, reply) => close(request, reply, deps))
}

/** Shows the page that explains the consequences. With the username typed there, it closes the account. */
async function close(request: FastifyRequest, reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  const { user } = sessionOf(request)
  const { id: user_id, username } = user
  const { give_up = 0n, username: typed } = readForm(request, CloseForm)
  if (typed?.toLowerCase() !== username.toLowerCase()) {
    const figures = await whatEnds(deps.db, user_id, deps.clock())
    return reply.page(
      'privacy/close-account',
      { user, give_up, figures, typed },
      { status: typed === undefined ? 200 : 400 },
    )
  }
  await anonymise(deps, { user_id, actor_id: user_id, reason: 'By the member', ip: request.ip, give_up })
  await endSession(request, reply, deps)
  request.session = undefined
  return reply.page('accounts/security/message', { message: 'accountClosed' })
}
