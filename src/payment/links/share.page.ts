/** …/links/:slug/share: the address of a link, ready for forums, sites and phones. spec/links 4.4. */
import type { FastifyInstance } from 'fastify'
import { encodeQR } from 'qr'
import type { Core } from '../../core/core.ts'
import { navFor } from '../apps/area.ts'
import type { OwnedRequest } from '../rights/owned.ts'
import type { Permitted } from '../rights/rights.ts'
import { addressOf, findLink, ONE, type ShownLink } from './links.page.ts'
import { htmlOf, markdownOf } from './share.ts'

declare module '../../web/views.ts' {
  interface PageData {
    'payment/links/share': {
      owned: Permitted
      nav: AreaNav
      link: ShownLink
      address: string
      markdown: string
      html: string
      /** An SVG. */
      qr: string
    }
  }
}

/** The white border without which scanners may not find the code. */
const QUIET_ZONE_MODULES = 4

/** Registers the page within a browser scope of signed-in members. */
export function sharePage(app: FastifyInstance, deps: Core): void {
  app.get(`${ONE}/share`, async (request: OwnedRequest, reply) => {
    const { owned, link } = await findLink(request, deps, 'orders.read')
    const { locale } = request
    const { url } = link
    return reply.page('payment/links/share', {
      ...{ owned, link, address: addressOf(request, link.slug) },
      nav: await navFor(deps, request, owned),
      markdown: markdownOf(link, url, locale),
      html: htmlOf(link, url, locale),
      qr: encodeQR(url, 'svg', { border: QUIET_ZONE_MODULES }),
    })
  })
}
