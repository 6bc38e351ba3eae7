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
import { actorOf, Confirmed, HISTORY_LINES, ReasonForm, readForm, TABLE_LINES } from '../acts/form.ts'
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
  standing: z.enum(['all', 'suspended', 'unreviewed', 'unconfirmed']).catch('all'),
  before: cursor,
})

const ActForm = ReasonForm.extend({ confirmed: Confirmed })
const ResetForm = z.object({ confirmed: Confirmed })

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
      const form = ActForm.safeParse(request.body)
      if (!form.success) return showApp(request, reply, deps, { isReasonMissing: true })
      const { reason, confirmed } = form.data
      if (act === 'suspend' && confirmed === undefined) return confirmSuspension(request, reply, deps, reason)
      await verb(deps.db, { ...actBy(request, deps), reason })
      return reportOn(request, reply, deps, act)
    })
  }

  app.post<OneApp>('/admin/apps/:client_id/review', async (request, reply) => {
    const { reviewed, seen } = ReviewForm.parse(request.body)
    await markReviewed(deps.db, { ...actBy(request, deps), isReviewed: reviewed === 'yes', seen })
    return reportOn(request, reply, deps, reviewed === 'yes' ? 'mark' : 'unmark')
  })

  app.post<OneApp>('/admin/apps/:client_id/reset-secret', { preHandler }, async (request, reply) => {
    const { client_id } = request.params
    const { confirmed } = readForm(ResetForm, request.body)
    if (confirmed === undefined) return confirmReset(request, reply, deps)
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

/** Leads back to the application, and says what was done. */
async function reportOn(
  { params, locale }: FastifyRequest<OneApp>,
  reply: FastifyReply,
  { db }: Core,
  act: 'suspend' | 'reinstate' | 'mark' | 'unmark',
): Promise<FastifyReply> {
  const { name, owner_username } = await getApp(db, params)
  const text = locale.t.registeredApps.done[act](name, owner_username)
  return reply.done(`/admin/apps/${params.client_id}`, { text })
}

/** Says how many members a suspension concerns before it takes effect. */
async function confirmSuspension(
  { params, locale }: FastifyRequest<OneApp>,
  reply: FastifyReply,
  { db }: Core,
  reason: string,
): Promise<FastifyReply> {
  const { t } = locale
  const m = t.registeredApps
  const app = await getApp(db, params)
  const { count, isMore } = await countMembers(db, app.id)
  const page = `/admin/apps/${app.client_id}`
  return reply.page('confirm', {
    title: m.suspendQuestion(app.name),
    lead: m.suspendText,
    facts: [
      { term: m.owner, value: `@${app.owner_username}` },
      { term: m.membersNow, value: isMore ? `${locale.points(count)}+` : locale.points(count) },
    ],
    notes: [`${t.common.reason}: ${reason}`],
    action: `${page}/suspend`,
    fields: { reason, confirmed: 'yes' },
    button: m.suspend,
    isDanger: true,
    cancel: page,
  })
}

/** Says which secrets a reset ends. */
async function confirmReset(
  { params, locale }: FastifyRequest<OneApp>,
  reply: FastifyReply,
  { db, clock }: Core,
): Promise<FastifyReply> {
  const m = locale.t.registeredApps
  const app = await getApp(db, params)
  const secrets = await liveSecrets(db, app.id, clock())
  const page = `/admin/apps/${app.client_id}`
  return reply.page('confirm', {
    title: m.resetQuestion(app.name),
    lead: m.resetText,
    facts: [
      { term: m.owner, value: `@${app.owner_username}` },
      { term: m.secretsEnding, value: locale.points(secrets.length), tone: 'bad' },
    ],
    notes: [],
    action: `${page}/reset-secret`,
    fields: { confirmed: 'yes' },
    button: m.reset,
    isDanger: true,
    cancel: page,
  })
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
