/** /admin/apps lists and shows OAuth applications. Administrators suspend and review them, and reset secrets. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { actorOf } from '../../accounts/session/session.ts'
import { readAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import type { Counts } from '../../database/counts.ts'
import { HISTORY_LINES, TABLE_LINES } from '../../database/paging.ts'
import {
  APP_STATUSES,
  type AppStatus,
  countApps,
  countMembers,
  getApp,
  markReviewed,
  reinstateApp,
  reviewedVersion,
  searchApps,
  suspendApp,
} from '../../identity/apps/acts.ts'
import { newSecretPage, showNewSecret } from '../../identity/apps/new-secret.page.ts'
import { liveSecrets, resetSecret } from '../../identity/apps/secrets.ts'
import { linkedPaymentApp, type Other } from '../../shops/links.ts'
import { readForm } from '../../web/forms/forms.ts'
import { Confirmed, ReasonForm } from '../../web/forms/reason.ts'
import { cursor, onePage, searchText } from '../../web/lists.ts'
import { inWords, type WordedEntry } from '../wording/audit-words.ts'
import { likeNamed } from './like-named.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'admin/apps/apps': {
      apps: Awaited<ReturnType<typeof searchApps>>
      q: string
      status: string
      counts: Counts<AppStatus>
      next: bigint | undefined
    }
    'admin/apps/app': {
      app: Awaited<ReturnType<typeof getApp>>
      /** Its name; for a client that is known by its document the one that it gives itself. */
      called: string
      secrets: Awaited<ReturnType<typeof liveSecrets>>
      members: Awaited<ReturnType<typeof countMembers>>
      history: WordedEntry[]
      /** The payment application that is one shop with it. */
      link: Other | undefined
      alike: Awaited<ReturnType<typeof likeNamed>>
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
  status: z.enum(APP_STATUSES).catch('all'),
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
    const { q, status, before } = Search.parse(request.query)
    const [found, counts] = await Promise.all([
      searchApps(deps.db, { text: q, status, before }, TABLE_LINES + 1),
      q === '' ? countApps(deps.db) : {},
    ])
    const { rows: apps, next } = onePage(found, TABLE_LINES)
    return reply.page('admin/apps/apps', { apps, q, status, counts, next })
  })

  app.get<OneApp>('/admin/apps/:client_id', async (request, reply) => showApp(request, reply, deps))

  const preHandler = requireFreshSignIn(deps)
  for (const [act, verb] of [
    ['suspend', suspendApp],
    ['reinstate', reinstateApp],
  ] as const) {
    app.post<OneApp>(`/admin/apps/:client_id/${act}`, { preHandler }, async (request, reply) => {
      const { reason, confirmed } = readForm(request, ActForm)
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
    const { confirmed } = readForm(request, ResetForm)
    if (confirmed === undefined) return confirmReset(request, reply, deps)
    const secret = await resetSecret(deps.db, actBy(request, deps))
    return showNewSecret(reply, deps, {
      page: `${pathOf({ client_id })}/new-secret`,
      secret: { client_secret: secret.client_secret },
      done: { text: request.locale.t.registry.newSecret('') },
    })
  })

  app.get<OneApp>('/admin/apps/:client_id/new-secret', async (request, reply) => {
    const app = await getApp(deps.db, request.params)
    return newSecretPage(reply, deps, { app, back: pathOf(app), isOwn: false })
  })
}

/** The page of an application. A client_id may be an address. */
function pathOf({ client_id }: { client_id: string }): string {
  return `/admin/apps/${encodeURIComponent(client_id)}`
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
  return reply.done(pathOf(params), { text })
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
  const page = pathOf(app)
  return reply.page('confirm', {
    title: m.suspendQuestion(app.name),
    lead: app.owner_username === null ? m.suspendUnowned : m.suspendText,
    facts: [
      ...ownerFact(app, m.owner),
      { term: m.membersNow, value: isMore ? `${locale.points(count)}+` : locale.points(count) },
    ],
    notes: [`${t.common.reason}${t.common.colon}${reason}`],
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
  const page = pathOf(app)
  return reply.page('confirm', {
    title: m.resetQuestion(app.name),
    lead: m.resetText,
    facts: [
      ...ownerFact(app, m.owner),
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

/** Reads the newest acts on an application. What its document did is recorded apart from what people did. */
async function historyOf(
  db: Core['db'],
  { client_id: subject, document }: { client_id: string; document: object | null },
) {
  const areas = document === null ? ['oauth_app'] : ['oauth_app', 'oauth_client']
  const found = await Promise.all(areas.map((action) => readAudit(db, { subject, action }, HISTORY_LINES)))
  return found
    .flat()
    .toSorted((a, b) => Number(b.id - a.id))
    .slice(0, HISTORY_LINES)
}

function ownerFact({ owner_username }: { owner_username: string | null }, term: string) {
  return owner_username === null ? [] : [{ term, value: `@${owner_username}` }]
}

async function showApp(
  request: FastifyRequest<OneApp>,
  reply: FastifyReply,
  { db, clock }: Core,
): Promise<FastifyReply> {
  const app = await getApp(db, { client_id: request.params.client_id })
  const called = app.document?.client_name ?? app.name
  const [secrets, members, found, link, alike] = await Promise.all([
    liveSecrets(db, app.id, clock()),
    countMembers(db, app.id),
    historyOf(db, app),
    linkedPaymentApp(db, app.id),
    likeNamed(db, [{ id: app.client_id, name: called, owner_id: app.owner_id }]),
  ])
  const path = pathOf(app)
  const seen = reviewedVersion(app)
  const history = await inWords(db, request.locale, found)
  return reply.page('admin/apps/app', { app, called, secrets, members, history, link, alike, path, seen })
}
