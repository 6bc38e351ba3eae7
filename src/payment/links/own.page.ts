/** GET /payment/links: the links that a member can share. The forum's composer leads here. spec/links 4.4. */
import type { FastifyInstance } from 'fastify'
import { sessionOf } from '../../accounts/session/session.ts'
import type { Core } from '../../core/core.ts'
import { appsToSellWith, linksToShare, type SharedLink } from './reads.ts'
import { linkUrl } from './share.ts'

const PAGE = '/payment/links'

declare module '../../web/views.ts' {
  interface PageData {
    'payment/links/own': {
      links: (SharedLink & { url: string })[]
      apps: Awaited<ReturnType<typeof appsToSellWith>>
      /** Whether the site lets links sell. */
      isOn: boolean
    }
  }
}

/** Registers the page within a browser scope of signed-in members. */
export function ownLinksPage(app: FastifyInstance, deps: Core): void {
  app.get(PAGE, async (request, reply) => {
    const { user } = sessionOf(request)
    const [links, apps, settings] = await Promise.all([
      linksToShare(deps.db, user.id, deps.clock()),
      appsToSellWith(deps.db, user.id),
      deps.settings.read(),
    ])
    return reply.page('payment/links/own', {
      links: links.map((link) => ({ ...link, url: linkUrl(deps, link.slug) })),
      apps,
      isOn: settings.links === 'on',
    })
  })
}
