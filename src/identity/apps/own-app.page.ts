/**
 * /apps/:client_id: the owner edits one application, its group rules and its secrets, reads its history, and deletes it. Other
 * members get not_found.
 */
import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { sessionOf } from '../../accounts/session/session.ts'
import { readAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import { countMembers, deleteApp, getApp, updateApp } from './acts.ts'
import { type Admission, previewAdmission } from './admission.ts'
import { AppForm } from './apps.ts'
import { type Problems, readAppForm, type Typed, typedFrom } from './form.ts'
import type { Owned } from './lock.ts'
import {
  addSecret,
  endSecret,
  LIVE_SECRETS_MAX,
  liveSecrets,
  OVERLAP_HOURS,
  OVERLAP_HOURS_DEFAULT,
} from './secrets.ts'

const HISTORY_LINES = 20

type OneApp = { Params: { client_id: string } }
type OneSecret = { Params: { client_id: string; fingerprint: string } }

const NewSecretForm = z.object({
  client_secret: z.string().min(1).max(200),
  overlap_hours: z.coerce.number().refine((hours) => OVERLAP_HOURS.includes(hours)),
})

/** Fields that decide where codes are sent and who is admitted. */
const SENSITIVE_FIELDS = ['redirect_uris', 'allow_groups', 'deny_groups'] as const

type History = Awaited<ReturnType<typeof readAudit>>
type Names = Record<string, string>

declare module '../../web/views.ts' {
  interface PageData {
    'identity/apps/own-app': {
      app: Awaited<ReturnType<typeof getApp>>
      secrets: Awaited<ReturnType<typeof liveSecrets>>
      members: Awaited<ReturnType<typeof countMembers>>
      history: History
      values: Typed
      problems: Problems
      overlap: { hours: number[]; preset: number; canAdd: boolean }
      isSaved?: boolean
      admission?: Admission
      secretProblem?: 'not_live' | 'two_live'
      isDeletionUnconfirmed?: boolean
      path: string
    }
    'identity/apps/secret': { app: { client_id: string; name: string; client_secret: string }; back: string }
  }
  interface PartData {
    'identity/apps/history': { history: History; words?: { acts: Names; fields: Names } }
  }
}

/** GET and POST /apps/:client_id and its acts, in a scope with requireUser. */
export function ownAppPages(app: FastifyInstance, deps: Core): void {
  const askFreshSignIn = requireFreshSignIn(deps, { page: pageOf })
  app.get<OneApp>('/apps/:client_id', async (request, reply) => {
    const { saved } = request.query as Record<string, unknown>
    return showApp(request, reply, deps, { isSaved: saved === '1' })
  })

  app.post<OneApp>('/apps/:client_id', async (request, reply) => {
    const owned = ownedBy(request, deps)
    const form = readAppForm(request, AppForm)
    if ('problems' in form) return showApp(request, reply, deps, { ...form, status: 400 })
    const app = await getApp(deps.db, owned)
    if (SENSITIVE_FIELDS.some((field) => !isDeepStrictEqual(app[field], form.values[field]))) {
      await askFreshSignIn(request, reply)
      if (reply.sent) return reply
    }
    await updateApp(deps.db, { ...owned, values: form.values })
    return reply.redirect(`/apps/${owned.client_id}?saved=1`, 303)
  })

  app.post<OneApp>('/apps/:client_id/preview', async (request, reply) => {
    await getApp(deps.db, ownedBy(request, deps))
    const form = readAppForm(request, AppForm)
    if ('problems' in form) return showApp(request, reply, deps, { ...form, status: 400 })
    const admission = await previewAdmission(deps.db, form.values, sessionOf(request).user, deps.clock())
    return showApp(request, reply, deps, { typed: form.typed, admission })
  })

  sensitiveRoutes(app, deps)
}

const pageOf = ({ params }: FastifyRequest) =>
  `/apps/${encodeURIComponent((params as OneApp['Params']).client_id)}`

/** Acts that require a fresh sign-in, so a stolen session cannot perform them. */
function sensitiveRoutes(app: FastifyInstance, deps: Core): void {
  const preHandler = requireFreshSignIn(deps, { page: pageOf })

  app.post<OneApp>('/apps/:client_id/delete', { preHandler }, async (request, reply) => {
    const { typed_name } = (request.body ?? {}) as Record<string, unknown>
    const owned = { ...ownedBy(request, deps), typed_name: typeof typed_name === 'string' ? typed_name : '' }
    const outcome = await deleteApp(deps.db, owned)
    if (outcome === 'not_confirmed') {
      return showApp(request, reply, deps, { status: 400, isDeletionUnconfirmed: true })
    }
    return reply.redirect('/apps', 303)
  })

  app.post<OneApp>('/apps/:client_id/secrets', { preHandler }, async (request, reply) => {
    const owned = ownedBy(request, deps)
    const form = NewSecretForm.safeParse(request.body)
    const wish = form.data ?? { client_secret: '', overlap_hours: OVERLAP_HOURS_DEFAULT }
    const { client_secret: presented, overlap_hours } = wish
    const added = await addSecret(deps.db, { ...owned, presented, overlap_hours })
    if ('problem' in added) {
      return showApp(request, reply, deps, { status: 400, secretProblem: added.problem })
    }
    const { client_id } = owned
    const { name } = await getApp(deps.db, owned)
    return reply.page('identity/apps/secret', {
      app: { client_id, name, ...added },
      back: `/apps/${client_id}`,
    })
  })

  app.post<OneSecret>('/apps/:client_id/secrets/:fingerprint/end', { preHandler }, async (request, reply) => {
    const owned = ownedBy(request, deps)
    await endSecret(deps.db, { ...owned, fingerprint: request.params.fingerprint })
    return reply.redirect(`/apps/${owned.client_id}`, 303)
  })
}

/** Makes an act of the signed-in member on an application that the member must own. */
function ownedBy(request: FastifyRequest<OneApp>, deps: Core): Owned {
  const { client_id } = request.params
  const { id } = sessionOf(request).user
  return { client_id, owner_id: id, actor_id: id, now: deps.clock(), ip: request.ip }
}

type Shown = {
  status?: number
  isSaved?: boolean
  typed?: Typed
  problems?: Problems
  admission?: Admission
  secretProblem?: 'not_live' | 'two_live'
  isDeletionUnconfirmed?: boolean
}

async function showApp(
  request: FastifyRequest<OneApp>,
  reply: FastifyReply,
  deps: Core,
  { status = 200, typed, problems = {}, ...shown }: Shown,
): Promise<FastifyReply> {
  const { db } = deps
  const app = await getApp(db, ownedBy(request, deps))
  const { client_id } = app
  const [secrets, members, history] = await Promise.all([
    liveSecrets(db, app.id, deps.clock()),
    countMembers(db, app.id),
    readAudit(db, { subject: client_id, action: 'oauth_app' }, HISTORY_LINES),
  ])
  const data = {
    ...shown,
    app,
    secrets,
    members,
    history,
    values: typed ?? typedFrom(app),
    problems,
    overlap: {
      hours: OVERLAP_HOURS,
      preset: OVERLAP_HOURS_DEFAULT,
      canAdd: secrets.length < LIVE_SECRETS_MAX,
    },
    // The page's own address, also in answers to its forms.
    path: `/apps/${client_id}`,
  }
  return reply.page('identity/apps/own-app', data, { status })
}
