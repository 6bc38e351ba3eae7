/**
 * /apps/:client_id: the overview of one application, its history, and who may sign in. The owner has these pages, and other
 * members get not_found.
 */
import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { sessionOf } from '../../accounts/session/session.ts'
import { readAudit } from '../../core/audit.ts'
import type { Core } from '../../core/core.ts'
import { type Shop, shopOf } from '../../shops/links.page.ts'
import { type BarChart, barChart } from '../../web/bar-chart.ts'
import type { FormView } from '../../web/forms/forms.ts'
import { lastDeliveries } from '../logout/deliveries.ts'
import type { GroupRules } from './access.ts'
import { confirmApp, countMembers, getApp, updateApp } from './acts.ts'
import { discoveryUrl } from './addresses.ts'
import { type Admission, offeredGroups, previewAdmission } from './admission.ts'
import { GroupsForm } from './apps.ts'
import { APP_PAGE, type App, navOf, type OneApp, ownedBy, pageOf, reportOf } from './area.ts'
import { readAppForm, type Typed, tickedIn, typedFrom } from './form.ts'
import { secretPages } from './secrets.page.ts'
import { liveSecrets } from './secrets.ts'
import { settingsPages } from './settings.page.ts'
import { type SignIns, signInsOf } from './sign-ins.ts'
import { type Starter, startersFor } from './starters.ts'

const HISTORY_LINES = 20

type History = Awaited<ReturnType<typeof readAudit>>
type Names = Record<string, string>
type Secrets = Awaited<ReturnType<typeof liveSecrets>>

declare module '../../web/views.ts' {
  interface PageData {
    'identity/apps/own-app': {
      app: App
      nav: AreaNav
      secrets: Secrets
      members: Awaited<ReturnType<typeof countMembers>>
      shop: Shop
      discoveryUrl: string
      signIns: SignIns
      chart: BarChart
      starters: Starter[]
    }
    'identity/apps/own-access': {
      app: App
      nav: AreaNav
      values: Typed
      /** Groups that the owner may tick. */
      known: string[]
      admission?: Admission
      path: string
    }
    'identity/apps/own-history': {
      app: App
      nav: AreaNav
      history: History
      deliveries: Awaited<ReturnType<typeof lastDeliveries>>
    }
  }
  interface PartData {
    'identity/apps/groups': {
      of: FormView
      name: 'allow_groups' | 'deny_groups'
      label: string
      effect: string
      rule: string[]
      known: string[]
    }
    'identity/apps/unconfirmed': {
      app: Pick<App, 'client_id' | 'name' | 'created_at' | 'registered_by'>
    }
    /** `hasTried`: a member has allowed the application, first its owner in a trial. */
    'identity/apps/sign-ins': {
      app: App
      secrets: Secrets
      signIns: SignIns
      chart: BarChart
      hasTried: boolean
    }
    /** `secret`: whether the variables contain the secret. With the client_id it leads to the guide. */
    'identity/apps/starters': {
      starters: Starter[]
      hasSecret: boolean
      secret?: boolean
      client_id?: string
    }
    'identity/apps/logout-deliveries': { deliveries: Awaited<ReturnType<typeof lastDeliveries>> }
    'identity/apps/history': { history: History; words?: { acts: Names; fields: Names } }
  }
}

/** GET /apps/:client_id and the pages below it, with their forms, in a scope with requireUser. */
export async function ownAppPages(app: FastifyInstance, deps: Core): Promise<void> {
  const preHandler = requireFreshSignIn(deps)
  app.get<OneApp>(APP_PAGE, async (request, reply) => showOverview(request, reply, deps))

  app.post<OneApp>(`${APP_PAGE}/confirm`, { preHandler }, async (request, reply) => {
    const { name } = await confirmApp(deps.db, ownedBy(request, deps))
    return reply.done(pageOf(request), { text: request.locale.t.registry.confirmed(name) })
  })

  app.get<OneApp>(`${APP_PAGE}/history`, async (request, reply) => showHistory(request, reply, deps))
  accessPages(app, deps)
  secretPages(app, deps)
  await settingsPages(app, deps)
}

/** …/access: the group rules, and whom they would admit. */
function accessPages(app: FastifyInstance, deps: Core): void {
  const page = `${APP_PAGE}/access`
  const askFreshSignIn = requireFreshSignIn(deps)
  app.get<OneApp>(page, async (request, reply) => showAccess(request, reply, deps))

  app.post<OneApp>(page, async (request, reply) => {
    const owned = ownedBy(request, deps)
    const stored = await getApp(deps.db, owned)
    const read = readAppForm(request, GroupsForm).values
    const values = {
      allow_groups: keepOrder(stored.allow_groups, read.allow_groups),
      deny_groups: keepOrder(stored.deny_groups, read.deny_groups),
    }
    if (!isDeepStrictEqual(values, pickRules(stored))) {
      await askFreshSignIn(request, reply)
      if (reply.sent) return reply
    }
    const change = await updateApp(deps.db, { ...owned, values })
    return reply.done(`${pageOf(request)}/access`, reportOf(change, request.locale))
  })

  app.post<OneApp>(`${page}/preview`, async (request, reply) => {
    await getApp(deps.db, ownedBy(request, deps))
    const { typed, values } = readAppForm(request, GroupsForm)
    const admission = await previewAdmission(deps.db, values, sessionOf(request).user, deps.clock())
    return showAccess(request, reply, deps, { typed, admission })
  })
}

const pickRules = ({ allow_groups, deny_groups }: GroupRules): GroupRules => ({ allow_groups, deny_groups })

/** Returns the stored names if these are the same, because a form sends those that are ticked first. */
function keepOrder(stored: string[], sent: string[]): string[] {
  const inOrder = (names: string[]) => names.map((name) => name.toLowerCase()).sort()
  return isDeepStrictEqual(inOrder(stored), inOrder(sent)) ? stored : sent
}

async function showOverview(
  request: FastifyRequest<OneApp>,
  reply: FastifyReply,
  deps: Core,
): Promise<FastifyReply> {
  const { db, clock } = deps
  const app = await getApp(db, ownedBy(request, deps))
  const { time_zone: zone } = await deps.settings.read()
  const [secrets, members, shop, signIns] = await Promise.all([
    liveSecrets(db, app.id, clock()),
    countMembers(db, app.id),
    shopOf(db, { kind: 'sign_in', app, owner_id: sessionOf(request).user.id }),
    signInsOf(db, app.id, { zone, now: clock() }),
  ])
  return reply.page('identity/apps/own-app', {
    app,
    nav: navOf(request, app),
    secrets,
    members,
    shop,
    discoveryUrl: discoveryUrl(deps.config),
    signIns,
    chart: barChart(signIns.days.map(({ count }) => ({ whole: count, part: count }))),
    starters: startersFor(app, deps.config),
  })
}

async function showAccess(
  request: FastifyRequest<OneApp>,
  reply: FastifyReply,
  deps: Core,
  { typed, admission }: { typed?: Typed; admission?: Admission } = {},
): Promise<FastifyReply> {
  const app = await getApp(deps.db, ownedBy(request, deps))
  const known = await offeredGroups(deps, sessionOf(request).user)
  return reply.page('identity/apps/own-access', {
    app,
    nav: navOf(request, app),
    values: typed ?? typedFrom(request.refused ? { ...app, ...tickedIn(request.body) } : app),
    known,
    ...(admission && { admission }),
    // The page's own address, also in answers to its forms.
    path: `/apps/${app.client_id}/access`,
  })
}

async function showHistory(
  request: FastifyRequest<OneApp>,
  reply: FastifyReply,
  deps: Core,
): Promise<FastifyReply> {
  const { db } = deps
  const app = await getApp(db, ownedBy(request, deps))
  const [history, deliveries] = await Promise.all([
    readAudit(db, { subject: app.client_id, action: 'oauth_app' }, HISTORY_LINES),
    lastDeliveries(db, app.id),
  ])
  return reply.page('identity/apps/own-history', { app, nav: navOf(request, app), history, deliveries })
}
