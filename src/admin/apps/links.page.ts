/** /admin/links: the search of payment links, what members report of them, and how staff stops one. spec/links 1.2, 4.5 and 5.2. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireFreshSignIn } from '../../accounts/session/reauthentication.ts'
import { actorOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { stopLink } from '../../payment/links/acts.ts'
import { FOUND_MAX, type FoundLink, findLinks } from '../../payment/links/reads.ts'
import { dismissReports, type OpenReports, openReports } from '../../payment/links/reports.ts'
import { type FormView, readForm } from '../../web/forms/forms.ts'
import { ReasonForm } from '../../web/forms/reason.ts'
import { rowId, searchText } from '../../web/lists.ts'
import { siteWords } from '../../web/site-words.ts'
import { type NameInTitle, namesInTitles } from './like-titled.ts'

const PATH = '/admin/links'

declare module '../../web/views.ts' {
  interface PartData {
    'admin/apps/link-stop': { link: FoundLink; of: FormView; isStopped: boolean; path: string }
  }
  interface PageData {
    'admin/apps/links': {
      links: FoundLink[]
      reports: OpenReports
      /** Names of others in the titles. */
      names: Map<bigint, NameInTitle[]>
      q: string
      show: Show
      chips: { show: Show; count: { rows: number; isMore: boolean } }[]
    }
  }
}

/** What the rows show: all, those with reports, or those in one state. */
const SHOWS = ['all', 'reported', 'on_sale', 'sold_out', 'stopped'] as const
type Show = (typeof SHOWS)[number]
const Asked = z.object({ q: searchText, show: z.enum(SHOWS).catch('all') })
const Dismissal = z.object({ last_id: rowId })

/** Registers the pages. The caller's scope must require an administrator. */
export function linkAdminPages(app: FastifyInstance, deps: Core): void {
  app.get(PATH, async (request, reply) => showLinks(request, reply, deps))

  const options = { preHandler: requireFreshSignIn(deps), config: { page: PATH } }
  type One = { Params: { slug: string } }
  app.post<One>(`${PATH}/:slug/stop`, options, async (request, reply) => {
    const { linkReview: c } = request.locale.t.console
    const { reason } = readForm(request, ReasonForm, { reason: c.reasonWrong })
    return act(request, reply, deps, { reason, text: c.stopped })
  })

  app.post<One>(`${PATH}/:slug/allow`, options, async (request, reply) =>
    act(request, reply, deps, { reason: undefined, text: request.locale.t.console.linkReview.allowed }),
  )

  app.post<One>(`${PATH}/:slug/dismiss`, options, async (request, reply) => {
    const { slug } = request.params
    const { last_id } = readForm(request, Dismissal)
    const { actor_id: user_id, ip } = actorOf(request)
    await dismissReports(deps, { slug, last_id }, { user_id, ip })
    return reply.done(PATH, { text: request.locale.t.console.linkReview.dismissed })
  })
}

async function act(
  request: FastifyRequest<{ Params: { slug: string } }>,
  reply: FastifyReply,
  deps: Core,
  { reason, text }: { reason: string | undefined; text: string },
): Promise<FastifyReply> {
  const { slug } = request.params
  const { actor_id: user_id, ip } = actorOf(request)
  await stopLink(deps, { slug, reason }, { user_id, ip })
  return reply.done(`${PATH}?q=${slug}`, { text })
}

async function showLinks(request: FastifyRequest, reply: FastifyReply, deps: Core): Promise<FastifyReply> {
  const { q, show } = Asked.parse(request.query ?? {})
  const found = await findLinks(deps.db, q, deps.clock())
  const settings = await deps.settings.read()
  const siteNames = [siteWords(settings, 'en').site, siteWords(settings, 'zh-CN').site]
  const [reports, names] = await Promise.all([
    openReports(
      deps.db,
      found.map(({ id }) => id),
    ),
    namesInTitles(deps.db, found, siteNames),
  ])
  const only = (which: Show) =>
    found.filter(
      ({ id, shown }) => which === 'all' || (which === 'reported' ? reports.has(id) : shown === which),
    )
  const isMore = found.length === FOUND_MAX
  const chips = SHOWS.map((each) => ({ show: each, count: { rows: only(each).length, isMore } }))
  return reply.page('admin/apps/links', { links: only(show), reports, names, q, show, chips })
}
