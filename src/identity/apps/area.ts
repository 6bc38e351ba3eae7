/** What the pages of one application share: its owner, the navigation between them, and the report of a change. */
import type { FastifyRequest } from 'fastify'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import type { Locale } from '../../web/languages.ts'
import type { Report } from '../../web/report.ts'
import type { AreaNav } from '../../web/views.ts'
import type { AppChange, getApp } from './acts.ts'
import type { Owned } from './lock.ts'

export type OneApp = { Params: { client_id: string } }
export type App = Awaited<ReturnType<typeof getApp>>

/** The overview of an application. The other pages are below it. */
export const APP_PAGE = '/apps/:client_id'

/** Returns the address of an application's overview. */
export const pageOf = (request: FastifyRequest): string =>
  `/apps/${encodeURIComponent((request.params as OneApp['Params']).client_id)}`

/** Makes an act of the signed-in member on an application that the member must own. */
export function ownedBy(request: FastifyRequest<OneApp>, deps: Pick<Core, 'clock'>): Owned {
  const { client_id } = request.params
  const { id } = sessionOf(request).user
  return { client_id, owner_id: id, actor_id: id, now: deps.clock(), ip: request.ip }
}

/** Makes the navigation for every page of the application. */
export function navOf(
  { locale }: FastifyRequest,
  app: Pick<App, 'client_id' | 'name' | 'logo_url' | 'suspended_at' | 'reviewed_at'>,
): AreaNav {
  const { registry: r, common } = locale.t
  const base = `/apps/${app.client_id}`
  const status = app.suspended_at ? r.suspended : app.reviewed_at ? common.reviewed : common.unreviewed
  return {
    label: r.label(app.name),
    back: { href: '/apps', label: r.backToList },
    app: { name: app.name, logo_url: app.logo_url, note: status, href: '/apps' },
    groups: [
      {
        links: [
          { href: base, label: r.overview, icon: 'chart', isAlone: true },
          { href: `${base}/test`, label: r.trial.title, short: r.trial.short, icon: 'shield' },
          { href: `${base}/access`, label: r.access, short: r.accessShort, icon: 'users' },
          { href: `${base}/secrets`, label: r.secrets, short: r.secretsTab, icon: 'key' },
          { href: `${base}/history`, label: r.history, icon: 'clock' },
          { href: `${base}/settings`, label: r.details, icon: 'sliders' },
        ],
      },
    ],
  }
}

/** Names the changed fields. */
export function reportOf({ changed, losesMark }: AppChange, { t }: Locale): Report {
  const { registry: r } = t
  if (changed.length === 0) return { text: r.nothingChanged }
  const names = changed.map((field) => r.fields[field] ?? field).join(t.common.comma)
  return losesMark ? { text: r.savedWithoutMark(names), tone: 'warn' } : { text: r.savedFields(names) }
}
