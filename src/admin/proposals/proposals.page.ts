/** /admin/proposals: what waits for a second administrator, and what became of earlier proposals. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { AppError } from '../../platform/errors.ts'
import { cursor, listUrl } from '../../web/lists.ts'
import { approveProposal, declineProposal, readProposals } from './proposals.ts'

const PATH = '/admin/proposals'
const PAGE_LINES = 25

const Asked = z.object({ show: z.enum(['open', 'all']).catch('open'), before: cursor })
const Numbered = z.object({
  id: z
    .string()
    .regex(/^\d{1,18}$/)
    .transform(BigInt),
})
const ReasonForm = z.object({
  reason: z.string().trim().min(1, 'Say why').max(500, 'At most 500 characters'),
})

/** Below requireAdmin. */
export function proposalPages(app: FastifyInstance, deps: Core): void {
  app.get(PATH, async (request, reply) => {
    const { show, before } = Asked.parse(request.query)
    const found = await readProposals(deps.db, { isOpen: show === 'open', before }, PAGE_LINES + 1)
    const proposals = found.slice(0, PAGE_LINES)
    const isMore = found.length > PAGE_LINES
    const older = isMore ? listUrl(PATH, { show, before: proposals.at(-1)!.id }) : undefined
    const newest = listUrl(PATH, { show })
    return reply.page('admin/proposals', { proposals, show, older, before, newest, now: deps.clock() })
  })

  const preHandler = requireFreshSignIn(deps, { page: PATH })
  app.post(`${PATH}/:id/approve`, { preHandler }, async (request, reply) => {
    await approveProposal(deps, idOf(request), actorOf(request))
    return reply.redirect(`${PATH}?show=all`, 303)
  })
  app.post(`${PATH}/:id/decline`, { preHandler }, async (request, reply) => {
    const form = ReasonForm.safeParse(request.body)
    if (!form.success) throw new AppError('invalid_form', form.error.issues[0]!.message)
    await declineProposal(deps, idOf(request), { ...actorOf(request), reason: form.data.reason })
    return reply.redirect(`${PATH}?show=all`, 303)
  })
}

function idOf(request: FastifyRequest): bigint {
  const params = Numbered.safeParse(request.params)
  if (!params.success) throw new AppError('not_found', 'There is no such proposal')
  return params.data.id
}

function actorOf(request: FastifyRequest) {
  return { actor_id: sessionOf(request).user.id, ip: request.ip }
}
