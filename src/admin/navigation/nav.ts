/** The navigation of the administration, with the length of each queue. */
import type { FastifyInstance } from 'fastify'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { VERSION } from '../../platform/version.ts'
import type { Messages } from '../../web/languages.ts'
import type { AreaLink, AreaNav } from '../../web/views.ts'
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
        hasApprovals: settings.latest().second_approver === 'on',
        hasSearch: request.routeOptions.url !== FIND,
        hasOwnSearch: OWN_SEARCH.includes(request.routeOptions.url ?? ''),
      }),
    }
  })
}

const FIND = '/admin/find'
/** Pages with a search of their own, which is the only one on a phone. */
const OWN_SEARCH = [
  '/admin/members',
  '/admin/links',
  '/admin/adjustments',
  '/admin/apps',
  '/admin/mandates',
  '/admin/settings',
  '/admin/settings/find',
]

type State = {
  queues: Queues
  hasMandates: boolean
  isSetUp: boolean
  /** Whether acts wait for a second administrator. */
  hasApprovals: boolean
  /** False on the page of results, which has the field under its title. */
  hasSearch: boolean
  hasOwnSearch: boolean
}

/** Returns the links of the administration, and the search that every page of it has. */
export function adminNav(t: Messages, state: State): AreaNav {
  const c = t.console
  const groups = groupsOf(t, state)
  return {
    ...(state.hasSearch && {
      search: {
        ...{ action: FIND, label: c.find.label, hint: c.find.hint, query: '' },
        isBeside: state.hasOwnSearch,
      },
    }),
    label: c.navigation.title,
    note: c.navigation.version(VERSION),
    back: { href: '/account', label: c.navigation.back },
    groups,
    bar: barOf(
      groups.flatMap(({ links }) => links),
      state,
    ),
  }
}

/**
 * Returns the links in the bar of a phone. A new site has settings to make and no queues. Queues that have no place in the bar
 * mark the overview, which lists them.
 */
function barOf(links: AreaLink[], { isSetUp, hasApprovals }: State): AreaLink[] {
  const hrefs = isSetUp
    ? [
        '/admin',
        '/admin/reviews',
        '/admin/refund-requests',
        hasApprovals ? '/admin/proposals' : '/admin/members',
      ]
    : ['/admin', '/admin/overview', '/admin/members', '/admin/settings']
  const bar = hrefs.flatMap((href) => links.filter((link) => link.href === href))
  const waiting = links.reduce((sum, { href, count = 0 }) => sum + (hrefs.includes(href) ? 0 : count), 0)
  const overview = isSetUp ? '/admin' : '/admin/overview'
  return bar.map((link) => (link.href === overview ? { ...link, count: waiting } : link))
}

function groupsOf(t: Messages, { queues, hasMandates, isSetUp }: State): AreaNav['groups'] {
  const { navigation, abuse } = t.console
  return [
    { links: dailyLinks(t, { queues, isSetUp }) },
    {
      title: navigation.groups.points,
      links: [
        { href: '/admin/books', label: t.books.title, icon: 'scale' },
        { href: '/admin/adjustments', label: t.adjustments.nav, icon: 'swap' },
        { href: '/admin/abuse', label: abuse.title, icon: 'alert' },
        ...(hasMandates ? [mandatesLink(t, queues)] : []),
      ],
    },
    { title: navigation.groups.site, links: siteLinks(t, queues) },
  ]
}

function dailyLinks(t: Messages, { queues, isSetUp }: Pick<State, 'queues' | 'isSetUp'>): AreaLink[] {
  const { navigation, proposals } = t.console
  const { title } = t.dashboard
  const firstSteps: AreaLink = { href: '/admin', label: t.firstSteps.nav, icon: 'flag', isAlone: true }
  return [
    ...(isSetUp ? [] : [firstSteps]),
    { href: isSetUp ? '/admin' : '/admin/overview', label: title, icon: 'home', isAlone: true },
    {
      href: '/admin/reviews',
      label: navigation.reviews,
      icon: 'shop',
      count: queues.reviews,
      covers: ['/admin/reviews', '/admin/payment-applications'],
    },
    {
      href: '/admin/refund-requests',
      label: t.refundRequests.title,
      short: navigation.refunds,
      icon: 'refund',
      count: queues.refundRequests,
    },
    { href: '/admin/proposals', label: proposals.title, icon: 'check', count: queues.proposals },
  ]
}

function mandatesLink(t: Messages, { mandateRights }: Queues): AreaLink {
  const { title } = t.console.mandateReview
  return { href: '/admin/mandates', label: title, icon: 'refresh', count: mandateRights }
}

function siteLinks(t: Messages, { linkReports }: Queues): AreaLink[] {
  const { navigation, linkReview, forum } = t.console
  return [
    {
      href: '/admin/members',
      label: t.members.title,
      icon: 'users',
      covers: ['/admin/members', '/admin/wallets'],
    },
    { href: '/admin/groups', label: t.localGroups.title, icon: 'users' },
    { href: '/admin/links', label: linkReview.title, icon: 'link', count: linkReports },
    { href: '/admin/apps', label: t.registeredApps.title, icon: 'apps' },
    { href: '/admin/forum', label: forum.title, icon: 'globe' },
    { href: '/admin/notifications', label: t.merchantTabs.notifications, icon: 'bell' },
    { href: '/admin/settings', label: t.settings.title, short: navigation.settings, icon: 'sliders' },
    { href: '/admin/audit', label: t.audit.title, icon: 'book' },
  ]
}
