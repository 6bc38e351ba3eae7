/**
 * /apps/:client_id: the owner edits one application, its group rules and its secrets, reads its history, and deletes it. Other
 * members get not_found.
 */
import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { sessionOf } from '../../accounts/session/session.ts'
import { readAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import { storeAppLogo } from '../../shops/app-logos.ts'
import { linkForms, type Shop, shopOf, unlessSuspended } from '../../shops/links.page.ts'
import { type BarChart, barChart } from '../../web/bar-chart.ts'
import { FormRefused } from '../../web/forms/forms.ts'
import type { Locale } from '../../web/languages.ts'
import { acceptLogo } from '../../web/logo-form.ts'
import type { Report } from '../../web/report.ts'
import { lastDeliveries } from '../logout/deliveries.ts'
import { type AppChange, confirmApp, countMembers, deleteApp, getApp, updateApp } from './acts.ts'
import { discoveryUrl } from './addresses.ts'
import { type Admission, previewAdmission } from './admission.ts'
import { appFormOf, onThisSite } from './apps.ts'
import { readAppForm, type Typed, typedFrom, unlessTaken } from './form.ts'
import type { Owned } from './lock.ts'
import { secretRoutes } from './secrets.page.ts'
import { LIVE_SECRETS_MAX, liveSecrets, OVERLAP_HOURS, OVERLAP_HOURS_DEFAULT } from './secrets.ts'
import { type SignIns, signInsOf } from './sign-ins.ts'

const HISTORY_LINES = 20

export type OneApp = { Params: { client_id: string } }

/** Fields that decide where codes, tokens and logout tokens are sent, and who is admitted. */
const SENSITIVE_FIELDS = [
  'redirect_uris',
  'allow_groups',
  'deny_groups',
  'grant_types',
  'resource_uri',
  'backchannel_logout_uri',
] as const

type History = Awaited<ReturnType<typeof readAudit>>
type Names = Record<string, string>

declare module '../../web/views.ts' {
  interface PageData {
    'identity/apps/own-app': {
      app: Awaited<ReturnType<typeof getApp>>
      secrets: Awaited<ReturnType<typeof liveSecrets>>
      members: Awaited<ReturnType<typeof countMembers>>
      history: History
      deliveries: Awaited<ReturnType<typeof lastDeliveries>>
      shop: Shop
      values: Typed
      overlap: { hours: number[]; preset: number; canAdd: boolean }
      discoveryUrl: string
      signIns: SignIns
      chart: BarChart
      /** The address of its consent page, which asks even a member who has allowed it. */
      consentUrl: string
      admission?: Admission
      path: string
    }
  }
  interface PartData {
    'identity/apps/unconfirmed': {
      app: Pick<Awaited<ReturnType<typeof getApp>>, 'client_id' | 'name' | 'created_at' | 'registered_by'>
    }
    'identity/apps/sign-ins': {
      app: Awaited<ReturnType<typeof getApp>>
      secrets: Awaited<ReturnType<typeof liveSecrets>>
      signIns: SignIns
      chart: BarChart
      consentUrl: string
    }
    'identity/apps/logout-deliveries': { deliveries: Awaited<ReturnType<typeof lastDeliveries>> }
    'identity/apps/history': { history: History; words?: { acts: Names; fields: Names } }
  }
}

/** GET and POST /apps/:client_id and its acts, in a scope with requireUser. */
export async function ownAppPages(app: FastifyInstance, deps: Core): Promise<void> {
  const askFreshSignIn = requireFreshSignIn(deps)
  app.get<OneApp>('/apps/:client_id', async (request, reply) => showApp(request, reply, deps))

  app.post<OneApp>('/apps/:client_id', async (request, reply) => {
    const owned = ownedBy(request, deps)
    const app = await getApp(deps.db, owned)
    const { values } = readAppForm(request, onThisSite(appFormOf(app), deps.config))
    if (SENSITIVE_FIELDS.some((field) => !isDeepStrictEqual(app[field], values[field]))) {
      await askFreshSignIn(request, reply)
      if (reply.sent) return reply
    }
    const act = unlessSuspended(request, updateApp(deps.db, { ...owned, values }))
    const change = await unlessTaken(request, act)
    return reply.done(`/apps/${owned.client_id}`, reportOf(change, request.locale))
  })

  app.post<OneApp>('/apps/:client_id/preview', async (request, reply) => {
    const app = await getApp(deps.db, ownedBy(request, deps))
    const { typed, values } = readAppForm(request, onThisSite(appFormOf(app), deps.config))
    const admission = await previewAdmission(deps.db, values, sessionOf(request).user, deps.clock())
    return showApp(request, reply, deps, { typed, admission })
  })

  await app.register(async (scope) => {
    acceptLogo(scope)
    const config = { admission: 'slow' } as const
    scope.post<OneApp>('/apps/:client_id/logo', { config }, async (request, reply) => {
      const owned = ownedBy(request, deps)
      await getApp(deps.db, owned)
      const values = { logo_url: await storeAppLogo(request, deps) }
      const change = await unlessSuspended(request, updateApp(deps.db, { ...owned, values }))
      return reply.done(pageOf(request), reportOf(change, request.locale))
    })
  })

  linkForms<FastifyRequest<OneApp>>(app, deps, {
    kind: 'sign_in',
    path: PAGE,
    idOf: ({ params }) => params.client_id,
    backTo: pageOf,
    permit: (request) => getApp(deps.db, ownedBy(request, deps)),
  })
  sensitiveRoutes(app, deps)
}

const PAGE = '/apps/:client_id'
const pageOf = ({ params }: FastifyRequest) =>
  `/apps/${encodeURIComponent((params as OneApp['Params']).client_id)}`

/** Acts that require a fresh sign-in, so a stolen session cannot perform them. */
function sensitiveRoutes(app: FastifyInstance, deps: Core): void {
  const preHandler = requireFreshSignIn(deps)

  app.post<OneApp>('/apps/:client_id/confirm', { preHandler }, async (request, reply) => {
    const { name } = await confirmApp(deps.db, ownedBy(request, deps))
    return reply.done(pageOf(request), { text: request.locale.t.registry.confirmed(name) })
  })

  app.post<OneApp>('/apps/:client_id/delete', { preHandler }, async (request, reply) => {
    const { typed_name } = (request.body ?? {}) as Record<string, unknown>
    const owned = { ...ownedBy(request, deps), typed_name: typeof typed_name === 'string' ? typed_name : '' }
    const outcome = await deleteApp(deps.db, owned)
    const { t, points } = request.locale
    if (outcome === 'not_confirmed') throw new FormRefused({ typed_name: t.registry.removeUnconfirmed })
    return reply.done('/apps', {
      text: t.registry.removed(outcome.name, points(outcome.members), outcome.members),
    })
  })

  secretRoutes(app, deps, { preHandler, ownedBy: (request) => ownedBy(request, deps) })
}

/** Names the changed fields. */
function reportOf({ changed, losesMark }: AppChange, { t }: Locale): Report {
  const { registry: r } = t
  if (changed.length === 0) return { text: r.nothingChanged }
  const names = changed.map((field) => r.fields[field] ?? field).join(t.common.comma)
  return losesMark ? { text: r.savedWithoutMark(names), tone: 'warn' } : { text: r.savedFields(names) }
}

/** Makes an act of the signed-in member on an application that the member must own. */
function ownedBy(request: FastifyRequest<OneApp>, deps: Core): Owned {
  const { client_id } = request.params
  const { id } = sessionOf(request).user
  return { client_id, owner_id: id, actor_id: id, now: deps.clock(), ip: request.ip }
}

async function showApp(
  request: FastifyRequest<OneApp>,
  reply: FastifyReply,
  deps: Core,
  { typed, admission }: { typed?: Typed; admission?: Admission } = {},
): Promise<FastifyReply> {
  const { db } = deps
  const app = await getApp(db, ownedBy(request, deps))
  const { client_id } = app
  const { time_zone: zone } = await deps.settings.read()
  const [secrets, members, history, deliveries, shop, signIns] = await Promise.all([
    liveSecrets(db, app.id, deps.clock()),
    countMembers(db, app.id),
    readAudit(db, { subject: client_id, action: 'oauth_app' }, HISTORY_LINES),
    lastDeliveries(db, app.id),
    shopOf(db, { kind: 'sign_in', app, owner_id: sessionOf(request).user.id }),
    signInsOf(db, app.id, { zone, now: deps.clock() }),
  ])
  const data = {
    ...(admission && { admission }),
    app,
    secrets,
    members,
    history,
    deliveries,
    shop,
    values: typed ?? typedFrom(app),
    overlap: {
      hours: OVERLAP_HOURS,
      preset: OVERLAP_HOURS_DEFAULT,
      canAdd: secrets.length < LIVE_SECRETS_MAX,
    },
    discoveryUrl: discoveryUrl(deps.config),
    signIns,
    chart: barChart(signIns.days.map(({ count }) => ({ whole: count, part: count }))),
    consentUrl: consentUrlOf(app),
    // The page's own address, also in answers to its forms.
    path: `/apps/${client_id}`,
  }
  return reply.page('identity/apps/own-app', data)
}

/** A challenge whose verifier nobody has, so a code of this request is worth nothing. */
const UNREDEEMABLE = 'x'.repeat(43)

/** Returns the address at which the owner sees what members are asked. */
function consentUrlOf({ client_id, redirect_uris }: { client_id: string; redirect_uris: string[] }): string {
  const query = new URLSearchParams({
    client_id,
    redirect_uri: redirect_uris[0] ?? '',
    response_type: 'code',
    scope: 'openid profile',
    prompt: 'consent',
    state: 'preview',
    code_challenge: UNREDEEMABLE,
    code_challenge_method: 'S256',
  })
  return `/oauth2/auth?${query}`
}
