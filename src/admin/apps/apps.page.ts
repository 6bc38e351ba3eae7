/** /admin/apps lists and shows OAuth applications. Administrators suspend and review them, and reset secrets. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { readAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import {
  countMembers,
  getApp,
  markReviewed,
  reinstateApp,
  reviewedVersion,
  searchApps,
  suspendApp,
} from '../../identity/apps/acts.ts'
import { liveSecrets, resetSecret } from '../../identity/apps/secrets.ts'
import { cursor, onePage, searchText } from '../../web/lists.ts'
import { actorOf, HISTORY_LINES, ReasonForm, TABLE_LINES } from '../acts/form.ts'
import { likeNamed } from './like-named.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'admin/apps/apps': {
      apps: Awaited<ReturnType<typeof searchApps>>
      q: string
      standing: string
      next: bigint | undefined
    }
    'admin/apps/app': {
      app: Awaited<ReturnType<typeof getApp>>
      secrets: Awaited<ReturnType<typeof liveSecrets>>
      members: Awaited<ReturnType<typeof countMembers>>
      history: Awaited<ReturnType<typeof readAudit>>
      alike: Awaited<ReturnType<typeof likeNamed>>
      isReasonMissing: boolean
      path: string
      seen: string
    }
  }
  interface PartData {
    'admin/apps/like-named': {
      app: { name: string; payment_id?: string; client_id?: string }
      alike: Awaited<ReturnType<typeof likeNamed>>
    }
  }
}

type OneApp = { Params: { client_id: string } }

const Search = z.object({
  q: searchText,
  standing: z.enum(['all', 'suspended', 'unreviewed']).catch('all'),
  before: cursor,
})

const ReviewForm = z.object({
  reviewed: z.enum(['yes', 'no']).catch('no'),
  seen: z.string().optional().catch(undefined),
})

/** Registers the pages. The caller's scope must require an administrator. */
export function appAdminPages(app: FastifyInstance, deps: Core): void {
  app.get('/admin/apps', async (request, reply) => {
    const { q, standing, before } = Search.parse(request.query)
    const found = await searchApps(deps.db, { text: q, standing, before }, TABLE_LINES + 1)
    const { rows: apps, next } = onePage(found, TABLE_LINES)
    return reply.page('admin/apps/apps', { apps, q, standing, next })
  })

  app.get<OneApp>('/admin/apps/:client_id', async (request, reply) => showApp(request, reply, deps))

  const page = (request: FastifyRequest) =>
    `/admin/apps/${(request as FastifyRequest<OneApp>).params.client_id}`
  const preHandler = requireFreshSignIn(deps, { page })
  for (const [act, verb] of [
    ['suspend', suspendApp],
    ['reinstate', reinstateApp],
  ] as const) {
    app.post<OneApp>(`/admin/apps/:client_id/${act}`, { preHandler }, async (request, reply) => {
      const form = ReasonForm.safeParse(request.body)
      if (!form.success) return showApp(request, reply, deps, { isReasonMissing: true })
      await verb(deps.db, { ...actBy(request, deps), reason: form.data.reason })
      return reply.redirect(`/admin/apps/${request.params.client_id}`, 303)
    })
  }

  app.post<OneApp>('/admin/apps/:client_id/review', async (request, reply) => {
    const { reviewed, seen } = ReviewForm.parse(request.body)
    await markReviewed(deps.db, { ...actBy(request, deps), isReviewed: reviewed === 'yes', seen })
    return reply.redirect(`/admin/apps/${request.params.client_id}`, 303)
  })

  app.post<OneApp>('/admin/apps/:client_id/reset-secret', { preHandler }, async (request, reply) => {
    const { client_id } = request.params
    const secret = await resetSecret(deps.db, actBy(request, deps))
    return reply.page('identity/apps/secret', {
      app: { client_id, ...secret },
      back: `/admin/apps/${client_id}`,
    })
  })
}

function actBy(request: FastifyRequest<OneApp>, deps: Core) {
  const { client_id } = request.params
  return { client_id, ...actorOf(request), now: deps.clock() }
}

async function showApp(
  request: FastifyRequest<OneApp>,
  reply: FastifyReply,
  { db, clock }: Core,
  { isReasonMissing = false } = {},
): Promise<FastifyReply> {
  const app = await getApp(db, { client_id: request.params.client_id })
  const [secrets, members, history, alike] = await Promise.all([
    liveSecrets(db, app.id, clock()),
    countMembers(db, app.id),
    readAudit(db, { subject: app.client_id, action: 'oauth_app' }, HISTORY_LINES),
    likeNamed(db, [app.name]),
  ])
  const path = `/admin/apps/${app.client_id}`
  const seen = reviewedVersion(app)
  const data = { app, secrets, members, history, alike, isReasonMissing, path, seen }
  return reply.page('admin/apps/app', data, { status: isReasonMissing ? 400 : 200 })
}
