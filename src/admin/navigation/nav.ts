/** The navigation of the administration, with the length of each queue. */
import type { FastifyInstance } from 'fastify'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { VERSION } from '../../platform/version.ts'
import type { Messages } from '../../web/languages.ts'
import type { AreaNav } from '../../web/views.ts'
import { type Queues, readQueues } from './queues.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** On the pages of administrators. */
    queues: Queues
  }
  interface FastifyReply {
    /** The data that @fastify/view adds to that of every page. */
    locals: object | null
  }
}

/** Shows the navigation on every page of the scope. The scope must require an administrator. */
export function showAdminNav(app: FastifyInstance, { db, clock, settings }: Core): void {
  app.addHook('preHandler', async (request, reply) => {
    request.queues = await readQueues(db, { admin_id: sessionOf(request).user.id, now: clock() })
    reply.locals = {
      ...reply.locals,
      nav: adminNav(request.locale.t, {
        queues: request.queues,
        hasMandates: settings.latest().mandates === 'on',
        isSetUp: settings.latest().set_up_finished === 'on',
        hasSearch: request.routeOptions.url !== FIND,
      }),
    }
  })
}

const FIND = '/admin/find'

type State = {
  queues: Queues
  hasMandates: boolean
  isSetUp: boolean
  /** False on the page of results, which has the field under its title. */
  hasSearch: boolean
}

/** Returns the links of the administration, and the search that every page of it has. */
export function adminNav(t: Messages, { queues, hasMandates, isSetUp, hasSearch }: State): AreaNav {
  const { reviews, refundRequests, proposals, mandateRights, linkReports } = queues
  const c = t.console
  return {
    ...(hasSearch && { search: { action: FIND, label: c.find.label, hint: c.find.hint, query: '' } }),
    label: c.navigation.title,
    note: c.navigation.version(VERSION),
    back: { href: '/account', label: c.navigation.back },
    groups: [
      {
        links: [
          ...(isSetUp
            ? []
            : [{ href: '/admin', label: t.firstSteps.nav, icon: 'flag' as const, isAlone: true }]),
          {
            href: isSetUp ? '/admin' : '/admin/overview',
            label: t.dashboard.title,
            icon: 'home',
            isAlone: true,
          },
          { href: '/admin/reviews', label: c.navigation.reviews, icon: 'shop', count: reviews },
          {
            href: '/admin/refund-requests',
            label: t.refundRequests.title,
            short: c.navigation.refunds,
            icon: 'refund',
            count: refundRequests,
          },
          { href: '/admin/proposals', label: c.proposals.title, icon: 'check', count: proposals },
        ],
      },
      {
        title: c.navigation.groups.points,
        links: [
          { href: '/admin/books', label: t.books.title, icon: 'scale' },
          { href: '/admin/adjustments', label: t.adjustments.title, icon: 'swap' },
          { href: '/admin/abuse', label: c.abuse.title, icon: 'alert' },
          ...(hasMandates
            ? [
                {
                  href: '/admin/mandates',
                  label: c.mandateReview.title,
                  icon: 'refresh' as const,
                  count: mandateRights,
                },
              ]
            : []),
        ],
      },
      {
        title: c.navigation.groups.site,
        links: [
          { href: '/admin/members', label: t.members.title, icon: 'users' },
          { href: '/admin/groups', label: t.localGroups.title, icon: 'users' },
          { href: '/admin/links', label: c.linkReview.title, icon: 'link', count: linkReports },
          { href: '/admin/apps', label: t.registeredApps.title, icon: 'apps' },
          { href: '/admin/forum', label: c.forum.title, icon: 'globe' },
          { href: '/admin/notifications', label: t.merchantTabs.notifications, icon: 'bell' },
          { href: '/admin/settings', label: t.settings.title, icon: 'sliders' },
          { href: '/admin/audit', label: t.audit.title, icon: 'book' },
        ],
      },
    ],
  }
}
