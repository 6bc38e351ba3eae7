/** /apps/:client_id/settings: the facts of an application, its logo, its link with a payment application, and its deletion. */
import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { storeAppLogo } from '../../shops/app-logos.ts'
import { linkForms, type Shop, shopOf, unlessSuspended } from '../../shops/links.page.ts'
import { FormRefused } from '../../web/forms/forms.ts'
import { acceptLogo } from '../../web/logo-form.ts'
import { countMembers, deleteApp, getApp, updateApp } from './acts.ts'
import { appFormOf, LogoForm, onThisSite } from './apps.ts'
import { APP_PAGE, type App, navOf, type OneApp, ownedBy, pageOf, reportOf } from './area.ts'
import { readAppForm, type Typed, typedFrom, unlessTaken } from './form.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'identity/apps/own-settings': {
      app: App
      nav: AreaNav
      values: Typed
      members: Awaited<ReturnType<typeof countMembers>>
      shop: Shop
    }
  }
}

/** Fields that decide where codes, tokens and logout tokens are sent. */
const SENSITIVE_FIELDS = ['redirect_uris', 'grant_types', 'resource_uri', 'backchannel_logout_uri'] as const

const PAGE = `${APP_PAGE}/settings`

/** GET …/settings, and its forms. */
export async function settingsPages(app: FastifyInstance, deps: Core): Promise<void> {
  const config = { page: PAGE }
  const askFreshSignIn = requireFreshSignIn(deps)
  app.get<OneApp>(PAGE, async (request, reply) => showSettings(request, reply, deps))

  app.post<OneApp>(PAGE, async (request, reply) => {
    const owned = ownedBy(request, deps)
    const stored = await getApp(deps.db, owned)
    const { values } = readAppForm(request, onThisSite(appFormOf(stored), deps.config))
    if (SENSITIVE_FIELDS.some((field) => !isDeepStrictEqual(stored[field], values[field]))) {
      await askFreshSignIn(request, reply)
      if (reply.sent) return reply
    }
    const act = unlessSuspended(request, updateApp(deps.db, { ...owned, values }))
    const change = await unlessTaken(request, act)
    return reply.done(`${pageOf(request)}/settings`, reportOf(change, request.locale))
  })

  await app.register(async (scope) => {
    acceptLogo(scope)
    const options = { config: { ...config, admission: 'slow' } } as const
    scope.post<OneApp>(`${APP_PAGE}/logo`, options, async (request, reply) => {
      const owned = ownedBy(request, deps)
      await getApp(deps.db, owned)
      const values = { logo_url: await storeAppLogo(request, deps) }
      const change = await unlessSuspended(request, updateApp(deps.db, { ...owned, values }))
      return reply.done(`${pageOf(request)}/settings`, reportOf(change, request.locale))
    })
  })

  app.post<OneApp>(`${APP_PAGE}/logo/address`, { config }, async (request, reply) => {
    const { values } = readAppForm(request, onThisSite(LogoForm, deps.config))
    const change = await unlessSuspended(request, updateApp(deps.db, { ...ownedBy(request, deps), values }))
    return reply.done(`${pageOf(request)}/settings`, reportOf(change, request.locale))
  })

  linkForms<FastifyRequest<OneApp>>(app, deps, {
    kind: 'sign_in',
    path: APP_PAGE,
    idOf: ({ params }) => params.client_id,
    backTo: (request) => `${pageOf(request)}/settings`,
    permit: (request) => getApp(deps.db, ownedBy(request, deps)),
  })

  app.post<OneApp>(`${APP_PAGE}/delete`, { preHandler: askFreshSignIn, config }, async (request, reply) => {
    const { typed_name } = (request.body ?? {}) as Record<string, unknown>
    const owned = { ...ownedBy(request, deps), typed_name: typeof typed_name === 'string' ? typed_name : '' }
    const outcome = await deleteApp(deps.db, owned)
    const { t, points } = request.locale
    if (outcome === 'not_confirmed') throw new FormRefused({ typed_name: t.registry.removeUnconfirmed })
    return reply.done('/apps', {
      text: t.registry.removed(outcome.name, points(outcome.members), outcome.members),
    })
  })
}

async function showSettings(
  request: FastifyRequest<OneApp>,
  reply: FastifyReply,
  deps: Core,
): Promise<FastifyReply> {
  const { db } = deps
  const app = await getApp(db, ownedBy(request, deps))
  const [members, shop] = await Promise.all([
    countMembers(db, app.id),
    shopOf(db, { kind: 'sign_in', app, owner_id: sessionOf(request).user.id }),
  ])
  return reply.page('identity/apps/own-settings', {
    app,
    nav: navOf(request, app),
    values: typedFrom(app),
    members,
    shop,
  })
}
