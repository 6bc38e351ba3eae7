/** /admin/proposals lists the proposals that wait for a second administrator, and the decided ones. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { type Session, sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { PAGE_LINES } from '../../database/looking-back.ts'
import { cursor, listUrl, olderUrl, onePage } from '../../web/lists.ts'
import { actorOf, idIn, ReasonForm, readForm } from '../acts/form.ts'
import { approveProposal, declineProposal, readProposals } from './proposals.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'admin/proposals/proposals': PartData['parts/pager'] & {
      user: Session['user']
      proposals: Awaited<ReturnType<typeof readProposals>>
      show: 'open' | 'all'
      now: Date
    }
  }
}

const PATH = '/admin/proposals'

const Asked = z.object({ show: z.enum(['open', 'all']).catch('open'), before: cursor })
type OneProposal = FastifyRequest<{ Params: { id: string } }>

/** Registers the pages. The caller's scope must require an administrator. */
export function proposalPages(app: FastifyInstance, deps: Core): void {
  app.get(PATH, async (request, reply) => {
    const { show, before } = Asked.parse(request.query)
    const found = await readProposals(deps.db, { isOpen: show === 'open', before }, PAGE_LINES + 1)
    const { rows: proposals, next } = onePage(found, PAGE_LINES)
    const older = olderUrl(PATH, { show }, next)
    const newest = listUrl(PATH, { show })
    const { user } = sessionOf(request)
    const data = { user, proposals, show, older, before, newest, now: deps.clock() }
    return reply.page('admin/proposals/proposals', data)
  })

  const preHandler = requireFreshSignIn(deps, { page: PATH })
  app.post(`${PATH}/:id/approve`, { preHandler }, async (request: OneProposal, reply) => {
    await approveProposal(deps, idOf(request), actorOf(request))
    return reply.redirect(`${PATH}?show=all`, 303)
  })
  app.post(`${PATH}/:id/decline`, { preHandler }, async (request: OneProposal, reply) => {
    const { reason } = readForm(ReasonForm, request.body)
    await declineProposal(deps, idOf(request), { ...actorOf(request), reason })
    return reply.redirect(`${PATH}?show=all`, 303)
  })
}

function idOf({ params }: OneProposal): bigint {
  return idIn(params.id, 'proposal')
}
